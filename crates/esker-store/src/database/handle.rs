//! The handle: opening, committing, and what readers get.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use esker_graph::{Direction, Run, RunOptions, VertexId};

use crate::commit::{Batch, Commit};
use crate::error::{Error, Result};
use crate::freeze::CopyPolicy;
use crate::io::{Disk, Lock, MemoryDisk, RealDisk};
use crate::log::{Log, LogOptions, Sync, log_directory};
use crate::snapshot::{Snapshot, State};
use crate::version::{MANIFEST_NAME, ManifestWriter, Pinned, Published, Twin, lock_writer};

use super::layers::{Maintenance, remove_strays, with_commits_in_memory};
use super::live::Live;
use super::room::Promises;
use super::view::{Hidden, View};
use super::write::Writer;

/// With a limit of memory, freezing and merging in the background have one part in so many of it for what only makes them faster, and
/// for chunks of lists.
const MAINTENANCE_SHARE: u64 = 4;

/// How a database is written.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    /// When commits are made durable.
    pub sync: Sync,
    /// Commits become a layer by themselves once they take so much memory.
    pub delta_bytes: u64,
    /// The most memory that commits take, from when they are made until they are in a layer, freezing them and merging layers
    /// included, but not the buffers of files (1 MiB for each column that is being written); `None`: no limit. Commits wait for room; one for
    /// which there can be none is refused with what it would need. It is kept by estimates, as long as no list that a commit changes is longer
    /// than some million.
    pub memory_bytes: Option<u64>,
    /// Whether layers are merged by themselves after freezing.
    pub auto_merge: bool,
    /// Which lists a layer copies whole.
    pub policy: CopyPolicy,
    /// Threads for freezing and merging; 0: as many as the machine has.
    pub threads: usize,
    /// The log begins a new file at this size.
    pub segment_bytes: u64,
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        let LogOptions { sync, segment_bytes } = LogOptions::default();
        let policy = CopyPolicy::default();
        let (delta_bytes, memory_bytes) = (64 << 20, None);
        Self { sync, delta_bytes, memory_bytes, auto_merge: true, policy, threads: 0, segment_bytes }
    }
}

/// A database, open for reading and writing. One process at a time writes; others read meanwhile ([`crate::Store`]).
///
/// All methods take `&self` and may be called from any thread. Snapshots are pinned: they stay as they are, whatever happens
/// to the database, and readers of one never wait.
///
/// ```
/// # use esker_store::{Database, DatabaseOptions};
/// # fn add(path: &std::path::Path) -> esker_store::Result<()> {
/// let db = Database::open(path, DatabaseOptions::default())?;
/// let mut batch = db.batch();
/// batch.add_edge(1_u64, 2_u64, &[])?;
/// batch.remove_edge(1_u64, 3_u64)?;
/// let version = db.commit(batch, "one more, one less")?;
/// let snapshot = db.at(version)?;
/// # let _ = snapshot;
/// db.close()
/// # }
/// ```
pub struct Database {
    pub(super) core: Arc<Core>,
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("path", &self.core.path).finish_non_exhaustive()
    }
}

/// What threads share.
pub(super) struct Core {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) path: PathBuf,
    pub(super) options: DatabaseOptions,
    pub(super) run: Run,
    pub(super) log: Log,
    /// Taken first: freezing, merging and changes of versions, one at a time.
    pub(super) maintenance: Mutex<Maintenance>,
    /// Taken next: whoever makes a commit.
    pub(super) writer: Mutex<Writer>,
    /// Taken next: commits that are in the log, but perhaps not durable.
    pub(super) pending: Mutex<VecDeque<Arc<Commit>>>,
    /// What commits that are on their way may take.
    pub(super) promises: Promises,
    /// Taken last, by whoever is about to show something new.
    hidden: Mutex<Hidden>,
    /// What readers see.
    view: Published<View>,
    /// The newest version with the commits that are in no layer, if somebody asked for it.
    newest: Mutex<Option<(u64, Arc<State>)>>,
    /// The thread that freezes and merges in the background.
    pub(super) worker: Mutex<Option<std::thread::JoinHandle<Result<()>>>>,
    pub(super) _lock: Box<dyn Lock>,
}

