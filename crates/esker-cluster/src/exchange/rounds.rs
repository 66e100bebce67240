//! The course of a worker through a change, without I/O: what it does after each round.
//!
//! All workers see the heads of the same blocks, so all take the same steps. [`mod@crate::change::apply`]
//! carries them out with a database and an engine; a simulation (`model_tests/simulation.rs`) does with
//! queues that fail.

use crate::exchange::outbox::ReadBlocks;

/// What a worker does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeStep {
    /// Look for hubs together with the others, then [`Rounds::promoted`].
    Promote,
    /// Read a part of the input, exchange blocks and apply them, then [`Rounds::exchanged`].
    Exchange,
    /// Commit, wait until the version of the whole is published, then [`Rounds::published`].
    Commit,
    /// End: all edges are in versions.
    Close,
}

/// How far a worker is.
#[derive(Debug)]
pub(crate) struct Rounds {
    /// Edges and vertices after which a version is made; 0: only when a worker asks for one.
    batch_edges: u64,
    next: ChangeStep,
    /// What no version has.
    pending: ReadBlocks,
    /// Whether all workers have read all.
    is_over: bool,
    /// Edges of all rounds.
    edges: u64,
}

impl Rounds {
    pub(crate) fn new(batch_edges: u64) -> Self {
        let (next, pending) = (ChangeStep::Promote, ReadBlocks::default());
        Self { batch_edges, next, pending, is_over: false, edges: 0 }
    }

    pub(crate) fn next(&self) -> ChangeStep {
        self.next
    }

    /// Edges that no version has.
    pub(crate) fn pending_edges(&self) -> u64 {
        self.pending.edges
    }

    /// Edges and vertices that no version has.
    pub(crate) fn pending(&self) -> u64 {
        self.pending.edges + self.pending.vertices
    }

    /// Edges of all rounds.
    pub(crate) fn edges(&self) -> u64 {
        self.edges
    }

    /// Whether all workers have read all.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Hubs became delegates, or there are none.
    pub(crate) fn promoted(&mut self) {
        self.next = ChangeStep::Exchange;
    }

    /// The blocks of all workers have come, with these heads.
    pub(crate) fn exchanged(&mut self, heads: &[ReadBlocks]) {
        self.is_over = heads.iter().all(|head| head.is_done);
        self.pending.has_hub = heads.iter().any(|head| head.has_hub);
        let edges = heads.iter().map(|head| head.edges).sum::<u64>();
        self.edges += edges;
        self.pending.edges += edges;
        self.pending.vertices += heads.iter().map(|head| head.vertices).sum::<u64>();
        let is_full = self.batch_edges > 0 && self.pending() >= self.batch_edges;
        let is_due = is_full || self.is_over || heads.iter().any(|head| head.commits);
        self.next = if is_due && self.pending() > 0 { ChangeStep::Commit } else { self.after_version() };
    }

    /// The version of the whole is published.
    pub(crate) fn published(&mut self) {
        self.pending = ReadBlocks { has_hub: self.pending.has_hub, ..ReadBlocks::default() };
        self.next = self.after_version();
    }

    fn after_version(&self) -> ChangeStep {
        match self.is_over {
            true => ChangeStep::Close,
            false if self.pending.has_hub => ChangeStep::Promote,
            false => ChangeStep::Exchange,
        }
    }
}
