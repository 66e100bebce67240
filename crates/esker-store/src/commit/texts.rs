//! The distinct texts of a property in a batch, and the length that texts and ids may have.

use std::collections::HashMap;

use esker_format::memory::{no_memory, reserve};
use esker_format::value::decimal::{self, is_too_long, shown};
use esker_format::{Error, Result};

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

/// Checks the length of an id that is a text.
pub(super) fn expect_length(id: &[u8]) -> Result<()> {
    match is_too_long(id) {
        true => Err(Error::invalid(format!("the id {:?} {}", shown(id), decimal::TOO_LONG))),
        false => Ok(()),
    }
}

/// The error for a text that is too long for a property.
pub(super) fn too_long(property: &str, text: &[u8]) -> Error {
    Error::invalid(format!("the property {property:?}: the text {:?} {}", shown(text), decimal::TOO_LONG))
}
