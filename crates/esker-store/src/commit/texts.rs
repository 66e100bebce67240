//! The distinct texts of a property in a batch.

use std::collections::HashMap;

use esker_format::Result;
use esker_format::memory::{no_memory, reserve};

/// What a text takes in addition to its bytes: its allocation, and an entry of a list or a table.
pub(crate) const TEXT_BYTES: usize = 80;

/// A list of distinct texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    pub(crate) list: Vec<Vec<u8>>,
    indexes: HashMap<Vec<u8>, u32>,
    /// Memory of both.
    pub(super) bytes: usize,
}

impl Texts {
    pub(super) fn index_of(&mut self, text: &[u8]) -> Result<u32> {
        if let Some(&index) = self.indexes.get(text) {
            return Ok(index);
        }
        reserve(&mut self.list, 1)?;
        self.indexes.try_reserve(1).map_err(no_memory)?;
        let index = self.list.len() as u32;
        self.list.push(text.to_vec());
        self.indexes.insert(text.to_vec(), index);
        self.bytes += 2 * (text.len() + TEXT_BYTES);
        Ok(index)
    }
}
