//! The input of a freeze, and its counters.

use esker_format::{CopyPolicy, ElementType};
use esker_graph::VertexId;
use esker_layers::stack::Stack;

use super::known::KnownEdges;

/// The row of a change that removes an edge.
pub const REMOVAL: u32 = u32::MAX;

/// Adds, sets or removes an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeChange {
    /// The source vertex.
    pub source: VertexId,
    /// The target vertex.
    pub target: VertexId,
    /// The code of the commit: 1 for the first of the range.
    pub code: u32,
    /// The row of its property values, or [`REMOVAL`].
    pub row: u32,
}

/// The changes to freeze, and the layers below them.
#[derive(Debug, Clone, Copy)]
pub struct Changes<'a> {
    /// The layers below.
    pub stack: &'a Stack,
    /// The changes in the order in which they were committed. An undirected edge appears once.
    pub edges: &'a [EdgeChange],
    /// For each edge property, the bits of the values in all rows.
    pub rows: &'a [Vec<u64>],
    /// For each edge property, the type of its column.
    pub elements: &'a [ElementType],
    /// The first and the last version of the range; each version is one commit.
    pub versions: (u64, u64),
    /// The number of vertices of the last version.
    pub num_vertices: u64,
    /// The first version whose changes count in the tally.
    pub counted_from: u64,
    /// Which lists are copied.
    pub policy: CopyPolicy,
    /// The edges of all layers but the complete one, if gathering them was worthwhile.
    pub known: Option<&'a KnownEdges>,
}

/// The growth of the graph since the last version before the range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Growth {
    /// Change of the number of arcs.
    pub(crate) arcs: i64,
    /// Change of the number of self-loops.
    pub(crate) loops: i64,
}

/// What the changes did; an undirected edge counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChangeCounts {
    /// Edges added.
    pub added: u64,
    /// Edges that existed with other properties.
    pub updated: u64,
    /// Edges that existed with the same properties.
    pub unchanged: u64,
    /// Edges removed; in a multigraph, each copy of a pair counts.
    pub removed: u64,
    /// Removals of edges that did not exist.
    pub missing: u64,
}

impl ChangeCounts {
    /// Adds the counts of a later freeze.
    pub(crate) fn add(&mut self, later: &Self) {
        let Self { added, updated, unchanged, removed, missing } = later;
        self.added += added;
        self.updated += updated;
        self.unchanged += unchanged;
        self.removed += removed;
        self.missing += missing;
    }
}

/// Counters of one direction while its vertices are resolved.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// By version code; index 0 stays empty.
    pub(super) growth: Vec<Growth>,
    pub(super) counts: ChangeCounts,
    /// Arcs that were added, also those that were deleted again.
    pub(super) added_arcs: u64,
}

impl Tally {
    pub(super) fn new(codes: usize) -> Self {
        Self { growth: vec![Growth::default(); codes + 1], counts: ChangeCounts::default(), added_arcs: 0 }
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (sum, part) in self.growth.iter_mut().zip(&other.growth) {
            sum.arcs += part.arcs;
            sum.loops += part.loops;
        }
        self.added_arcs += other.added_arcs;
        let (sum, part) = (&mut self.counts, &other.counts);
        sum.added += part.added;
        sum.updated += part.updated;
        sum.unchanged += part.unchanged;
        sum.removed += part.removed;
        sum.missing += part.missing;
    }
}