/// Takes a lock, whatever became of its last holder.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Core {
    /// What readers see. Not to be kept while anything is waited for: whoever commits waits for its end.
    pub(super) fn view(&self) -> Pinned<View> {
        self.view.pin()
    }

    /// The layers.
    pub(super) fn state(&self) -> Arc<State> {
        Arc::clone(&self.view().state)
    }

    /// The layers, and the commits over them.
    pub(super) fn unfrozen(&self) -> (Arc<State>, Vec<Arc<Commit>>) {
        let view = self.view();
        (Arc::clone(&view.state), view.live.commits.clone())
    }

    /// Bytes of memory that the commits in no layer take.
    pub(super) fn live_bytes(&self) -> usize {
        let hidden = locked(&self.hidden).bytes();
        self.view().live.bytes() + hidden
    }

    /// Shows durable commits, the next ones. If that fails, nothing has changed.
    fn show_commits(&self, commits: Vec<Arc<Commit>>) -> Result<()> {
        let mut hidden = locked(&self.hidden);
        let shown = self.view();
        let live = hidden.with(&shown, &commits, &self.run)?;
        self.view.publish(shown.with(live));
        hidden.keep(shown.live.clone(), commits);
        Ok(())
    }

    /// Shows a state, whose newest version is `below`. Commits up to `frozen` are in its layers.
    pub(super) fn show_state(&self, state: Arc<State>, below: Snapshot, frozen: Option<u64>) -> Result<()> {
        let mut hidden = locked(&self.hidden);
        let shown = self.view();
        let mut live = shown.live.clone();
        if let Some(frozen) = frozen {
            let mut fresh = Live::over(&below)?;
            let left = shown.live.commits.iter().filter(|commit| commit.version > frozen);
            left.into_iter().try_for_each(|commit| fresh.apply(commit, &self.run))?;
            live = Twin::new(fresh);
            *hidden = Hidden::default();
        }
        self.view.publish(View::new(state, below, live));
        *locked(&self.newest) = None;
        Ok(())
    }
}

impl Database {
    /// Opens the database at `path` for writing, after finishing what a process that died left behind.
    ///
    /// Time: for the layers, as [`crate::Store::open`]; and for reading the log.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no database, or another process writes to it; [`Error::Corrupt`]; [`Error::Io`].
    pub fn open(path: impl AsRef<Path>, options: DatabaseOptions) -> Result<Self> {
        Self::open_on(Arc::new(RealDisk), path.as_ref(), options)
    }

    /// As [`Database::open`], on any disk.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub fn open_on(disk: Arc<dyn Disk>, path: &Path, options: DatabaseOptions) -> Result<Self> {
        if disk.look(&path.join(MANIFEST_NAME))?.is_none() {
            let name = path.display();
            return Err(Error::Invalid(format!("{name} is not a database: check the name, or import to it")));
        }
        let lock = lock_writer(disk.as_ref(), path)?;
        let manifest = ManifestWriter::open(Arc::clone(&disk), path)?;
        let state = Arc::new(State::read(Arc::clone(&disk), path)?);
        remove_strays(disk.as_ref(), path, state.manifest())?;
        let memory_bytes = options.memory_bytes.map(|bytes| bytes / MAINTENANCE_SHARE);
        let run = Run::new(RunOptions { threads: options.threads, memory_bytes, ..RunOptions::default() })?;
        let snapshot = state.snapshot(state.newest())?;
        let mut writer = Writer::over(&snapshot, &run)?;
        let start = manifest.manifest().log_start();
        let mut live = Live::over(&snapshot)?;
        let log_options = LogOptions { sync: options.sync, segment_bytes: options.segment_bytes };
        let log_path = log_directory(path);
        let log = Log::open(Arc::clone(&disk), path, start, log_options, |record| {
            let commit = Commit::decode(record.version, record.payload, &log_path)?;
            writer.replay(&commit)?;
            live.apply(&Arc::new(commit), &run)
        })?;
        let core = Core {
            disk,
            path: path.to_owned(),
            options,
            run,
            log,
            maintenance: Mutex::new(Maintenance { manifest, known: Mutex::default() }),
            writer: Mutex::new(writer),
            pending: Mutex::default(),
            promises: Promises::default(),
            hidden: Mutex::default(),
            view: Published::new(View::new(state, snapshot, Twin::new(live))),
            newest: Mutex::default(),
            worker: Mutex::default(),
            _lock: lock,
        };
        Ok(Self { core: Arc::new(core) })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.core.path
    }

    /// An empty batch of changes.
    pub fn batch(&self) -> Batch {
        let view = self.core.view();
        let properties = &view.state.manifest().properties;
        let edges = properties.iter().filter(|property| property.owner == crate::format::Owner::Edges);
        Batch::new(edges.cloned().collect(), view.state.has_text_ids())
    }

    /// Makes the changes of a batch a version, durably (see [`DatabaseOptions::sync`]); its number. Several threads may commit at
    /// the same time: their commits share syncs.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the batch asks for what cannot be: nothing happened then. [`Error::Io`] if the log cannot be
    /// written: the commit is not seen, but may be there when the database is opened again, wholly; until then nothing more can
    /// be committed. [`esker_graph::Stop::OverBudget`] if it does not fit [`DatabaseOptions::memory_bytes`].
    pub fn commit(&self, batch: Batch, message: &str) -> Result<u64> {
        let core = &self.core;
        let room = core.room_for(&batch)?;
        let version = {
            let mut writer = locked(&core.writer);
            writer.expect_sound()?;
            if batch.removes_vertices() {
                // What edges they have must be seen to be removed.
                let before = writer.next_version - 1;
                core.settle(before).map_err(|error| writer.fail(error))?;
            }
            let neighbours = |v: VertexId| core.all_edges(v);
            let (commit, payload) = writer.resolve(&batch, message, &neighbours)?;
            drop(batch);
            let (version, commit) = (commit.version, Arc::new(commit));
            core.log.append(version, 0, &payload).map_err(|error| writer.fail(error))?;
            locked(&core.pending).push_back(commit);
            version
        };
        let settled = core.settle(version);
        settled.map_err(|error| locked(&core.writer).fail(error))?;
        drop(room);
        self.perhaps_maintain();
        Ok(version)
    }

    /// The newest version. If commits are in no layer yet, they are made one in memory first, which takes time and memory
    /// by their number; [`Database::freeze`] does it once for all.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`].
    pub fn snapshot(&self) -> Result<Snapshot> {
        let state = self.core.whole_state()?;
        state.snapshot(state.newest())
    }

    /// The version of a number. As [`Database::snapshot`], if it is in no layer yet.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such version, or it was forgotten.
    pub fn at(&self, version: u64) -> Result<Snapshot> {
        let state = self.core.state();
        if version <= state.newest() {
            return state.snapshot(version);
        }
        self.core.whole_state()?.snapshot(version)
    }

    /// Waits for what is done in the background, and closes the log, so that the next opening is quick. Dropping the database
    /// does the same, but cannot say what fails. Commits that are in no layer stay in the log.
    ///
    /// # Errors
    /// What failed in the background; [`Error::Io`].
    pub fn close(self) -> Result<()> {
        self.join_worker()?;
        // Dropping the log writes its last record; if that fails, no more than time is lost at the next opening.
        self.core.log.sync()
    }
}

