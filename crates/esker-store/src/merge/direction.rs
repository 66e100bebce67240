//! Merges the lists of one direction, a range of vertices at a time.

use std::sync::Arc;

use esker_format::ValueSlice;
use esker_graph::{Direction, VertexId};
use esker_layers::layer::{ListColumns, ListTargets, SectionChunk};
use esker_layers::stack::{ListTable, Stack};

use super::input::MergeInput;
use super::versions::MergedVersions;

/// One direction of a merge.
#[derive(Debug)]
pub(super) struct DirectionMerge<'a> {
    pub(super) direction: Direction,
    /// Oldest first.
    pub(super) inputs: Vec<MergeInput<'a>>,
    pub(super) versions: &'a MergedVersions,
    /// The layers below the inputs; `None` if the oldest input is complete.
    pub(super) below: Option<&'a Stack>,
    /// The vertex table of the layers below, if it was worth building.
    pub(super) table: Option<Arc<ListTable>>,
    /// For each input its main lists and its past lists, then the main lists of each layer below.
    pub(super) lists: Vec<&'a ListColumns>,
    /// The verified properties of the lists of the inputs.
    pub(super) properties: Vec<Vec<ValueSlice<'a>>>,
    /// Whether the merge undoes versions after its last one.
    pub(super) undoes: bool,
    pub(super) multigraph: bool,
    /// Number of vertices of the merged layer.
    pub(super) num_vertices: usize,
    /// Number of edge properties of the merged layer.
    pub(super) num_properties: usize,
    /// Whether the targets of the merged lists are not written. Then those of the complete layer are read
    /// only where lists change, and stand as zeros elsewhere.
    pub(super) without_targets: bool,
}

/// The merged lists of a range of vertices.
#[derive(Debug)]
pub(super) struct MergedRange<'a> {
    pub(super) chunk: SectionChunk,
    /// The vertices with fragments in layers after the complete one, ascending.
    pub(super) touched: Vec<VertexId>,
    /// The targets of the complete layer, if any vertex is touched.
    pub(super) base: ListTargets<'a>,
}

/// A fragment of a vertex's list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fragment {
    pub(super) vertex: VertexId,
    /// The index of the input that contains it.
    pub(super) input: u32,
    pub(super) slot: usize,
}

impl DirectionMerge<'_> {
    pub(super) fn is_complete(&self) -> bool {
        self.below.is_none()
    }

    /// Whether a fragment is the whole list of its vertex.
    pub(super) fn is_whole(&self, fragment: Fragment) -> bool {
        self.inputs[fragment.input as usize].is_whole(fragment.slot)
    }

    /// The number of lists and entries of vertices below `v`.
    pub(super) fn entries_before(&self, v: usize) -> usize {
        self.inputs.iter().map(|input| input.entries_before(v)).sum::<usize>() + v
    }

    /// The first vertex below `num_vertices` that has at least `entry` entries before it, or else that
    /// number.
    pub(super) fn vertex_at_entry(&self, num_vertices: usize, entry: usize) -> usize {
        let (mut low, mut high) = (0, num_vertices);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.entries_before(middle) < entry {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}
