//! The codes of the texts of an edge property, in layers and in commits that are in no layer.

use std::collections::HashMap;

use esker_format::memory::no_memory;
use esker_format::{Error, Result};
use esker_layers::layer::TEXTS_MAX;
use esker_layers::property::Dictionary;

/// A slot of a table of codes, with its byte of control, where seven of eight slots may be used.
const CODE_BYTES: usize = (size_of::<(Vec<u8>, u32)>() + 1) * 8 / 7;

/// What the allocator takes for this many bytes.
fn allocated_bytes(bytes: usize) -> usize {
    (bytes + 8).next_multiple_of(16).max(32)
}

/// The texts of a property after all commits. Those in layers stay there, and are looked up.
#[derive(Debug)]
pub(crate) struct KnownTexts {
    layers: Dictionary,
    /// The codes of the texts that are in no layer.
    recent: HashMap<Vec<u8>, u32>,
    /// Memory of these texts, without the table.
    recent_bytes: usize,
}

impl KnownTexts {
    /// The texts in layers.
    pub(crate) fn over(layers: &Dictionary) -> Self {
        Self { layers: layers.clone(), recent: HashMap::new(), recent_bytes: 0 }
    }

    /// Number of texts.
    pub(crate) fn len(&self) -> usize {
        self.layers.len() + self.recent.len()
    }

    /// The texts with the least codes, at most `count` of them.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the dictionary is damaged.
    pub(crate) fn first(&self, count: usize) -> Result<Vec<String>> {
        let stored = (0..self.layers.len().min(count)).map(|code| self.layers.text(code));
        let mut texts = stored.collect::<Result<Vec<&[u8]>>>()?;
        let mut recent: Vec<(u32, &[u8])> =
            self.recent.iter().map(|(text, &code)| (code, &text[..])).collect();
        recent.sort_unstable();
        texts.extend(recent.into_iter().map(|(_, text)| text));
        texts.truncate(count);
        Ok(texts.into_iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect())
    }

    /// The code of a text; `None` if no edge ever had it.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the dictionary is damaged.
    pub(crate) fn code_of(&self, text: &[u8]) -> Result<Option<u32>> {
        match self.recent.get(text) {
            Some(&code) => Ok(Some(code)),
            None => Ok(self.layers.code_of(text)?.map(|code| code as u32)),
        }
    }

    /// Gives a text that has no code the next one.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are too many texts, or memory runs out.
    pub(crate) fn add(&mut self, text: &[u8]) -> Result<u32> {
        let code = self.len();
        if code as u64 >= TEXTS_MAX {
            return Err(Error::invalid(format!("a property has more than {TEXTS_MAX} different texts")));
        }
        self.recent.try_reserve(1).map_err(no_memory)?;
        self.recent.insert(text.to_vec(), code as u32);
        self.recent_bytes += allocated_bytes(text.len());
        Ok(code as u32)
    }

    /// Takes back [`KnownTexts::add`], for all texts of a commit.
    pub(crate) fn remove(&mut self, text: &[u8]) {
        if self.recent.remove(text).is_some() {
            self.recent_bytes -= allocated_bytes(text.len());
        }
    }

    /// Forgets the texts that are in layers now.
    pub(crate) fn release(&mut self, layers: &Dictionary) {
        self.layers = layers.clone();
        self.recent.retain(|_, code| *code as usize >= layers.len());
        self.recent.shrink_to_fit();
        self.recent_bytes = self.recent.keys().map(|text| allocated_bytes(text.len())).sum();
    }

    /// Memory of the texts that are in no layer.
    pub(crate) fn bytes(&self) -> usize {
        self.recent_bytes + self.recent.capacity() * CODE_BYTES
    }
}
