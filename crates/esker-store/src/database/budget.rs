//! That commits, until they are in a layer, take no more memory than they may.
//!
//! What a commit takes on its way is promised before it is made: its changes, what finds them, the record for the log, and what
//! freezing them will take. Whoever finds no room freezes what there is; if others have it, their commits are waited for.

use esker_graph::{Direction, Stop};

use super::handle::{Core, locked};
use super::room::{COMMIT_BYTES, Costs, Room};
use crate::commit::Batch;
use crate::error::{Error, Result};

impl Core {
    /// Room for the commit of a batch, if there is a limit. Freezes, or waits for other commits, if there is none now.
    ///
    /// # Errors
    /// [`Stop::OverBudget`] if it does not fit even alone; what freezing returns.
    pub(super) fn room_for(&self, batch: &Batch) -> Result<Option<Room<'_>>> {
        let Some(budget_bytes) = self.options.memory_bytes else { return Ok(None) };
        let changes = self.changes_of(batch)?;
        loop {
            let costs = Costs::of(&self.view());
            let needed = changes as u64 * (costs.commit_bytes + costs.freeze_bytes) + COMMIT_BYTES;
            // What is kept of a promise is taken by then.
            let promised = self.promises.bytes();
            let (taken, is_empty) = self.taken(costs);
            if taken + *promised + needed <= budget_bytes {
                return Ok(Some(self.promises.promise(promised, needed)));
            }
            if is_empty && *promised == 0 {
                return Err(over_budget(changes, taken + needed, budget_bytes));
            }
            if is_empty {
                self.promises.wait(promised);
                continue;
            }
            drop(promised);
            let mut maintenance = locked(&self.maintenance);
            // Unless somebody else has just done it.
            if self.taken(costs).0 + *self.promises.bytes() + needed > budget_bytes {
                self.freeze(&mut maintenance, &self.run)?;
            }
        }
    }

    /// How many changes a batch is: a vertex that is removed takes the edges along that it has so far.
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

    /// Bytes that the commits in no layer take and will take when they are frozen, and whether there are none.
    fn taken(&self, costs: Costs) -> (u64, bool) {
        let bytes = self.live_bytes() as u64;
        let view = self.view();
        (bytes + view.live.num_edges() as u64 * costs.freeze_bytes, view.live.commits.is_empty())
    }
}

fn over_budget(changes: usize, needed_bytes: u64, budget_bytes: u64) -> Error {
    let what = format!("a commit of {changes} changes");
    Stop::OverBudget { what, needed_bytes, budget_bytes }.into()
}
