//! Large commits, which become a layer at once and never enter the dynamic graph.
//!
//! If the policy would merge the new layer right away, the layer is made in memory only, and the merged one
//! is what the disk gets: the changes are written once, and synced once.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SendError, sync_channel};
use std::time::Duration;

use esker_format::io::{Disk, MemoryDisk};
use esker_format::{CopyPolicy, Edit, Error, Result};
use esker_graph::{Cancel, Run, VertexId};

use crate::commit::Commit;
use crate::database::handle::{Core, Database};
use crate::database::layers::{CommitLayer, Maintenance, layer_of_commits};
use crate::database::reservation::CommitCosts;
use crate::database::upkeep::maintain::NextState;
use crate::database::upkeep::merging::MergeRequest;
use crate::freeze::ChangeCounts;
use crate::merge::policy;
use crate::version::State;

/// Interval between checks for cancellation while a commit is frozen.
const CANCEL_EVERY: Duration = Duration::from_millis(10);
/// A merge of more than this many times the size of the commits is left to the background: the committer
/// would wait for it.
const MERGED_MAX: u64 = 4;
/// A changed list of a layer in memory, at most: where it lies, and which list it continues.
const LIST_BYTES: u64 = 64;

impl Database {
    /// [`Core::freeze_at_once`] on another thread, so that the caller need not wait once it is cancelled: a
    /// large commit takes seconds. The thread then goes on in the background, and shows the commit. Returns
    /// `true` if so.
    pub(crate) fn freeze_attended(&self, version: u64, cancel: &Cancel) -> Result<bool> {
        let (core, shared) = (&self.core, Arc::clone(&self.core));
        let (sender, receiver) = sync_channel(0);
        let work = move || {
            let outcome = shared.freeze_at_once(version);
            match sender.send(outcome) {
                Ok(()) => Ok(()),
                // The caller went away.
                Err(SendError(Ok(true))) => Ok(()),
                Err(SendError(Ok(false))) => shared.make_visible(version),
                Err(SendError(Err(error))) => Err(error),
            }
        };
        let thread = std::thread::Builder::new().name("esker-freeze".to_owned());
        let Ok(thread) = thread.spawn(work) else { return core.freeze_at_once(version) };
        loop {
            let outcome = match receiver.recv_timeout(CANCEL_EVERY) {
                Ok(outcome) => outcome,
                Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => break,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    Err(Error::invalid("the thread that freezes a commit panicked".to_owned()))
                }
            };
            let _ = thread.join(); // A panic is in the outcome.
            return outcome;
        }
        drop(receiver);
        let before = core.maintainer.lock().replace(thread);
        // Usually none is there: had it been at work, the thread would not have begun to freeze.
        if let Some(Ok(Err(error))) = before.map(std::thread::JoinHandle::join) {
            core.writer.lock().fail(error);
        }
        Ok(true)
    }
}

impl Core {
    /// Whether a commit alone would be due for a freeze as soon as it is visible.
    pub(crate) fn is_large(&self, commit: &Commit) -> bool {
        let index_bytes =
            CommitCosts::of(&self.shown()).index_bytes.saturating_mul(commit.edges.len() as u64);
        index_bytes.saturating_add(commit.bytes() as u64) >= self.unfrozen_bytes_max()
    }

    /// Writes the durable commits up to `version`, a large one, straight to a layer and shows them, so that
    /// they never enter the dynamic graph. Returns whether it did: not if a freeze or merge is under way,
    /// another thread has shown them, or the layer cannot be written; then nothing has changed.
    ///
    /// # Errors
    /// If the new layer cannot be shown. Then commits are refused.
    pub(crate) fn freeze_at_once(&self, version: u64) -> Result<bool> {
        let Some(mut maintenance) = self.maintenance.try_lock() else { return Ok(false) };
        let (state, commits) = {
            // Commits leave this queue when they become visible.
            let pending = self.pending.lock();
            let (state, mut commits) = self.unfrozen();
            let count = pending.partition_point(|commit| commit.version <= version);
            if count == 0 {
                return Ok(false);
            }
            commits.extend(pending.range(..count).cloned());
            (state, commits)
        };
        let merged = self.record_merged(&mut maintenance, &state, &commits, &self.run);
        let recorded = match merged {
            Ok(Some(merged)) => Ok(merged),
            // The layer alone takes less memory and room on the disk.
            Ok(None) | Err(_) => self.record_these(&mut maintenance, &state, &commits, Vec::new(), &self.run),
        };
        let Ok((next, counts)) = recorded else { return Ok(false) };
        self.frozen.lock().add(&counts);
        drop(commits);
        {
            let mut writer = self.writer.lock();
            let mut pending = self.pending.lock();
            self.show(&next, &mut writer, Some(version))?;
            let count = pending.partition_point(|commit| commit.version <= version);
            pending.drain(..count);
        }
        self.settle();
        if let Err(error) = self.log.remove_through(version) {
            // The commit is durable and visible; later ones are refused, as if the background thread had
            // failed.
            self.writer.lock().fail(error);
        }
        Ok(true)
    }

