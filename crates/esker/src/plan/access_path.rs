//! The ways to read a graph between which a plan chooses.

use esker_store::{GraphEncoding, Residency};

/// An encoding together with a residency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AccessPath {
    pub(super) encoding: GraphEncoding,
    pub(super) residency: Residency,
}

impl AccessPath {
    /// Lists that are not in tiles.
    pub(super) const fn lists(residency: Residency) -> Self {
        Self { encoding: GraphEncoding::Lists, residency }
    }

    pub(super) const fn tiles(residency: Residency) -> Self {
        Self { encoding: GraphEncoding::Tiles, residency }
    }
}
