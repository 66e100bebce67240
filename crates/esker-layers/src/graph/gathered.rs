//! Lists that were copied to memory.

use esker_graph::{Rows, VertexId, Weight};

/// Sorted lists of one direction.
pub(crate) struct GatheredSide<W> {
    offsets: Vec<u64>,
    targets: Vec<VertexId>,
    weights: Vec<W>,
}

impl<W: Weight> GatheredSide<W> {
    /// Lists of `targets` and `weights`, which are equally many; each begins at its offset, and the last offset is their end.
    pub(super) fn new(offsets: Vec<u64>, targets: Vec<VertexId>, weights: Vec<W>) -> Self {
        Self { offsets, targets, weights }
    }

    /// The lists.
    #[inline(always)]
    pub(super) fn rows(&self) -> Rows<'_, W> {
        Rows::of(&self.offsets, &self.targets, &self.weights)
    }
}
