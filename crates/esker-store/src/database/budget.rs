//! Enforces the memory limit for commits that are not yet in a layer.
//!
//! A commit reserves memory before it is built: for its changes, the index of them, its record in the log, and
//! the later freeze. If the limit has no room, the commit first freezes the earlier commits, or waits for those
//! in progress.

use esker_format::{Error, Result};
use esker_graph::Direction;

use super::handle::{Core, locked};
use super::reservation::{CommitCosts, CommitReservation};
use crate::commit::Batch;
use crate::freeze::KnownEdges;

impl Core {
    /// Reserves memory for the commit of a batch; `None` without a limit. Freezes, or waits for other
    /// commits, if there is no room now.
    ///
    /// # Errors
    /// [`esker_graph::Stop::OverBudget`] if the commit does not fit even alone; what freezing returns.
    pub(super) fn reserve_for(&self, batch: &Batch) -> Result<Option<CommitReservation<'_>>> {
        let budget = &self.options.budget;
        if budget.limit_bytes() == u64::MAX {
            return Ok(None);
        }
        let changes = self.changes_of(batch)?;
        let mut has_tables = true;
        loop {
            let costs = CommitCosts::of(&self.view());
            let needed = costs.of_batch(batch, changes);
            let mut held = self.memory.held();
            let (taken, is_empty) = self.taken(costs);
            if (held.in_progress > 0 || held.unfrozen.resize(taken))
                && let Some(reservation) = budget.try_reserve(needed)
            {
                return Ok(Some(self.memory.begin(&mut held, reservation)));
            }
            if held.in_progress > 0 && is_empty {
                self.memory.wait(held);
                continue;
            }
            drop(held);
            if !is_empty {
                self.freeze(&mut locked(&self.maintenance), &self.run)?;
            } else if std::mem::take(&mut has_tables) {
                self.drop_tables();
            } else {
                // Another user of the budget may have given back memory meanwhile.
                let reservation = budget.reserve(&format!("a commit of {changes} changes"), needed)?;
                return Ok(Some(self.memory.begin(&mut self.memory.held(), reservation)));
            }
        }
    }

    /// Checks that a batch that still grows fits alone into the limit.
    pub(super) fn expect_room(&self, batch: &Batch) -> Result<()> {
        let limit = self.options.budget.limit_bytes();
        let needed = CommitCosts::of(&self.view()).of_batch(batch, batch.len());
        if needed <= limit {
            return Ok(());
        }
        let (changes, mib) = (batch.len(), limit >> 20);
        Err(Error::Invalid(format!(
            "a commit of more than {changes} changes does not fit into the memory limit of {mib} MiB: raise the limit, or commit fewer \
             changes at a time, as esker add --batch N does"
        )))
    }

    /// Counts the commits in no layer anew, after a commit has ended or commits were frozen.
    pub(super) fn settle(&self) {
        if self.options.budget.limit_bytes() == u64::MAX {
            return;
        }
        let mut held = self.memory.held();
        if held.in_progress == 0 {
            let taken = self.taken(CommitCosts::of(&self.view())).0;
            let less = taken.min(held.unfrozen.bytes());
            held.unfrozen.shrink_to(less);
        }
    }

    /// Gives up what only makes freezing and merging faster.
    fn drop_tables(&self) {
        self.view().below.stack().drop_tables();
        if let Ok(maintenance) = self.maintenance.try_lock() {
            *locked(&maintenance.known) = KnownEdges::default();
        }
    }

    /// The number of changes of a batch. The removal of a vertex counts the edges that it has so far.
    fn changes_of(&self, batch: &Batch) -> Result<usize> {
        let mut changes = batch.len();
        for id in batch.removed_vertices() {
            let view = self.view();
            let Some(v) = view.vertex_of(id)? else { continue };
            changes += view.degree(Direction::Out, v)?;
            if view.below.layer().in_edges {
                changes += view.degree(Direction::In, v)?;
            }
        }
        Ok(changes)
    }

    /// The bytes that the commits in no layer take now and will take in a freeze, and whether there are no
    /// such commits.
    fn taken(&self, costs: CommitCosts) -> (u64, bool) {
        let bytes = self.unfrozen_bytes() as u64;
        let view = self.view();
        (bytes + view.unfrozen.num_edges() as u64 * costs.freeze_bytes, view.unfrozen.commits.is_empty())
    }
}
