//! Reads the commits in the log when a database is opened for writing.
//!
//! Commits that take little memory become visible, as after a commit. What exceeds that is frozen on the way,
//! so a log that a crash left long is read once, and within the limit. A commit that exceeds it lies in a
//! scratch file meanwhile.

use std::sync::Arc;

use esker_format::Result;
use esker_format::io::Paging;
use esker_graph::{Reservation, Run};

use super::handle::Core;
use super::layers::Maintenance;
use super::reservation::CommitCosts;
use crate::commit::{Commit, LoggedCommit};
use crate::log::{LogReader, LogStart};

/// Commits that were read but are not visible yet, with their memory.
#[derive(Default)]
struct ReadCommits {
    commits: Vec<Arc<Commit>>,
    reservations: Vec<Reservation>,
    bytes: u64,
    num_edges: u64,
}

impl Core {
    /// Reads the commits that `logged` lists.
    pub(super) fn replay(&self, start: LogStart, logged: &[LoggedCommit], run: &Run) -> Result<()> {
        if logged.is_empty() {
            return Ok(());
        }
        let mut maintenance = self.maintenance.lock();
        let mut reader =
            LogReader::open(Arc::clone(&self.disk), &self.path, start)?.with_cancel(run.cancel());
        let mut read = ReadCommits::default();
        for known in logged {
            run.round(known.summary.num_edges as usize)?;
            let costs = CommitCosts::of(&self.shown());
            let needed = costs.replay_bytes(known.summary.num_edges, known.payload_bytes);
            let budget = &self.options.budget;
            let mut paging = None;
            let reservation = match budget.try_reserve(needed) {
                Some(reservation) => reservation,
                None => {
                    self.freeze_read(&mut maintenance, &mut read, run)?;
                    let what = format!("reading version {} from the log", known.version);
                    budget.reserve(&what, needed).or_else(|refused| {
                        // How much of it is texts, which stay on the heap, shows when it is read.
                        paging = self.options.scratch.then(|| self.disk.paging(&self.path)).flatten();
                        budget.reserve(&what, if paging.is_some() { 0 } else { needed }).map_err(|_| refused)
                    })?
                }
            };
            let is_paging = paging.is_some();
            let commit = self.read_logged(&mut reader, known, paging, run)?;
            read.bytes += commit.bytes() as u64;
            read.num_edges += known.summary.num_edges;
            read.commits.push(commit);
            read.reservations.push(reservation);
            if read.bytes >= self.unfrozen_bytes_max() || is_paging {
                self.freeze_read(&mut maintenance, &mut read, run)?;
            }
        }
        self.show_read(&mut maintenance, read, run)
    }

    /// Reads the next commit of the log, which must be the one that is known.
    fn read_logged(
        &self,
        reader: &mut LogReader,
        known: &LoggedCommit,
        paging: Option<Paging>,
        run: &Run,
    ) -> Result<Arc<Commit>> {
        let mut commit = known.read(reader, &self.path, run.cancel())?;
        commit.paging = paging;
        let mut writer = self.writer.lock();
        writer.replay(&commit, run)?;
        self.count_kept(&writer);
        Ok(Arc::new(commit))
    }

    /// Makes the commits visible, if their index fits; else freezes them.
    fn show_read(&self, maintenance: &mut Maintenance, mut read: ReadCommits, run: &Run) -> Result<()> {
        let index = CommitCosts::of(&self.shown()).commit_bytes.saturating_mul(read.num_edges);
        let Some(reservation) = self.options.budget.try_reserve(index) else {
            return self.freeze_read(maintenance, &mut read, run);
        };
        read.reservations.push(reservation);
        self.show_commits(read.commits)?;
        let mut held = self.memory.held();
        read.reservations.into_iter().for_each(|reservation| held.unfrozen.absorb(reservation));
        drop(held);
        self.settle();
        Ok(())
    }

    /// Writes the commits as a layer.
    fn freeze_read(&self, maintenance: &mut Maintenance, read: &mut ReadCommits, run: &Run) -> Result<()> {
        let read = std::mem::take(read);
        let Some(last) = read.commits.last().map(|commit| commit.version) else { return Ok(()) };
        let (next, _) = self.record_these(maintenance, &self.state(), &read.commits, Vec::new(), run)?;
        self.show(&next, &mut self.writer.lock(), Some(last))?;
        self.log.remove_through(last)
    }
}
