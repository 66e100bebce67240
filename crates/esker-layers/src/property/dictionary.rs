//! Edge properties that are texts: codes in a column, and a dictionary from code to text.

use std::collections::HashSet;
use std::sync::Arc;

use esker_format::io::Files;
use esker_format::{Column, ColumnKind, ColumnSpec, DictionaryRecord, Error, Origin, Result};

use crate::layer::DictionaryFiles;

/// Distinct texts, each with a code: those of the first layer in ascending order of their bytes, then what
/// later layers added, in order of appearance. Mapped, verified at first use.
#[derive(Debug, Default)]
pub struct Dictionary(Vec<Arc<DictionarySegment>>);

/// The texts that one layer adds to a dictionary.
#[derive(Debug)]
pub struct DictionarySegment {
    /// Code of the first text.
    first: usize,
    texts: Column<u8>,
    ends: Column<u64>,
}

impl Dictionary {
    /// The parts of all layers, oldest first.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if they do not follow one another.
    pub fn new(parts: Vec<Arc<DictionarySegment>>) -> Result<Self> {
        let mut next = 0;
        for part in &parts {
            if part.first != next {
                return Err(part.ends.corrupt(0, format!("its first code is {}, not {next}", part.first)));
            }
            next += part.len();
        }
        Ok(Self(parts))
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.0.last().map_or(0, |segment| segment.first + segment.ends.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text of a code.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if there is no such code, or the files are damaged.
    pub fn text(&self, code: usize) -> Result<&[u8]> {
        let at = self.0.partition_point(|segment| segment.first <= code);
        match at.checked_sub(1) {
            Some(at) => self.0[at].text(code - self.0[at].first),
            None => Err(Error::invalid("there is no dictionary".to_owned())),
        }
    }

    /// Verifies all files: checksums, and that the texts of each layer are distinct.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn verify(&self) -> Result<()> {
        self.0.iter().try_for_each(|segment| segment.verify())
    }
}

impl DictionarySegment {
    /// Maps the two files of what a layer adds.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if they are not what is expected.
    pub fn open(
        files: &dyn Files,
        paths: &DictionaryFiles,
        record: &DictionaryRecord,
        origin: Origin,
    ) -> Result<Self> {
        let texts = ColumnSpec { origin, kind: ColumnKind::DictionaryTexts };
        let ends = ColumnSpec { origin, kind: ColumnKind::DictionaryEnds };
        let (texts, ends) =
            (Column::open(files, &paths.texts, texts)?, Column::open(files, &paths.ends, ends)?);
        ends.expect_len(record.count)?;
        Ok(Self { first: record.first as usize, texts, ends })
    }

    /// Code of its first text.
    pub fn first(&self) -> u64 {
        self.first as u64
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A text by its place among those that the layer adds.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn text(&self, index: usize) -> Result<&[u8]> {
        let end = self.ends.at(index)?;
        let start = if index == 0 { 0 } else { self.ends.at(index - 1)? };
        if start > end || end > self.texts.len() as u64 {
            return Err(self.ends.corrupt(index, "the ends of texts do not ascend"));
        }
        self.texts.get(start as usize..end as usize)
    }

    fn verify(&self) -> Result<()> {
        self.texts.get(0..self.texts.len())?;
        self.ends.get(0..self.ends.len())?;
        let mut seen = HashSet::with_capacity(self.ends.len());
        for index in 0..self.ends.len() {
            if !seen.insert(self.text(index)?) {
                return Err(self.ends.corrupt(index, "the texts of the dictionary are not distinct"));
            }
        }
        let total = if self.ends.is_empty() { 0 } else { self.ends.at(self.ends.len() - 1)? };
        if total == self.texts.len() as u64 {
            return Ok(());
        }
        let reason = format!(
            "it has {}, but its texts end at {total}",
            esker_graph::counted(self.texts.len(), "byte", "bytes")
        );
        Err(self.texts.corrupt(self.texts.len(), reason))
    }
}
