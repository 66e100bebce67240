//! What is frozen, and what is counted meanwhile.

use esker_graph::VertexId;

use super::known::KnownEdges;
use crate::format::ElementType;
use crate::stack::Stack;

/// The row of a change that removes.
pub const REMOVAL: u32 = u32::MAX;

/// An edge is added or set, or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeChange {
    /// Where it begins.
    pub source: VertexId,
    /// Where it ends.
    pub target: VertexId,
    /// Which commit did it: 1 for the first of the range.
    pub code: u32,
    /// Where the values of its properties stand, or [`REMOVAL`].
    pub row: u32,
}

/// Which lists a layer holds whole, instead of what changed in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CopyPolicy {
    /// None: smallest.
    Chain,
    /// All that changed: fastest to read.
    Copy,
    /// Those of at most 4 edges, and the few largest: the thesis found both to pay (4.5, 4.9.2).
    #[default]
    Mixed,
}

/// What is to be frozen, and over what.
#[derive(Debug, Clone, Copy)]
pub struct Changes<'a> {
    /// The layers below.
    pub stack: &'a Stack,
    /// What happened, in the order of commits, and within a commit in its own. An undirected edge stands once.
    pub edges: &'a [EdgeChange],
    /// For each edge property, the bits of the values of all rows.
    pub rows: &'a [Vec<u64>],
    /// For each edge property, the type of its column.
    pub elements: &'a [ElementType],
    /// The first and the last version of the range; each is a commit.
    pub versions: (u64, u64),
    /// Number of vertices at the end.
    pub num_vertices: u64,
    /// Which lists are copied.
    pub policy: CopyPolicy,
    /// The edges of all layers but the complete one, if it was worth gathering them.
    pub known: Option<&'a KnownEdges>,
}

/// Numbers of a version relative to those before the range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Growth {
    /// Arcs more, or less.
    pub arcs: i64,
    /// Self-loops more, or less.
    pub loops: i64,
}

/// What became of the changes; an undirected edge counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Edges that were not there before.
    pub added: u64,
    /// Edges that were there with other properties.
    pub updated: u64,
    /// Edges that were there just so.
    pub unchanged: u64,
    /// Edges removed; in a multigraph, all copies of a pair count.
    pub removed: u64,
    /// Removals of edges that were not there.
    pub missing: u64,
}

/// What is added up while vertices are resolved.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// By code; index 0 stays empty.
    pub(super) growth: Vec<Growth>,
    pub(super) outcome: Outcome,
}

impl Tally {
    pub(super) fn new(codes: usize) -> Self {
        Self { growth: vec![Growth::default(); codes + 1], outcome: Outcome::default() }
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (sum, step) in self.growth.iter_mut().zip(&other.growth) {
            sum.arcs += step.arcs;
            sum.loops += step.loops;
        }
        let (sum, step) = (&mut self.outcome, &other.outcome);
        sum.added += step.added;
        sum.updated += step.updated;
        sum.unchanged += step.unchanged;
        sum.removed += step.removed;
        sum.missing += step.missing;
    }
}
