//! The handle of a database: opening, committing, and versions to read.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, MemoryDisk, RealDisk};
use esker_format::{CopyPolicy, Edit, Result, WriteOptions};
use esker_graph::{Budget, Reservation, Run, RunOptions};

use super::batch::resolve::{KEPT, Writer, kept_bytes_of};
use super::layers::{Maintenance, with_commits_in_memory};
use super::reservation::CommitMemory;
use super::shown::{ShownState, StandbyCommits};
use super::unfrozen::UnfrozenCommits;
use crate::commit::{Batch, Commit, LoggedCommit};
use crate::freeze::ChangeCounts;
use crate::log::{Log, LogOptions, LogStart, Sync};
use crate::manifest::{
    Manifest, ManifestWriter, Pinned, Published, Twin, WriterLock, expect_database, lock_writer,
    remove_dead_stagings, remove_strays,
};
use crate::queue::QueueFiles;
use crate::version::{State, Version};

/// Options for writing a database.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    /// When commits are made durable.
    pub sync: Sync,
    /// Commits are frozen in the background once they take this much memory. `None`: as the database says
    /// ([`Database::write_options`]).
    pub freeze_bytes: Option<u64>,
    /// Memory for commits until they are in a layer, including freezing and merging but not file buffers (1
    /// MiB for each column being written). A commit waits for room; one that cannot fit lies in a scratch
    /// file, or is refused with the limit that it needs. The reservations rest on estimates, which hold while
    /// no commit changes a list longer than some million. Runs and imports may share the budget.
    pub budget: Budget,
    /// Whether a commit that does not fit into the budget may lie in a scratch file beside the database,
    /// instead of being refused. Only in a program whose allocator is [`esker_format::io::PagedHeap`]. Large
    /// allocations of all threads lie there meanwhile.
    pub scratch: bool,
    /// Whether to merge layers in the background after freezing. `None`: as the database says.
    pub auto_merge: Option<bool>,
    /// Selects the lists that a layer copies whole. `None`: as the database says.
    pub policy: Option<CopyPolicy>,
    /// Threads for freezing and merging; 0: as many as the machine has.
    pub threads: usize,
    /// The size at which the log starts a new file.
    pub segment_bytes: u64,
    /// Learns when commits are durable.
    pub watch: Option<Arc<dyn CommitWatch>>,
}

/// Learns when a commit passes the point of no return, and when it is durable: before it is visible, and
/// before a background freeze or anything else that may fail.
pub trait CommitWatch: std::fmt::Debug + Send + std::marker::Sync {
    /// The record of a commit is about to be written: from here on the commit may be on the disk.
    fn begin(&self);

    /// After [`CommitWatch::begin`]: nothing was written, because another process that was to commit it
    /// ([`crate::QueuedDatabase`]) has refused it, or it was taken back.
    fn withdraw(&self) {}

    /// The writing has ended. The version, if its record is as durable as [`DatabaseOptions::sync`] requires;
    /// `None` if that is unknown, because writing or syncing failed: the next opening finds it, wholly or not
    /// at all.
    fn end(&self, durable: Option<u64>);
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        let LogOptions { sync, segment_bytes } = LogOptions::default();
        Self {
            sync,
            freeze_bytes: None,
            budget: Budget::default(),
            scratch: true,
            auto_merge: None,
            policy: None,
            threads: 0,
            segment_bytes,
            watch: None,
        }
    }
}

/// A database opened for reading and writing. One process at a time writes; others may read meanwhile
/// ([`crate::Store`]).
///
/// All methods take `&self` and may be called from any thread. Versions are pinned: they never change, and
/// their readers never wait.
///
/// ```
/// # use esker_store::{Database, DatabaseOptions};
/// # fn add(path: &std::path::Path) -> esker_store::Result<()> {
/// let db = Database::open(path, DatabaseOptions::default())?;
/// let mut batch = db.batch();
/// batch.add_edge(1_u64, 2_u64, &[])?;
/// batch.remove_edge(1_u64, 3_u64)?;
/// let version = db.commit(batch, "add one edge, remove another")?;
/// let version = db.at(version)?;
/// # let _ = version;
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

