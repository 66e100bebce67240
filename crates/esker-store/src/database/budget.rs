//! Enforces the memory limit for commits that are not yet in a layer.
//!
//! A commit reserves memory before it is built: for its changes, the index of them, its record in the log,
//! and the later freeze. If the limit has no room, the commit first freezes the earlier commits, or waits for
//! those in progress.
//!
//! A commit that does not fit even alone pages ([`Paging`]): from then on, until it is a layer, all large
//! pieces of memory lie in a scratch file. What lies on the heap before has been reserved. Texts stay there,
//! and are reserved: a commit whose texts alone do not fit is refused. So is one for whose scratch file the
//! disk has no room, until it is in the log.

use esker_format::Result;
use esker_format::io::Paging;
use esker_graph::{Direction, Reservation};

use super::batch::resolve::{KEPT, Writer};
use super::handle::Core;
use super::reservation::{CommitCosts, CommitReservation, HeldMemory};
use super::sizing::{BATCH_STEP_BYTES, REFUSED};
use crate::commit::Batch;
use crate::freeze::KnownEdges;

impl Core {
    /// Reserves memory for the commit of a batch, beyond what the batch has reserved; `None` without a limit.
    /// Freezes, or waits for other commits, if there is no room now.
    ///
    /// # Errors
    /// [`esker_graph::Stop::OverBudget`] if the commit does not fit even alone; what freezing returns.
    pub(super) fn reserve_for(&self, batch: &mut Batch) -> Result<Option<CommitReservation<'_>>> {
        let budget = &self.options.budget;
        if budget.limit_bytes() == u64::MAX {
            return Ok(None);
        }
        let own = match batch.memory.reserved.take() {
            Some(own) => own,
            None => budget.reserve("a commit", 0)?,
        };
        let changes = self.changes_of(batch)?;
        if batch.memory.paging.is_none() {
            batch.memory.paging = self.paging_for(batch, changes);
        }
        let is_paging = batch.memory.paging.is_some();
        if is_paging && !self.shown().unfrozen.commits.is_empty() {
            self.freeze(&mut self.maintenance.lock(), &self.run)?;
        }
        let more = |costs: CommitCosts| {
            let needed =
                if is_paging { CommitCosts::of_texts(batch) } else { costs.of_batch(batch, changes) };
            needed.saturating_sub(own.bytes())
        };
        let what = || format!("{REFUSED}{}", esker_graph::counted(changes, "change", "changes"));
        let mut reserved = self.reserve_in_turn(&what, &more)?;
        reserved.absorb(own);
        Ok(Some(self.memory.begin(&mut self.memory.held(), reserved)))
    }

    /// The paging of a batch with `changes` changes, if it does not fit into the limit.
    fn paging_for(&self, batch: &Batch, changes: usize) -> Option<Paging> {
        let needed = CommitCosts::of(&self.shown()).of_batch(batch, changes) + self.kept_bytes();
        if needed <= self.options.budget.limit_bytes() { None } else { self.paging(batch) }
    }

    /// Has large pieces of memory lie in a scratch file from now on, for a batch that does not fit into the
    /// limit. `None` if that is not possible or not allowed, or would not suffice.
    pub(super) fn paging(&self, batch: &Batch) -> Option<Paging> {
        if self.may_page(batch) { self.disk.paging(&self.path) } else { None }
    }

    /// Whether a batch may page, and what it has on the heap then fits into the limit.
    fn may_page(&self, batch: &Batch) -> bool {
        let needed = CommitCosts::of_texts(batch) + self.kept_bytes();
        self.options.scratch && needed <= self.options.budget.limit_bytes()
    }

    /// Reserves as many bytes as `more` says of the costs of now. If they are not free: freezes the commits
    /// in no layer, waits for other commits and for a merge in the background, and gives up tables.
    fn reserve_in_turn(
        &self,
        what: &dyn Fn() -> String,
        more: &dyn Fn(CommitCosts) -> u64,
    ) -> Result<Reservation> {
        let budget = &self.options.budget;
        let mut has_tables = true;
        loop {
            let costs = CommitCosts::of(&self.shown());
            let needed = more(costs);
            let mut held = self.memory.held();
            let (taken, is_empty) = self.taken(&held, costs);
            if (held.in_progress > 0 || held.unfrozen.resize(taken))
                && let Some(reservation) = budget.try_reserve(needed)
            {
                return Ok(reservation);
            }
            if held.in_progress > 0 && is_empty {
                self.memory.wait(held);
                continue;
            }
            drop(held);
            if !is_empty {
                self.freeze(&mut self.maintenance.lock(), &self.run)?;
            } else if std::mem::take(&mut has_tables) {
                self.drop_tables();
            } else {
                // Another user of the budget may have given back memory meanwhile.
                return Ok(budget.reserve(&what(), needed)?);
            }
        }
    }

    /// Reserves memory for what belongs to no batch. Freezes if there is no room, or waits for other commits.
    ///
    /// # Errors
    /// [`esker_graph::Stop::OverBudget`] if it does not fit; what freezing returns.
    pub(super) fn reserve(&self, what: &str, bytes: u64) -> Result<Reservation> {
        let budget = &self.options.budget;
        if budget.limit_bytes() == u64::MAX {
            return Ok(budget.reserve(what, bytes)?);
        }
        self.reserve_in_turn(&|| what.to_owned(), &|_| bytes)
    }

    /// Whether a batch and its commit take more than half of the limit.
    pub(super) fn fills_half(&self, batch: &Batch) -> bool {
        let costs = CommitCosts::of(&self.shown());
        costs.of_batch(batch, batch.len()) > self.options.budget.limit_bytes() / 2
    }

    /// Reserves what a batch that still grows takes now. Freezes if there is no room, or waits for other
    /// commits.
    ///
    /// # Errors
    /// [`esker_graph::Stop::OverBudget`] if the batch and its commit do not fit even alone; what freezing
    /// returns.
    pub(super) fn make_room(&self, batch: &mut Batch) -> Result<()> {
        let limit = self.options.budget.limit_bytes();
        if limit == u64::MAX {
            return Ok(());
        }
        let costs = CommitCosts::of(&self.shown());
        let needed = costs.of_batch(batch, batch.len());
        if needed > limit && batch.memory.paging.is_none() {
            batch.memory.paging = self.paging(batch);
        }
        let is_paging = batch.memory.paging.is_some();
        if needed > limit && !(is_paging && self.may_page(batch)) {
            return Err(self.refusal_of(batch, needed));
        }
        batch.memory.expect_paged()?;
        let held = batch.memory.reserved.as_ref().map_or(0, Reservation::bytes);
        let bytes = if is_paging { CommitCosts::of_texts(batch) } else { batch.bytes() as u64 };
        // By steps, so that a batch seldom asks.
        let wanted = bytes.next_multiple_of(BATCH_STEP_BYTES).min(limit);
        if wanted <= held {
            return Ok(());
        }
        let what = || format!("{REFUSED}{} and more", esker_graph::counted(batch.len(), "change", "changes"));
        let more = self.reserve_in_turn(&what, &|_| wanted - held)?;
        match &mut batch.memory.reserved {
            Some(own) => own.absorb(more),
            none => *none = Some(more),
        }
        Ok(())
    }

    /// Counts the commits in no layer anew, after a commit has ended or commits were frozen.
    pub(super) fn settle(&self) {
        if self.options.budget.limit_bytes() == u64::MAX {
            return;
        }
        let mut held = self.memory.held();
        if held.in_progress == 0 {
            let taken = self.taken(&held, CommitCosts::of(&self.shown())).0;
            let less = taken.min(held.unfrozen.bytes());
            held.unfrozen.shrink_to(less);
        }
    }

    /// Gives up what only makes freezing and merging faster. Waits for a merge in the background, which gives
    /// back its memory when it ends.
    fn drop_tables(&self) {
        let maintenance = self.maintenance.lock();
        self.shown().below.stack().drop_tables();
        *maintenance.known.lock() = KnownEdges::default();
    }

    /// The number of changes of a batch. The removal of a vertex counts the edges that it has so far.
    pub(super) fn changes_of(&self, batch: &Batch) -> Result<usize> {
        let mut changes = batch.len();
        for id in batch.removed_vertices() {
            let shown = self.shown();
            let Some(v) = shown.vertex_of(id)? else { continue };
            changes += shown.degree(Direction::Out, v)?;
            if shown.below.layer().in_edges {
                changes += shown.degree(Direction::In, v)?;
            }
        }
        Ok(changes)
    }

    /// The bytes that the writer keeps, and that the commits in no layer take now and will take in a freeze;
    /// and whether there are no such commits.
    fn taken(&self, held: &HeldMemory, costs: CommitCosts) -> (u64, bool) {
        let shown = self.shown();
        let bytes = held.kept_bytes + shown.below.decoded_bytes_max() + self.unfrozen_bytes() as u64;
        (bytes + shown.unfrozen.num_edges() as u64 * costs.freeze_bytes, shown.unfrozen.commits.is_empty())
    }

    /// Bytes that stay beside all commits: what the writer keeps, and decoded lists.
    pub(super) fn kept_bytes(&self) -> u64 {
        let decoded_bytes = self.shown().below.decoded_bytes_max();
        self.memory.held().kept_bytes + decoded_bytes
    }

    /// Counts what the writer keeps anew.
    pub(super) fn count_kept(&self, writer: &Writer) {
        self.memory.held().kept_bytes = writer.kept_bytes();
    }

    /// Reserves what the writer of a database that was just opened keeps.
    ///
    /// # Errors
    /// [`esker_graph::Stop::OverBudget`] if it does not fit.
    pub(super) fn reserve_kept(&self) -> Result<()> {
        let kept = self.writer.lock().kept_bytes();
        let decoded_bytes = self.shown().below.decoded_bytes_max();
        let reserved = self.options.budget.reserve(KEPT, kept + decoded_bytes)?;
        let mut held = self.memory.held();
        held.kept_bytes = kept;
        held.unfrozen.absorb(reserved);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Duration;

    use esker_format::io::{Disk, FaultyDisk};
    use esker_graph::Budget;

    use crate::database::testing::model::DB;
    use crate::database::{Database, DatabaseOptions};
    use crate::sample::Sample;

    /// A small database, and its budget of 16 MiB.
    fn limited() -> (Database, Budget) {
        let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(1));
        Sample::random(40, 200, true, 1).write(&disk, Path::new(DB), false).unwrap();
        let budget = Budget::new(16 << 20);
        let options = DatabaseOptions { threads: 1, budget: budget.clone(), ..DatabaseOptions::default() };
        let database = Database::open_on(disk, Path::new(DB), options).unwrap();
        (database, budget)
    }

    /// Such a commit was refused, or not, depending on when the merge ended.
    #[test]
    fn a_commit_waits_for_the_memory_of_a_merge_in_the_background() {
        let (database, budget) = limited();
        let mut batch = database.batch();
        for u in 0..1000_u64 {
            batch.add_vertex(u).unwrap();
        }
        let maintenance = database.core.maintenance.lock();
        let merge = budget.reserve("a merge", budget.free_bytes()).unwrap();
        std::thread::scope(|scope| {
            let commit = scope.spawn(|| database.commit(batch, "many").map(drop));
            std::thread::sleep(Duration::from_millis(100));
            drop(merge);
            drop(maintenance);
            commit.join().unwrap().unwrap();
        });
    }

    /// Edges that moved were refused, although freezing the commits before makes room.
    #[test]
    fn what_belongs_to_no_batch_has_commits_frozen_if_there_is_no_room() {
        let (database, budget) = limited();
        let mut batch = database.batch();
        for u in 0..10_000_u64 {
            batch.add_vertex(u).unwrap();
        }
        database.commit(batch, "many").unwrap();
        let bytes = budget.free_bytes() + 1;
        assert!(budget.try_reserve(bytes).is_none());
        let held = database.reserve("edges that move", bytes).unwrap();
        assert_eq!(held.bytes(), bytes);
        let error = database.reserve("edges that move", budget.free_bytes() + 1).unwrap_err().to_string();
        assert!(error.contains("edges that move"), "{error}");
    }
}
