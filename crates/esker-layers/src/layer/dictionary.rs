//! Writes what a layer adds to the dictionary of an edge property of texts.

use std::path::{Path, PathBuf};

use esker_format::{ColumnWriter, Error, Result};

/// Most texts that a property may have: their codes have 32 bits.
pub const TEXTS_MAX: u64 = u32::MAX as u64;

/// The paths of the dictionary of a text property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DictionaryFiles {
    /// The texts, concatenated.
    pub(crate) texts: PathBuf,
    /// The end of each text.
    pub(crate) ends: PathBuf,
    /// The places of the texts in order of their bytes.
    pub(crate) order: PathBuf,
}

impl DictionaryFiles {
    /// The dictionary of edge property `number` in the directory of a layer.
    pub fn in_layer(layer: &Path, number: u32) -> Self {
        Self {
            texts: layer.join(format!("dictionary.{number}.texts")),
            ends: layer.join(format!("dictionary.{number}.ends")),
            order: layer.join(format!("dictionary.{number}.order")),
        }
    }
}

/// Writes distinct texts, in the order of their codes. Memory: the buffers of three columns, and the longest
/// text.
#[derive(Debug)]
pub struct DictionaryWriter {
    pub(super) texts: ColumnWriter<u8>,
    pub(super) ends: ColumnWriter<u64>,
    pub(super) order: ColumnWriter<u32>,
    end: u64,
    count: u64,
    last: Vec<u8>,
    ascends: bool,
}

impl DictionaryWriter {
    pub(super) fn new(texts: ColumnWriter<u8>, ends: ColumnWriter<u64>, order: ColumnWriter<u32>) -> Self {
        Self { texts, ends, order, end: 0, count: 0, last: Vec::new(), ascends: true }
    }

    /// Appends the text of the next code.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Invalid`] beyond [`TEXTS_MAX`] texts.
    pub fn push(&mut self, text: &[u8]) -> Result<()> {
        if self.count == TEXTS_MAX {
            return Err(Error::invalid(format!("a property has more than {TEXTS_MAX} different texts")));
        }
        if self.ascends {
            self.ascends = self.count == 0 || self.last.as_slice() < text;
            self.last.clear();
            self.last.extend_from_slice(text);
        }
        self.count += 1;
        self.end += text.len() as u64;
        self.texts.append(text)?;
        self.ends.append(&[self.end])
    }

    /// Completes the files; the number of texts. `order` gives the places of all texts in ascending order of
    /// their bytes; it is not asked if the texts came so.
    ///
    /// # Errors
    /// [`Error::Io`]; an error of `order`.
    pub fn finish<I: IntoIterator<Item = Result<u32>>>(
        mut self,
        order: impl FnOnce() -> Result<I>,
    ) -> Result<u64> {
        if !self.ascends {
            for place in order()? {
                self.order.append(&[place?])?;
            }
        }
        self.texts.finish()?;
        self.ends.finish()?;
        self.order.finish()?;
        Ok(self.count)
    }
}

/// The places of texts in ascending order of their bytes. Time: O(n log n); memory: 4 bytes each.
pub(super) fn order_of(texts: &[&[u8]]) -> impl Iterator<Item = Result<u32>> + use<> {
    let mut order: Vec<u32> = (0..texts.len() as u32).collect();
    order.sort_unstable_by_key(|&place| texts[place as usize]);
    order.into_iter().map(Ok)
}
