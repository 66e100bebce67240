//! The versions that a merged layer tells apart, and what becomes of the codes of its inputs.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::layer::PlainLayer;

/// The versions that a merged layer tells apart.
#[derive(Debug)]
pub(super) struct Told {
    /// Ascending; the last is the last of the range.
    versions: Vec<u64>,
    /// The code of the newest version that anything is of.
    newest: u32,
}

impl Told {
    /// Those of `retained` that the layers tell apart, up to `last`, which is always among them.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(super) fn new(layers: &[Arc<PlainLayer>], retained: &[u64], last: u64) -> Result<Self> {
        let mut versions = Vec::new();
        for layer in layers {
            let told = layer.versions()?.iter().copied().filter(|&version| version <= last);
            versions
                .extend(told.filter(|version| *version == last || retained.binary_search(version).is_ok()));
        }
        if versions.last() != Some(&last) {
            return Err(Error::Invalid(format!("version {last} was forgotten")));
        }
        let newest = versions.len() as u32;
        Ok(Self { versions, newest })
    }

    /// The same where the range goes on up to a later version, which has nothing of its own.
    pub(super) fn ending_with(mut self, last_version: u64) -> Self {
        if self.versions.last().is_none_or(|&last| last < last_version) {
            self.versions.push(last_version);
        }
        self
    }

    pub(super) fn versions(&self) -> &[u64] {
        &self.versions
    }

    pub(super) fn into_versions(self) -> Vec<u64> {
        self.versions
    }

    /// The largest code that anything has.
    pub(super) fn newest(&self) -> u32 {
        self.newest
    }

    /// How many there are.
    pub(super) fn len(&self) -> u32 {
        self.versions.len() as u32
    }

    /// Whether one of them is before `version`.
    pub(super) fn is_any_before(&self, version: u64) -> bool {
        self.versions[0] < version
    }

    /// For each code of a layer, the code of the first version here that is not before it. What is after all of them, because the
    /// merge undoes it, gets a code above [`Told::newest`].
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(super) fn codes_of(&self, layer: &PlainLayer) -> Result<Vec<u32>> {
        let told = &self.versions[..self.newest as usize];
        let code = |&version: &u64| told.partition_point(|&told| told < version) as u32 + 1;
        Ok([0].into_iter().chain(layer.versions()?.iter().map(code)).collect())
    }
}
