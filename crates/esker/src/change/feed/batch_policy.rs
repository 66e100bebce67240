//! The policy by which the edges of files are committed.

use esker_store::{CommitOptions, Result};

use crate::change::clock::DeclaredTimes;
use crate::change::feed_options::FeedOptions;
use crate::change::feed_policy::{FedEdge, FedEdges, FeedPolicy, within};

/// The policy of [`feed`](fn@super::feed): commits after every [`FeedOptions::batch_edges`] edges and at the
/// end.
pub(super) struct BatchPolicy<'a> {
    pub(super) options: &'a FeedOptions,
    pub(super) times: Option<DeclaredTimes>,
}

impl FeedPolicy for BatchPolicy<'_> {
    fn admits(&mut self, edge: &FedEdge<'_>) -> Result<bool> {
        self.times.as_ref().map_or(Ok(()), |times| times.expect(edge)).map(|()| true)
    }

    fn admits_together(&mut self, edges: &FedEdges<'_>) -> Result<bool> {
        Ok(self.times.as_ref().is_none_or(|times| times.admit(edges)))
    }

    fn together(&self, pending: u64, count: usize) -> usize {
        within(self.options.batch_edges, pending, count)
    }

    fn has_an_end(&self) -> bool {
        true
    }

    fn is_due(&mut self, pending: u64, _is_idle: bool) -> bool {
        self.options.batch_edges.is_some_and(|limit| pending >= limit)
    }

    fn options(&mut self, part: usize) -> Result<CommitOptions> {
        let mut options = self.options.commit.clone();
        if self.options.batch_edges.is_some() {
            options.message = format!("{}, part {part}", options.message);
        }
        Ok(options)
    }
}
