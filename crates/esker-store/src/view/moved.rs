//! The edges by which a window differs from one before.

use std::sync::Arc;

use esker_graph::{Reservation, VertexId};
use esker_layers::graph::views::window::{TimeWindow, TimedEdge};

/// What a window gained and lost since another one, of an earlier version or an earlier time: see
/// `Version::window_after`. Undirected edges are named from their end with the smaller number.
#[derive(Debug)]
pub struct WindowMove {
    pub(crate) from: WindowPosition,
    /// Edges of the former window alone.
    pub removed: Vec<(VertexId, VertexId)>,
    /// Edges of the later window alone.
    pub added: Vec<(VertexId, VertexId)>,
    /// Vertices that were added, removed or restored between the versions.
    pub vertices: Vec<VertexId>,
    pub(crate) memory: Reservation,
}

/// A window that moved on from that of a former version.
pub(crate) struct MovedWindow<'a> {
    /// The property that holds the times.
    pub(crate) time: &'a str,
    pub(crate) window: TimeWindow,
    /// Whether vertices without an edge in the window are kept.
    pub(crate) all_vertices: bool,
    /// What differs from the former window.
    pub(crate) difference: WindowMove,
    /// The edges that will leave the window next, if they are known.
    pub(crate) aging: Option<Arc<AgingEdges>>,
}

/// A window of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowPosition {
    pub(super) version: u64,
    pub(super) committed_ms: u64,
    pub(super) window: TimeWindow,
    pub(super) all_vertices: bool,
}

/// The edges of a version that leave a window as it moves on, in the order of their times. They are searched
/// for once, for many moves.
#[derive(Debug)]
pub(crate) struct AgingEdges {
    /// Their range of times.
    pub(crate) range: TimeWindow,
    /// Ascending by time.
    pub(crate) edges: Vec<TimedEdge>,
    pub(crate) _memory: Reservation,
}

impl AgingEdges {
    /// The edges of a range of times; `None` if it reaches beyond that of these edges.
    pub(crate) fn within(&self, range: &TimeWindow) -> Option<&[TimedEdge]> {
        let is_known = self.range.after <= range.after && range.until <= self.range.until;
        let before = |time: i64| self.edges.partition_point(|edge| edge.0 <= time);
        is_known.then(|| &self.edges[before(range.after)..before(range.until)])
    }
}