impl Core {
    /// Returns once all commits up to a version are durable and seen.
    pub(super) fn settle(&self, version: u64) -> Result<()> {
        if version < self.log.next_version() && version > self.log.durable_version() {
            self.log.wait(version)?;
        }
        let mut pending = locked(&self.pending);
        let count = pending.partition_point(|commit| commit.version <= version);
        if count > 0 {
            self.show_commits(pending.range(..count).cloned().collect())?;
            pending.drain(..count);
        }
        Ok(())
    }

    /// The layers, and one in memory for the commits over them.
    pub(super) fn whole_state(&self) -> Result<Arc<State>> {
        let (state, commits) = self.unfrozen();
        let Some(newest) = commits.last().map(|commit| commit.version) else { return Ok(state) };
        if let Some((version, whole)) = &*locked(&self.newest)
            && *version == newest
        {
            return Ok(Arc::clone(whole));
        }
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let whole = with_commits_in_memory(&state, &commits, &disk, self.options.policy, &self.run)?;
        let mut kept = locked(&self.newest);
        // Unless the layers were replaced meanwhile.
        if Arc::ptr_eq(&self.state(), &state) {
            *kept = Some((newest, Arc::clone(&whole)));
        }
        Ok(whole)
    }

    /// All edges of a vertex, as of what is seen.
    pub(super) fn all_edges(&self, v: VertexId) -> Result<Vec<(VertexId, VertexId)>> {
        let view = self.view();
        let mut edges = Vec::new();
        for (target, _) in view.list(Direction::Out, v)? {
            edges.push((v, target));
        }
        if view.below.is_directed() {
            for (source, _) in view.list(Direction::In, v)? {
                edges.push((source, v));
            }
        }
        Ok(edges)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // What failed in the background is told by `close` alone.
        let _ = self.join_worker();
    }
}

impl Writer {
    pub(super) fn expect_sound(&self) -> Result<()> {
        match &self.failure {
            Some(first) => Err(Error::Invalid(format!(
                "nothing more can be committed since this failed: {first}; open the database again"
            ))),
            None => Ok(()),
        }
    }

    /// Remembers what failed, and refuses everything from now on.
    pub(super) fn fail(&mut self, error: Error) -> Error {
        self.failure.get_or_insert_with(|| error.to_string());
        error
    }
}
