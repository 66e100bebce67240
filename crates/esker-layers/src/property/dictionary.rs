//! Edge properties that are texts: codes in a column, and a dictionary from code to text and back.
//!
//! A layer stores only the texts that it adds, and their order by bytes. So a commit never reads or writes
//! the dictionary as a whole: a look-up is a binary search in each layer that adds texts.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use esker_format::io::Files;
use esker_format::{Column, ColumnKind, ColumnSpec, DictionaryRecord, Error, Origin, Result};
use esker_graph::Run;

use crate::layer::{DictionaryFiles, DictionaryWriter};

/// Distinct texts, each with a code: those of the first layer in ascending order of their bytes, then what
/// later layers added, in order of appearance. Mapped, verified at first use, block by block. Cheap to clone.
#[derive(Debug, Default, Clone)]
pub struct Dictionary(Vec<Arc<DictionarySegment>>);

/// The texts that one layer adds to a dictionary.
#[derive(Debug)]
pub struct DictionarySegment {
    /// Code of the first text.
    first: usize,
    texts: Column<u8>,
    ends: Column<u64>,
    /// The places of the texts in order of their bytes; empty if they lie in this order.
    order: Column<u32>,
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

    /// The code of a text; `None` if it has none. Time: O(log n) look-ups of texts in each layer.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the files are damaged.
    pub fn code_of(&self, text: &[u8]) -> Result<Option<usize>> {
        for segment in &self.0 {
            if let Some(place) = segment.find(text)? {
                return Ok(Some(segment.first + place));
            }
        }
        Ok(None)
    }

    /// Verifies all files: checksums, and that the texts are distinct. Memory: none.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn verify(&self, run: &Run) -> Result<()> {
        for (at, segment) in self.0.iter().enumerate() {
            segment.verify(run)?;
            let older = Self(self.0[..at].to_vec());
            for index in 0..segment.len() {
                check_at(index, run)?;
                if older.code_of(segment.text(index)?)?.is_some() {
                    return Err(segment.ends.corrupt(index, NOT_DISTINCT));
                }
            }
        }
        Ok(())
    }
}

const NOT_DISTINCT: &str = "the texts of the dictionary are not distinct";

/// Looks at the cancel token from time to time.
fn check_at(index: usize, run: &Run) -> Result<()> {
    if index.is_multiple_of(1 << 12) { Ok(run.check()?) } else { Ok(()) }
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
        let order = ColumnSpec { origin, kind: ColumnKind::DictionaryOrder };
        let (texts, ends) =
            (Column::open(files, &paths.texts, texts)?, Column::open(files, &paths.ends, ends)?);
        let order = Column::<u32>::open(files, &paths.order, order)?;
        ends.expect_len(record.count)?;
        if !order.is_empty() {
            order.expect_len(record.count)?;
        }
        Ok(Self { first: record.first as usize, texts, ends, order })
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

    /// The place of the text of a rank, in order of bytes.
    fn place(&self, rank: usize) -> Result<usize> {
        if self.order.is_empty() {
            return Ok(rank);
        }
        let place = self.order.at(rank)? as usize;
        if place < self.len() {
            return Ok(place);
        }
        Err(self.order.corrupt(rank, format!("text {place} of {}", self.len())))
    }

    /// The place of a text.
    fn find(&self, text: &[u8]) -> Result<Option<usize>> {
        let mut range = 0..self.len();
        while !range.is_empty() {
            let middle = range.start + range.len() / 2;
            let place = self.place(middle)?;
            match self.text(place)?.cmp(text) {
                Ordering::Equal => return Ok(Some(place)),
                Ordering::Less => range.start = middle + 1,
                Ordering::Greater => range.end = middle,
            }
        }
        Ok(None)
    }

    fn verify(&self, run: &Run) -> Result<()> {
        self.texts.all(run)?;
        self.ends.all(run)?;
        self.order.all(run)?;
        let mut last = None;
        for rank in 0..self.len() {
            check_at(rank, run)?;
            let place = self.place(rank)?;
            let text = self.text(place)?;
            match last.map(|last: &[u8]| last.cmp(text)) {
                None | Some(Ordering::Less) => last = Some(text),
                Some(Ordering::Equal) => return Err(self.ends.corrupt(place, NOT_DISTINCT)),
                Some(Ordering::Greater) => {
                    return Err(self
                        .order
                        .corrupt(rank, "the order of the texts of the dictionary is wrong"));
                }
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

/// Writes the texts of adjacent layers, oldest first, as those of one layer; the number of them. Time:
/// O(n log(layers)) for n texts; memory: none beside the writer's.
///
/// # Errors
/// [`Error::Corrupt`]; if files cannot be written; cancellation.
pub fn merge_dictionaries(
    mut writer: DictionaryWriter,
    parts: &[Arc<DictionarySegment>],
    run: &Run,
) -> Result<u64> {
    for part in parts {
        for index in 0..part.len() {
            check_at(index, run)?;
            writer.push(part.text(index)?)?;
        }
    }
    writer.finish(|| MergedOrder::of(parts, run))
}

/// The places of all texts of adjacent layers, in order of their bytes.
struct MergedOrder<'a> {
    parts: &'a [Arc<DictionarySegment>],
    run: &'a Run,
    /// The next text of each part, the part and the rank of the text there.
    heap: BinaryHeap<Reverse<(&'a [u8], usize, usize)>>,
    given: usize,
}

impl<'a> MergedOrder<'a> {
    fn of(parts: &'a [Arc<DictionarySegment>], run: &'a Run) -> Result<Self> {
        let mut merged = Self { parts, run, heap: BinaryHeap::new(), given: 0 };
        (0..parts.len()).try_for_each(|part| merged.push(part, 0))?;
        Ok(merged)
    }

    fn push(&mut self, part: usize, rank: usize) -> Result<()> {
        if rank < self.parts[part].len() {
            let text = self.parts[part].text(self.parts[part].place(rank)?)?;
            self.heap.push(Reverse((text, part, rank)));
        }
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<u32>> {
        let Some(Reverse((_, part, rank))) = self.heap.pop() else { return Ok(None) };
        check_at(self.given, self.run)?;
        self.given += 1;
        self.push(part, rank + 1)?;
        let before = self.parts[part].first - self.parts[0].first;
        Ok(Some((before + self.parts[part].place(rank)?) as u32))
    }
}

impl Iterator for MergedOrder<'_> {
    type Item = Result<u32>;

    fn next(&mut self) -> Option<Result<u32>> {
        self.pop().transpose()
    }
}