/// The state that all threads share. Threads take the locks `maintenance`, `writer`, `pending` and `standby`
/// in this order.
pub(super) struct Core {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) path: PathBuf,
    pub(super) options: DatabaseOptions,
    pub(super) run: Run,
    pub(super) log: Log,
    /// Held while freezing, merging or changing versions.
    pub(super) maintenance: Mutex<Maintenance>,
    /// Held while building a commit.
    pub(super) writer: Mutex<Writer>,
    /// Commits that are in the log but perhaps not durable yet.
    pub(super) pending: Mutex<VecDeque<Arc<Commit>>>,
    /// Memory reserved for commits.
    pub(super) memory: CommitMemory,
    /// The standby copy of the unfrozen commits; held while publishing a new state.
    standby: Mutex<StandbyCommits>,
    /// What readers pin.
    shown: Published<ShownState>,
    /// The newest version as a state that includes unfrozen commits, built on demand.
    newest: Mutex<Option<(u64, Arc<State>)>>,
    /// The first version that a commit since the opening makes.
    pub(super) first_own: u64,
    /// What these commits changed, as far as they are in layers.
    pub(super) frozen: Mutex<ChangeCounts>,
    /// The thread that freezes and merges in the background.
    pub(super) maintainer: Mutex<Option<std::thread::JoinHandle<Result<()>>>>,
    pub(super) _lock: WriterLock,
}

impl Core {
    /// Pins what is shown now. Do not hold it while waiting: publishing a commit waits for its release.
    pub(super) fn shown(&self) -> Pinned<ShownState> {
        self.shown.pin()
    }

    /// The current layers.
    pub(super) fn state(&self) -> Arc<State> {
        Arc::clone(&self.shown().state)
    }

    /// How commits become layers: as this handle was told, else as the database says.
    pub(super) fn write_options(&self) -> WriteOptions {
        let of_database = self.shown().state.manifest().options();
        WriteOptions {
            policy: self.options.policy.unwrap_or(of_database.policy),
            freeze_bytes: self.options.freeze_bytes.unwrap_or(of_database.freeze_bytes),
            auto_merge: self.options.auto_merge.unwrap_or(of_database.auto_merge),
        }
    }

    /// The current layers, and the commits above them.
    pub(super) fn unfrozen(&self) -> (Arc<State>, Vec<Arc<Commit>>) {
        let shown = self.shown();
        (Arc::clone(&shown.state), shown.unfrozen.commits.clone())
    }

    /// The bytes of memory of the commits in no layer.
    pub(super) fn unfrozen_bytes(&self) -> usize {
        let standby = self.standby.lock().bytes();
        self.shown().unfrozen.bytes() + standby
    }

    /// Makes the next durable commits visible. After an error nothing has changed.
    pub(super) fn show_commits(&self, commits: Vec<Arc<Commit>>) -> Result<()> {
        let mut standby = self.standby.lock();
        let shown = self.shown();
        let unfrozen = standby.with(&shown, &commits, &self.run)?;
        self.shown.publish(shown.with(unfrozen));
        standby.keep(shown.unfrozen.clone(), commits);
        Ok(())
    }

    /// Publishes a state whose newest version is `below`. Its layers hold the commits up to `frozen`.
    pub(super) fn show_state(&self, state: Arc<State>, below: Version, frozen: Option<u64>) -> Result<()> {
        let mut standby = self.standby.lock();
        let shown = self.shown();
        let mut unfrozen = shown.unfrozen.clone();
        if let Some(frozen) = frozen {
            let mut fresh = UnfrozenCommits::over(&below)?;
            let left = shown.unfrozen.commits.iter().filter(|commit| commit.version > frozen);
            left.into_iter().try_for_each(|commit| fresh.apply(commit, &self.run))?;
            unfrozen = Twin::new(fresh);
            *standby = StandbyCommits::default();
        }
        self.shown.publish(ShownState::new(state, below, unfrozen));
        *self.newest.lock() = None;
        Ok(())
    }
}

