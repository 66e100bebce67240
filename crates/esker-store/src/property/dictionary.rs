//! Edge properties that are texts: codes in a column, and a dictionary from code to text.

use crate::error::{Error, Result};
use crate::format::{Column, ColumnKind, ColumnSpec, DatabaseId};
use crate::io::Disk;
use crate::layer::DictionaryFiles;

/// Distinct texts in ascending order of their bytes; the code of each is its position. Mapped, verified at first use.
#[derive(Debug)]
pub struct Dictionary {
    texts: Column<u8>,
    ends: Column<u64>,
}

impl Dictionary {
    /// Maps the two files.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] if they are not what is expected.
    pub fn open(disk: &dyn Disk, files: &DictionaryFiles, database: DatabaseId) -> Result<Self> {
        let texts = ColumnSpec { database, kind: ColumnKind::DictionaryTexts };
        let ends = ColumnSpec { database, kind: ColumnKind::DictionaryEnds };
        Ok(Self {
            texts: Column::open(disk, &files.texts, texts)?,
            ends: Column::open(disk, &files.ends, ends)?,
        })
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Size of the files.
    pub fn file_bytes(&self) -> u64 {
        self.texts.file_bytes() + self.ends.file_bytes()
    }

    /// The text of a code.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if there is no such code, or the files are damaged.
    pub fn text(&self, code: usize) -> Result<&[u8]> {
        let end = self.ends.at(code)?;
        let start = if code == 0 { 0 } else { self.ends.at(code - 1)? };
        if start > end || end > self.texts.len() as u64 {
            return Err(self.ends.corrupt(code, "the ends of texts do not ascend"));
        }
        self.texts.get(start as usize..end as usize)
    }

    /// The code of a text, if it occurs.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn code(&self, text: &[u8]) -> Result<Option<usize>> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.text(middle)?.cmp(text) {
                std::cmp::Ordering::Equal => return Ok(Some(middle)),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    /// Verifies both files: checksums, and that the texts are distinct and ascend.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn verify(&self) -> Result<()> {
        self.texts.get(0..self.texts.len())?;
        self.ends.get(0..self.ends.len())?;
        let mut previous: Option<&[u8]> = None;
        for code in 0..self.len() {
            let text = self.text(code)?;
            if previous.is_some_and(|previous| previous >= text) {
                return Err(self.ends.corrupt(code, "the texts of the dictionary do not ascend"));
            }
            previous = Some(text);
        }
        let total = if self.is_empty() { 0 } else { self.ends.at(self.len() - 1)? };
        if total == self.texts.len() as u64 {
            return Ok(());
        }
        let reason = format!("its {} bytes are not those {total} of all texts", self.texts.len());
        Err(Error::corrupt(self.texts.path(), self.texts.file_bytes(), reason))
    }
}
