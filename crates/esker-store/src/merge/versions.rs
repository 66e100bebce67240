//! The versions that a merged layer distinguishes, and the translation of its inputs' version codes.

use std::sync::Arc;

use esker_format::{Error, Result};
use esker_layers::layer::PlainLayer;

/// The versions that a merged layer distinguishes.
#[derive(Debug)]
pub(super) struct MergedVersions {
    /// Ascending; the last one ends the layer's range.
    versions: Vec<u64>,
    /// The code of the newest version that has arcs.
    newest: u32,
}

impl MergedVersions {
    /// The versions up to `last` that the layers distinguish and that are in `retained`, and `last` itself.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(super) fn new(layers: &[Arc<PlainLayer>], retained: &[u64], last: u64) -> Result<Self> {
        let mut versions = Vec::new();
        for layer in layers {
            let own = layer.versions()?.iter().copied().filter(|&version| version <= last);
            versions
                .extend(own.filter(|version| *version == last || retained.binary_search(version).is_ok()));
        }
        if versions.last() != Some(&last) {
            return Err(Error::invalid(format!("version {last} was forgotten")));
        }
        let newest = versions.len() as u32;
        Ok(Self { versions, newest })
    }

    /// Extends the range to a later version, which has no arcs of its own.
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

    /// The largest code of any arc.
    pub(super) fn newest(&self) -> u32 {
        self.newest
    }

    /// The number of versions.
    pub(super) fn len(&self) -> u32 {
        self.versions.len() as u32
    }

    /// Whether one of the versions is before `version`.
    pub(super) fn is_any_before(&self, version: u64) -> bool {
        self.versions[0] < version
    }

    /// For each code of a layer, the code of the first merged version that is not before it. Codes after all
    /// merged versions, which the merge undoes, map to a code above the newest.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(super) fn codes_of(&self, layer: &PlainLayer) -> Result<Vec<u32>> {
        let merged = &self.versions[..self.newest as usize];
        let code = |&version: &u64| merged.partition_point(|&merged| merged < version) as u32 + 1;
        Ok([0].into_iter().chain(layer.versions()?.iter().map(code)).collect())
    }
}
