//! What decides, while edges are fed, which of them are taken and when they are committed.

use std::time::Duration;

use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;
use esker_store::{CommitOptions, Result};

/// Decides, while edges are fed, which of them are taken and when they are committed.
pub(super) trait Course {
    /// Whether to pass over the next edge of the input, because a version has it.
    fn passes_over(&mut self) -> bool {
        false
    }

    /// How long the next edge has to wait. Between two questions a moment passes, in which commits may become
    /// due.
    fn wait(&mut self, _edge: &FedEdge<'_>) -> Duration {
        Duration::ZERO
    }

    /// Whether to take an edge.
    fn admits(&mut self, _edge: &FedEdge<'_>) -> Result<bool> {
        Ok(true)
    }

    /// Whether to commit now, with so many edges to commit; `is_idle`: asked because time passes, not because
    /// an edge came.
    fn is_due(&mut self, pending: u64, is_idle: bool) -> bool;

    /// Whether to commit what there is and end.
    fn is_over(&self) -> bool {
        false
    }

    /// Message and time of the next version, which is the `part`-th, from 1.
    fn options(&mut self, part: usize) -> Result<CommitOptions>;

    /// Whether what was taken is committed before a failure of the input ends the feeding.
    fn commits_before_failure(&self) -> bool {
        false
    }

    /// How many of the next `count` edges are taken at once, with no commit due before the last of them, if
    /// `pending` edges are to be committed. Fewer than two: each is asked about by itself.
    fn together(&self, _pending: u64, _count: usize) -> usize {
        0
    }

    /// Takes edges, as many as [`Course::together`] said; false: each has to be asked about by itself, and
    /// none was taken.
    fn admits_together(&mut self, _edges: &FedEdges<'_>) -> Result<bool> {
        Ok(true)
    }

    /// Whether to commit what was taken once more would hardly fit the memory limit, also if no commit is
    /// due.
    fn commits_when_full(&self) -> bool {
        false
    }

    /// Whether the input ends by itself, so that it can be read to its end to find out what a commit needs
    /// that does not fit.
    fn has_an_end(&self) -> bool {
        false
    }

    /// The number of edges after which a commit is due. `None`: something else decides.
    fn commit_edges(&self) -> Option<u64> {
        None
    }

    /// A commit of so many edges is durable, as this version.
    fn committed(&mut self, _version: u64, _edges: u64) {}
}

/// An edge that is fed.
pub(super) struct FedEdge<'a> {
    pub(super) source: ExternalId<'a>,
    pub(super) target: ExternalId<'a>,
    /// The values of all edge properties of the database, by number.
    pub(super) values: &'a [PropertyValue<'a>],
}

/// Edges that are fed together.
pub(super) struct FedEdges<'a> {
    pub(super) count: usize,
    /// For each edge property of the database, by number, the values of the edges.
    pub(super) values: &'a [Vec<PropertyValue<'a>>],
    pub(super) last: FedEdge<'a>,
}

/// How many of the next `count` edges are left until `limit` of them are to be committed, of which `pending`
/// are there.
pub(super) fn within(limit: Option<u64>, pending: u64, count: usize) -> usize {
    limit.map_or(count, |limit| count.min(usize::try_from(limit.saturating_sub(pending)).unwrap_or(count)))
}