    /// Writes the layer of commits that follow the newest version of a state, merged with the layers that the
    /// policy would merge it with, and records it in the manifest. `None` if no merge is due, or memory does
    /// not suffice: then nothing has changed.
    fn record_merged(
        &self,
        maintenance: &mut Maintenance,
        state: &Arc<State>,
        commits: &[Arc<Commit>],
        run: &Run,
    ) -> Result<Option<(NextState, ChangeCounts)>> {
        if !self.write_options().auto_merge || !may_merge(state, commits) {
            return Ok(None);
        }
        let Some(_memory) = self.options.budget.try_reserve(layer_bytes(state, commits)) else {
            return Ok(None);
        };
        // A layer must not hold commits that the log could lose.
        self.log.sync()?;
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        // Above the complete layer alone, the merge joins each list with its older part: copying that part
        // before would be for nothing.
        let policy = match state.layers() {
            [_] => CopyPolicy::Chain,
            _ => self.write_options().policy,
        };
        let known = Some(&maintenance.known);
        let CommitLayer { state: whole, number, edits, counts } =
            layer_of_commits(state, commits, &disk, self.first_own, known, policy, run)?;
        let sizes: Vec<u64> = whole.layers().iter().map(|layer| policy::size_of(layer.record())).collect();
        let Some(which) = policy::due(&sizes).pop().filter(|which| which.end == sizes.len()) else {
            return Ok(None);
        };
        let mut written = self.write_merged(maintenance, &whole, which, MergeRequest::default(), run)?;
        let is_of_commits = |edit: &Edit| match edit {
            Edit::RemoveLayer { number: removed } => *removed == number,
            _ => false,
        };
        written.edits.retain(|edit| !is_of_commits(edit));
        // The layer in memory is no layer of the manifest; all else that came with it is.
        let (properties, versions) = edits
            .into_iter()
            .filter(|edit| !matches!(edit, Edit::AddLayer(_)))
            .partition::<Vec<Edit>, _>(|edit| matches!(edit, Edit::AddProperty(_)));
        written.edits.splice(..0, properties);
        written.edits.extend(versions);
        let next = self.prepare(maintenance, state, written)?;
        self.record(maintenance, &next)?;
        Ok(Some((next, counts)))
    }
}

/// Whether the layer of the commits, with all their edges new, would be merged, with layers that are not much
/// larger.
fn may_merge(state: &State, commits: &[Arc<Commit>]) -> bool {
    let (arcs, lists) = arcs_of(state, commits);
    let own = arcs.saturating_add(lists);
    let mut sizes: Vec<u64> = state.layers().iter().map(|layer| policy::size_of(layer.record())).collect();
    sizes.push(own);
    let merged = policy::due(&sizes).pop().filter(|which| which.end == sizes.len());
    merged.is_some_and(|which| sizes[which].iter().sum::<u64>() <= own.saturating_mul(MERGED_MAX))
}

/// The memory that the layer of the commits takes, at most.
fn layer_bytes(state: &State, commits: &[Arc<Commit>]) -> u64 {
    let (arcs, lists) = arcs_of(state, commits);
    let values = commits.first().map_or(0, |commit| commit.rows.len()) as u64;
    // What a file in memory holds doubles when it grows.
    let arc_bytes = 2 * (size_of::<VertexId>() as u64 + size_of::<u64>() as u64 * values);
    let own: u64 = commits.iter().map(|commit| commit.bytes() as u64).sum();
    arcs.saturating_mul(arc_bytes).saturating_add(lists.saturating_mul(LIST_BYTES)).saturating_add(own)
}

/// The arcs and the lists that the commits change in the lists of both directions, at most.
fn arcs_of(state: &State, commits: &[Arc<Commit>]) -> (u64, u64) {
    let edges: u64 = commits.iter().map(|commit| commit.edges.len() as u64).sum();
    let layer = state.layers()[0].record();
    let arcs = if layer.directed && !layer.in_edges { edges } else { 2 * edges };
    let num_vertices = commits.last().map_or(0, |commit| commit.num_vertices);
    (arcs, arcs.min(2 * num_vertices))
}