impl Database {
    /// Opens the database at `path` for writing, and completes the recovery from a crashed process.
    ///
    /// Time: for the layers as [`crate::Store::open`], plus the time to read the log, and to freeze its
    /// commits if a crash left many.
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker_import::Input::memory("web.csv", csv)];
    /// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// use esker_store::{Database, DatabaseOptions};
    ///
    /// let db = Database::open(&path, DatabaseOptions::default())?;
    /// assert!(Database::open(&path, DatabaseOptions::default()).is_err()); // one writer at a time
    /// db.close()?;
    /// assert!(Database::open(&path, DatabaseOptions::default()).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`esker_format::Error::Invalid`] if there is no database, or another process is writing to it;
    /// [`esker_format::Error::Corrupt`]; [`esker_format::Error::Lost`] if a part of the log or of the
    /// manifest is missing (see [`Database::recover`]); [`esker_format::Error::Io`].
    pub fn open(path: impl AsRef<Path>, options: DatabaseOptions) -> Result<Self> {
        Self::open_on(Arc::new(RealDisk), path.as_ref(), options)
    }

    /// As [`Database::open`], on any disk.
    ///
    /// # Errors
    /// As [`Database::open`].
    #[allow(clippy::needless_pass_by_value, reason = "as the other constructors")]
    pub fn open_on(disk: Arc<dyn Disk>, path: &Path, options: DatabaseOptions) -> Result<Self> {
        let run = run_of(&options)?;
        Self::open_with(&disk, path, options, &run)
    }

    /// As [`Database::open`]. The run reports a round for each commit in the log, stops the opening, and its
    /// threads freeze commits that take more memory than [`DatabaseOptions::freeze_bytes`] or a quarter of
    /// the limit.
    ///
    /// # Errors
    /// As [`Database::open`]; cancellation; [`esker_graph::Stop::OverBudget`] if a commit in the log does not
    /// fit.
    pub fn open_under(path: impl AsRef<Path>, options: DatabaseOptions, run: &Run) -> Result<Self> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        Self::open_with(&disk, path.as_ref(), options, run)
    }

    /// As [`Database::open_under`], on any disk.
    pub(crate) fn open_with(
        disk: &Arc<dyn Disk>,
        path: &Path,
        options: DatabaseOptions,
        run: &Run,
    ) -> Result<Self> {
        expect_database(disk.as_ref(), path)?;
        let lock = lock_writer(disk, path)?;
        let manifest = ManifestWriter::open(&lock)?;
        let start = manifest.manifest().log_start();
        Self::open_locked(options, run, lock, manifest, start)
    }

    /// Opens the database after its lock and manifest, with the log as `start` says.
    pub(super) fn open_locked(
        options: DatabaseOptions,
        run: &Run,
        lock: WriterLock,
        mut manifest: ManifestWriter,
        start: LogStart,
    ) -> Result<Self> {
        let (disk, path) = (lock.disk(), lock.database());
        let state = State::read(Arc::clone(&disk), path)?;
        let log_options = LogOptions { sync: options.sync, segment_bytes: options.segment_bytes };
        let mut logged = Vec::new();
        let log = Log::open(&lock, start, log_options, run.cancel(), |record| {
            logged.push(LoggedCommit::of(&record, path)?);
            Ok(())
        })?;
        // If files were lost, the manifest may be an old one: nothing may be removed before the log was
        // compared with it.
        remove_strays(disk.as_ref(), path, state.manifest())?;
        remove_dead_stagings(disk.as_ref(), path);
        if manifest.manifest().log.is_none_or(|mark| mark.version < log.mark().version) {
            log.set_manifest(manifest.append(&[Edit::SetLog(log.mark())])?.head());
        }
        let layers = state.layers().to_vec();
        let state = Arc::new(state.with(Manifest::clone(manifest.manifest()), layers));
        let version = state.version(state.newest())?;
        let known = options.budget.reserve(KEPT, kept_bytes_of(&version, run)?)?;
        let writer = Writer::over(&version, run)?;
        let unfrozen = UnfrozenCommits::over(&version)?;
        let first_own = logged.last().map_or(writer.next_version, |commit| commit.version + 1);
        let core = Core {
            disk,
            path: path.to_owned(),
            run: run_of(&options)?,
            memory: CommitMemory::new(&options.budget),
            options,
            log,
            maintenance: Mutex::new(Maintenance { manifest, known: Mutex::default() }),
            writer: Mutex::new(writer),
            pending: Mutex::default(),
            standby: Mutex::default(),
            shown: Published::new(ShownState::new(state, version, Twin::new(unfrozen))),
            newest: Mutex::default(),
            first_own,
            frozen: Mutex::default(),
            maintainer: Mutex::default(),
            _lock: lock,
        };
        drop(known);
        core.reserve_kept()?;
        core.replay(start, &logged, run)?;
        QueueFiles::of(Arc::clone(&core.disk), &core.path).settle(core.writer.lock().next_version - 1);
        Ok(Self { core: Arc::new(core) })
    }

    /// The directory of the database.
    pub fn path(&self) -> &Path {
        &self.core.path
    }

    /// [`DatabaseOptions::budget`].
    pub fn budget(&self) -> &Budget {
        &self.core.options.budget
    }

    /// [`DatabaseOptions::scratch`].
    pub fn may_scratch(&self) -> bool {
        self.core.options.scratch
    }

    /// An empty batch of changes.
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker_import::Input::memory("web.csv", csv)];
    /// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// # let db = esker_store::Database::open(&path, Default::default())?;
    /// let mut batch = db.batch();
    /// batch.add_edge("carol", "alice", &[])?;
    /// batch.remove_edge("alice", "bob")?;
    /// assert_eq!(batch.len(), 2);
    /// assert_eq!(db.latest()?.num_edges(), 2); // nothing has happened yet
    /// db.commit(batch, "turned round")?;
    /// assert_eq!(db.latest()?.number(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn batch(&self) -> Batch {
        let shown = self.core.shown();
        let properties = &shown.state.manifest().properties;
        let edges = properties.iter().filter(|property| property.owner == esker_format::Owner::Edges);
        let manifest = shown.state.manifest();
        Batch::new(edges.cloned().collect(), shown.state.has_text_ids(), manifest.duplicates())
    }

    /// Reserves the memory of a batch that still grows from [`DatabaseOptions::budget`], so that what never
    /// fits is refused before it takes memory. Freezes the commits in no layer if there is no room. Cheap if
    /// the batch has grown little since the last call.
    ///
    /// # Errors
    /// [`esker_graph::Stop::OverBudget`] if the batch does not fit, with what it needs so far
    /// ([`super::CommitSizing`] finds out what all of it needs); as [`Database::freeze`].
    pub fn make_room(&self, batch: &mut Batch) -> Result<()> {
        self.core.make_room(batch)
    }

    /// Reserves `bytes` of [`DatabaseOptions::budget`] for `what`, which belongs to no batch. Freezes the
    /// commits in no layer if there is no room.
    ///
    /// # Errors
    /// [`esker_graph::Stop::OverBudget`] if they do not fit, with the limit that would suffice; as
    /// [`Database::freeze`].
    pub fn reserve(&self, what: &str, bytes: u64) -> Result<Reservation> {
        self.core.reserve(what, bytes)
    }

    /// Whether a batch and its commit fit into the memory limit once all other commits are frozen and others
    /// have given back their memory, or may lie in a scratch file.
    ///
    /// # Errors
    /// As point reads: the degrees of removed vertices are looked up.
    pub fn fits(&self, batch: &Batch) -> Result<bool> {
        self.core.fits(batch)
    }

    /// Whether a batch and its commit take more than half of the memory limit, so that it is better committed
    /// before it grows.
    pub fn fills_half(&self, batch: &Batch) -> bool {
        self.core.fills_half(batch)
    }

    /// The newest version. If some commits are in no layer yet, the first call builds a layer of them in
    /// memory, which takes time and memory linear in the commits; [`Database::freeze`] writes that layer once
    /// and for all.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`]; [`esker_format::Error::Io`].
    pub fn latest(&self) -> Result<Version> {
        let state = self.core.whole_state()?;
        state.version(state.newest())
    }

    /// The version with a number. As [`Database::latest`] if the version is in no layer yet.
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker_import::Input::memory("web.csv", csv)];
    /// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// # let db = esker_store::Database::open(&path, Default::default())?;
    /// let mut batch = db.batch();
    /// batch.remove_vertex("carol")?;
    /// db.commit(batch, "carol leaves")?;
    /// assert_eq!((db.at(1)?.num_edges(), db.at(2)?.num_edges()), (2, 1));
    /// assert!(db.at(3).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`esker_format::Error::Invalid`] if the version does not exist or was forgotten.
    pub fn at(&self, version: u64) -> Result<Version> {
        self.core.expect_version(version)?;
        let state = self.core.state();
        if version <= state.newest() {
            return state.version(version);
        }
        self.core.whole_state()?.version(version)
    }

    /// Waits for freezing and merging in the background.
    ///
    /// # Errors
    /// An error of that work.
    pub fn wait_for_background(&self) -> Result<()> {
        self.join_maintainer()
    }

    /// Waits for the work in the background and closes the log, which makes the next opening fast. Dropping
    /// the database does the same but cannot report errors. Commits that are in no layer stay in the log.
    ///
    /// # Errors
    /// An error of the work in the background; [`esker_format::Error::Io`].
    pub fn close(self) -> Result<()> {
        self.join_maintainer()?;
        // Dropping the log writes its closing record; if that fails, only the next opening takes longer.
        self.core.finish()
    }
}

