//! The lists of one layer as slices.

use std::ops::Range;

use esker_format::Result;
use esker_graph::{Piece, Run, VertexId};

use crate::graph::weight::ColumnWeight;
use crate::layer::ListColumns;

/// Some lists, verified.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArcSlices<'a, W> {
    pub(crate) vertices: Option<&'a [VertexId]>,
    pub(crate) offsets: &'a [u64],
    pub(crate) targets: &'a [VertexId],
    pub(crate) weights: &'a [W],
}

impl<'a, W: ColumnWeight> ArcSlices<'a, W> {
    pub(crate) fn new(lists: &'a ListColumns, property: u32, run: &Run) -> Result<Self> {
        let (vertices, weights) = (lists.vertices(run)?, W::all(lists, property, run)?);
        let (offsets, targets) = lists.all(run)?.arrays().unwrap_or((&[0], &[]));
        Ok(Self { vertices, offsets, targets, weights })
    }

    pub(crate) fn none() -> Self {
        Self { vertices: Some(&[]), offsets: &[0], targets: &[], weights: &[] }
    }

    /// A piece of some arcs, of whose list no other worker holds a part.
    #[inline(always)]
    pub(crate) fn piece(&self, range: Range<usize>) -> Piece<'a, W> {
        Piece { targets: &self.targets[range.clone()], weights: &self.weights[range], exclusive: true }
    }

    #[inline(always)]
    pub(crate) fn range(&self, slot: usize) -> Range<usize> {
        self.offsets[slot] as usize..self.offsets[slot + 1] as usize
    }
}

/// Where in `vertices` the first that is at least `first` stands, searched from `from` on if that is not
/// behind it.
#[inline]
pub(crate) fn seek(vertices: &[VertexId], from: usize, first: usize) -> usize {
    let below = |slot: usize| vertices.get(slot).is_some_and(|&v| (v as usize) < first);
    let mut low = from;
    if low > 0 && !below(low - 1) {
        low = 0; // The worker went back, which it does at the beginning of a scan only.
    }
    let mut step = 1;
    while below(low + step) {
        low += step;
        step *= 2;
    }
    let high = (low + step).min(vertices.len());
    low + vertices[low.min(high)..high].partition_point(|&v| (v as usize) < first)
}
