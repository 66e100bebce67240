//! The policies of feeding: which edges of an input are taken, and when they are committed.

use std::time::Duration;

use esker_import::read::operation::RowOperation;
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;
use esker_store::{CommitOptions, Committed, Result};

/// Decides which edges of an input are taken and when they are committed. The feeder asks it about each edge,
/// or about many at once.
pub(super) trait FeedPolicy {
    /// Whether to skip the next edge of the input, because a version already has it.
    fn passes_over(&mut self) -> bool {
        false
    }

    /// How many edges are still skipped.
    fn left_to_pass(&self) -> u64 {
        0
    }

    /// How long the next edge has to wait. Asked again and again, so that commits that become due meanwhile
    /// are made.
    fn wait(&mut self, _edge: &FedEdge<'_>) -> Duration {
        Duration::ZERO
    }

    /// Whether to take an edge.
    fn admits(&mut self, _edge: &FedEdge<'_>) -> Result<bool> {
        Ok(true)
    }

    /// Whether to commit now; `pending` edges are not committed yet. `is_idle`: asked because time passed,
    /// not because an edge came.
    fn is_due(&mut self, pending: u64, is_idle: bool) -> bool;

    /// Whether to commit the pending edges and end.
    fn is_over(&self) -> bool {
        false
    }

    /// Message and time of the next version, which is the `part`-th, from 1.
    fn options(&mut self, part: usize) -> Result<CommitOptions>;

    /// Whether pending edges are committed before a failure of the input ends the feeding.
    fn commits_before_failure(&self) -> bool {
        false
    }

    /// How many of the next `count` edges may be taken at once: no commit falls due before the last of them
    /// while `pending` edges wait. Below two, edges are taken one by one.
    fn together(&self, _pending: u64, _count: usize) -> usize {
        0
    }

    /// Takes these edges, as many as [`FeedPolicy::together`] allowed. False: none, and each is asked about.
    fn admits_together(&mut self, _edges: &FedEdges<'_>) -> Result<bool> {
        Ok(true)
    }

    /// Whether to commit when the pending edges and their commit would take half of the memory limit, even if
    /// no commit is due.
    fn commits_when_full(&self) -> bool {
        false
    }

    /// Whether the input ends by itself. If so, it is read to its end to find the memory limit that a commit
    /// too large for this one needs.
    fn has_an_end(&self) -> bool {
        false
    }

    /// The number of edges after which a commit is due. `None`: something else decides.
    fn commit_edges(&self) -> Option<u64> {
        None
    }

    /// The place among the properties of the one that holds the times, which removals may have too.
    fn time_place(&self) -> Option<usize> {
        None
    }

    /// Called when a commit with `edges` edges is durable.
    fn committed(&mut self, _committed: &Committed, _edges: u64) {}
}

/// An edge of the input.
pub(super) struct FedEdge<'a> {
    pub(super) source: ExternalId<'a>,
    pub(super) target: ExternalId<'a>,
    /// The values of all edge properties of the database, by number.
    pub(super) values: &'a [PropertyValue<'a>],
    /// What happens to it.
    pub(super) operation: RowOperation,
}

/// Edges of the input that are taken at once.
pub(super) struct FedEdges<'a> {
    pub(super) count: usize,
    /// For each edge property of the database, by number, the values of the edges.
    pub(super) values: &'a [Vec<PropertyValue<'a>>],
    pub(super) last: FedEdge<'a>,
}

/// How many of the next `count` edges fit a commit of `limit` edges that has `pending` already.
pub(super) fn within(limit: Option<u64>, pending: u64, count: usize) -> usize {
    limit.map_or(count, |limit| count.min(usize::try_from(limit.saturating_sub(pending)).unwrap_or(count)))
}