impl Core {
    /// Returns once all commits up to a version are durable and visible.
    pub(super) fn make_visible(&self, version: u64) -> Result<()> {
        if version < self.log.next_version() && version > self.log.durable_version() {
            self.log.wait(version)?;
        }
        let mut pending = self.pending.lock();
        let count = pending.partition_point(|commit| commit.version <= version);
        if count > 0 {
            self.show_commits(pending.range(..count).cloned().collect())?;
            pending.drain(..count);
        }
        Ok(())
    }

    /// The layers, with one more layer in memory for the commits above them.
    pub(super) fn whole_state(&self) -> Result<Arc<State>> {
        let (state, commits) = self.unfrozen();
        let Some(newest) = commits.last().map(|commit| commit.version) else { return Ok(state) };
        if let Some((version, whole)) = &*self.newest.lock()
            && *version == newest
        {
            return Ok(Arc::clone(whole));
        }
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let whole = with_commits_in_memory(&state, &commits, &disk, self.write_options().policy, &self.run)?;
        let mut kept = self.newest.lock();
        // Do not keep the result if the layers were replaced meanwhile.
        if Arc::ptr_eq(&self.state(), &state) {
            *kept = Some((newest, Arc::clone(&whole)));
        }
        Ok(whole)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Only `close` reports errors of the work in the background.
        let _ = self.join_maintainer();
        let _ = self.core.finish();
    }
}

/// The run of the background work.
fn run_of(options: &DatabaseOptions) -> Result<Run> {
    let (threads, budget) = (options.threads, options.budget.clone());
    Ok(Run::new(RunOptions { threads, budget, ..RunOptions::default() })?)
}
