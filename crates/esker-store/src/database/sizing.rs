//! Measures the memory limit that commits would need, after one of them did not fit: the caller reads on, so
//! that the refusal names a limit that really would do.

use esker_format::{Error, Result};
use esker_graph::Stop;

use super::handle::{Core, Database};
use super::reservation::{COMMIT_BYTES, CommitCosts};
use crate::commit::{Batch, BatchOp, BatchValue, TEXT_BYTES};

/// How the refusal of a commit that does not fit begins.
pub(super) const REFUSED: &str = "a commit of ";
/// At most this much of a batch is a change, without the bytes of its ids and values; and as many copies of
/// these are made.
const BATCH_CHANGE_BYTES: u64 =
    2 * (size_of::<BatchOp>() + size_of::<BatchValue>() + size_of::<usize>()) as u64 + 3 * TEXT_BYTES as u64;
const TEXT_COPIES_MAX: u64 = 6;
/// A reservation is rounded up by at most this.
pub(super) const BATCH_STEP_BYTES: u64 = 1 << 20;

/// The limit that some commits need, counted part by part.
#[derive(Debug, Clone, Copy, Default)]
pub struct CommitSizing {
    /// Of the commit that is being counted.
    changes: u64,
    bytes: u64,
    /// Of the largest commit so far.
    most_changes: u64,
    most_bytes: u64,
}

impl CommitSizing {
    /// Counts the changes of a batch as part of a commit, and leaves the batch without them.
    ///
    /// # Errors
    /// As point reads: the degrees of removed vertices are looked up.
    pub fn add(&mut self, database: &Database, batch: &mut Batch) -> Result<()> {
        let core = &database.core;
        let (costs, changes) = (CommitCosts::of(&core.shown()), core.changes_of(batch)?);
        self.changes += changes as u64;
        // The arrays of one batch double as they grow, so they may take twice what those of its parts take.
        self.bytes += costs.of_batch(batch, changes) + (batch.bytes() - batch.text_bytes()) as u64;
        batch.forget_changes();
        Ok(())
    }

    /// Counts `changes` changes at most, whose ids and values have `text_bytes` bytes.
    pub fn add_counted(&mut self, database: &Database, changes: u64, text_bytes: u64) {
        let costs = CommitCosts::of(&database.core.shown());
        self.changes += changes;
        self.bytes += changes * (costs.commit_bytes + costs.freeze_bytes + BATCH_CHANGE_BYTES);
        self.bytes += TEXT_COPIES_MAX * text_bytes + COMMIT_BYTES;
    }

    /// Ends a commit: what follows belongs to the next one.
    pub fn end_commit(&mut self) {
        if self.bytes > self.most_bytes {
            (self.most_changes, self.most_bytes) = (self.changes, self.bytes);
        }
        (self.changes, self.bytes) = (0, 0);
    }

    /// The refusal of the largest commit, with the limit that would do; the caller keeps `beside_bytes` of
    /// the budget.
    pub fn refusal(mut self, database: &Database, beside_bytes: u64) -> Error {
        self.end_commit();
        let core = &database.core;
        let needed_bytes = self.most_bytes + core.kept_bytes() + beside_bytes + BATCH_STEP_BYTES;
        let budget_bytes = core.options.budget.limit_bytes();
        let what = format!("{REFUSED}{}", esker_graph::counted(self.most_changes, "change", "changes"));
        Error::Stop(Stop::OverBudget { what, needed_bytes: needed_bytes.max(budget_bytes + 1), budget_bytes })
    }

    /// The refusal of a commit of about `edges` edges that begins with `batch`.
    ///
    /// # Errors
    /// As [`CommitSizing::add`].
    pub fn projected(database: &Database, batch: &mut Batch, edges: u64) -> Result<Error> {
        let (mut sizing, begun) = (Self::default(), batch.len().max(1) as u64);
        sizing.add(database, batch)?;
        let times = u128::from(edges.max(begun));
        sizing.bytes =
            u64::try_from(u128::from(sizing.bytes) * times / u128::from(begun)).unwrap_or(u64::MAX / 2);
        sizing.bytes += sizing.bytes / 4;
        sizing.changes = edges.max(begun);
        Ok(sizing.refusal(database, 0))
    }

    /// Whether an error is the refusal of a commit that does not fit.
    pub fn is_refusal(error: &Error) -> bool {
        matches!(error, Error::Stop(Stop::OverBudget { what, .. }) if what.starts_with(REFUSED))
    }
}

impl Core {
    /// The refusal of a batch that does not fit even alone.
    pub(super) fn refusal_of(&self, batch: &Batch, needed_bytes: u64) -> Error {
        let changes = esker_graph::counted(batch.len(), "change", "changes");
        let (what, budget_bytes) =
            (format!("{REFUSED}{changes} and more"), self.options.budget.limit_bytes());
        Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes })
    }

    /// Whether a batch and its commit fit into the memory limit, once all other commits are frozen and others
    /// have given back their memory; or into a scratch file.
    pub(super) fn fits(&self, batch: &Batch) -> Result<bool> {
        let limit = self.options.budget.limit_bytes();
        if limit == u64::MAX {
            return Ok(true);
        }
        let needed = CommitCosts::of(&self.shown()).of_batch(batch, self.changes_of(batch)?);
        Ok(needed + self.kept_bytes() <= limit || self.paging(batch).is_some())
    }
}
