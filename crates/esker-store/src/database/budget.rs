//! Enforces the memory limit for commits that are not yet in a layer.
//!
//! A commit reserves memory before it is built: for its changes, the index of them, its record in the log, and
//! the later freeze. If the limit has no room, the commit first freezes the earlier commits, or waits for those
//! in progress.

use esker_format::{Error, Result};
use esker_graph::{Direction, Stop};

use super::handle::{Core, locked};
use super::reservation::{COMMIT_BYTES, CommitCosts, CommitReservation};
use crate::commit::Batch;

impl Core {
    /// Reserves memory for the commit of a batch; `None` without a limit. Freezes, or waits for other
    /// commits, if there is no room now.
    ///
    /// # Errors
    /// [`Stop::OverBudget`] if the commit does not fit even alone; what freezing returns.
    pub(super) fn reserve_for(&self, batch: &Batch) -> Result<Option<CommitReservation<'_>>> {
        let Some(budget_bytes) = self.options.memory_bytes else { return Ok(None) };
        let changes = self.changes_of(batch)?;
        loop {
            let costs = CommitCosts::of(&self.view());
            let needed = changes as u64 * (costs.commit_bytes + costs.freeze_bytes) + COMMIT_BYTES;
            // Lock the reservations before reading what is taken: a commit's memory counts as taken
            // before its reservation ends.
            let reserved = self.reservations.bytes();
            let (taken, is_empty) = self.taken(costs);
            if taken + *reserved + needed <= budget_bytes {
                return Ok(Some(self.reservations.reserve(reserved, needed)));
            }
            if is_empty && *reserved == 0 {
                return Err(over_budget(changes, taken + needed, budget_bytes));
            }
            if is_empty {
                self.reservations.wait(reserved);
                continue;
            }
            drop(reserved);
            let mut maintenance = locked(&self.maintenance);
            // Another thread may have frozen the commits meanwhile.
            if self.taken(costs).0 + *self.reservations.bytes() + needed > budget_bytes {
                self.freeze(&mut maintenance, &self.run)?;
            }
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

fn over_budget(changes: usize, needed_bytes: u64, budget_bytes: u64) -> Error {
    let what = format!("a commit of {changes} changes");
    Stop::OverBudget { what, needed_bytes, budget_bytes }.into()
}
