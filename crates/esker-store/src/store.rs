//! The handle of a database opened for reading only.

use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, MemoryDisk, RealDisk};
use esker_format::{Error, LIVE_DIRECTORY, LiveContent, LiveFound, Result, left_live_files};
use esker_format::{Retention, VersionRecord};
use esker_graph::{Reservation, Run};
use esker_layers::property::{REMOVED_NUMBER, removed_by_version};

use crate::check::{Report, check};
use crate::commit::LoggedCommit;
use crate::database::with_commits_in_memory;
use crate::log::LogReader;
use crate::manifest::{MANIFEST_NAME, Manifest, Strays, expect_database, not_retained, strays};
use crate::version::{State, Version};

/// A database opened for reading. Any number of threads and processes may read at the same time, also from
/// read-only media and while another process writes.
///
/// It shows the database as of the opening, plus the commits in the log as of the first call that needs them,
/// [`Store::pin`] at the latest. That call lists these commits without reading their changes; later versions
/// stay unseen, whatever writers do. The first call that needs the changes builds a layer of them in memory,
/// which takes time and memory linear in the commits: see [`Store::under`].
///
/// ```
/// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
/// # let path = directory.path().join("web.esker");
/// # let edges = [esker_import::Input::memory("web.csv", csv)];
/// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
/// use esker_store::Store;
///
/// let store = Store::open(&path)?; // the same short time whatever the size
/// let newest = store.latest()?;
/// assert_eq!((newest.num_vertices(), newest.num_edges()), (3, 2));
/// assert_eq!(store.versions()?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Store {
    state: Arc<State>,
    tail: Arc<Mutex<Option<LoggedTail>>>,
    run: Option<Arc<Run>>,
}

/// The commits that are in no layer, listed from the log.
#[derive(Debug, Default)]
struct LoggedTail {
    /// The layers, if a writer changed them since the store was opened.
    state: Option<Arc<State>>,
    commits: Vec<LoggedCommit>,
    /// The newest version when the log was first listed: later ones are not shown.
    newest: u64,
    /// The layers, with the commits as one more layer.
    whole: Option<WholeState>,
}

/// Layers of which the last one is in memory.
#[derive(Debug)]
struct WholeState {
    state: Arc<State>,
    _memory: Reservation,
}

/// A commit that is in no layer yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitInLog {
    /// Its version.
    pub version: u64,
    /// The number of its changes of edges.
    pub num_edges: u64,
    /// The number of its other changes.
    pub num_others: u64,
    /// By how much it changes the number of removed vertices.
    pub removed_growth: i64,
}

/// The result of [`Store::check_log`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogCheck {
    /// The number of commits in the log.
    pub commits: usize,
    /// The files that grow, the log and MANIFEST, if they end with bytes that are no complete record, and the
    /// number of these bytes. A writer died there or is still writing, or the bytes are damaged; they hold
    /// nothing that another file knows of. The next writer removes them.
    pub unfinished: Vec<(PathBuf, u64)>,
}

/// The memory that a layer in memory takes, for each byte of its commits in the log: while it is made, and
/// then.
const LAYER_BYTES_PER_BYTE: [u64; 2] = [8, 4];

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("path", &self.path()).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the database at `path`. Takes the same short time whatever its size: it reads the manifest and a
    /// page of each file.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no database, or one of a kind that this build cannot read;
    /// [`Error::Io`];
    /// [`Error::Corrupt`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_on(Arc::new(RealDisk), path.as_ref())
    }

    /// As [`Store::open`], on any disk.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_on(disk: Arc<dyn Disk>, path: &Path) -> Result<Self> {
        expect_database(disk.as_ref(), path)?;
        let state = Arc::new(State::read(disk, path)?);
        Ok(Self { state, tail: Arc::default(), run: None })
    }

    /// The same, with a run that reads the commits in the log: it reports a round for each, stops the
    /// reading, and lends its threads and memory.
    pub fn under(self, run: impl Into<Arc<Run>>) -> Self {
        Self { run: Some(run.into()), ..self }
    }

    /// The directory of the database.
    pub fn path(&self) -> &Path {
        self.state.path()
    }

    /// The disk that holds the database.
    pub fn disk(&self) -> &Arc<dyn Disk> {
        self.state.disk()
    }

    /// The manifest, which does not include commits that are in no layer.
    pub fn manifest(&self) -> &Arc<Manifest> {
        self.state.manifest()
    }

    /// The manifest, if it has all records that the log knows of: an older copy of it would have other tags,
    /// options and retention.
    ///
    /// # Errors
    /// [`Error::Lost`] if records are missing; as [`Store::versions`].
    pub fn whole_manifest(&self) -> Result<&Arc<Manifest>> {
        self.versions()?;
        Ok(self.manifest())
    }

    /// Lists the commits in the log, so that no later version is shown.
    ///
    /// # Errors
    /// As [`Store::versions`].
    pub fn pin(&self) -> Result<()> {
        self.with_tail(|_, _| Ok(()))
    }

    /// The newest version.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`].
    pub fn latest(&self) -> Result<Version> {
        self.with_tail(|store, tail| tail.whole(store)?.version(tail.newest))
    }

    /// The version with a number.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the version does not exist or was forgotten; [`Error::Corrupt`]; [`Error::Io`].
    pub fn at(&self, version: u64) -> Result<Version> {
        if version <= self.state.newest() {
            // Commits in the log may make the retention forget it.
            if self.manifest().retention == Retention::All || self.has(version)? {
                return self.state.version(version);
            }
        }
        self.with_tail(|store, tail| match version <= tail.newest {
            true => tail.whole(store)?.version(version),
            false => Err(Error::invalid(format!(
                "{} had no version {version} when it was opened: the newest was {}",
                store.path().display(),
                tail.newest
            ))),
        })
    }

    /// All versions, oldest first. Commits that are in no layer yet have 0 as the numbers of edges, which are
    /// not known.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`].
    pub fn versions(&self) -> Result<Vec<VersionRecord>> {
        self.with_tail(|_, tail| {
            let state = tail.state(self);
            let later = tail.commits.iter().map(|commit| (commit.version, commit.summary.time_ms));
            let hidden: BTreeSet<u64> = not_retained(state.manifest(), later).into_iter().collect();
            let frozen = state.manifest().versions.iter().cloned();
            let versions = frozen.chain(tail.commits.iter().map(LoggedCommit::record));
            let is_shown =
                |version: &VersionRecord| version.number <= tail.newest && !hidden.contains(&version.number);
            Ok(versions.filter(is_shown).collect())
        })
    }

    fn has(&self, version: u64) -> Result<bool> {
        Ok(self.versions()?.iter().any(|known| known.number == version))
    }

    /// The commits that are in no layer yet, oldest first. Reads none of their changes.
    ///
    /// # Errors
    /// As [`Store::versions`].
    pub fn commits_in_log(&self) -> Result<Vec<CommitInLog>> {
        let of = |commit: &LoggedCommit| CommitInLog {
            version: commit.version,
            num_edges: commit.summary.num_edges,
            num_others: commit.summary.num_others,
            removed_growth: commit.summary.removed_growth,
        };
        self.with_tail(|_, tail| Ok(tail.commits.iter().map(of).collect()))
    }

    /// Whether the next call that needs the changes of the commits in the log has to read them first.
    ///
    /// # Errors
    /// As [`Store::versions`].
    pub fn has_unread_commits(&self) -> Result<bool> {
        self.with_tail(|_, tail| Ok(!tail.commits.is_empty() && tail.whole.is_none()))
    }

    /// The newest version in the layers, also if the retention does not keep it beside the commits in the
    /// log.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`].
    pub fn frozen(&self) -> Result<Version> {
        self.state.version(self.state.newest())
    }

    /// The number of removed vertices, for each version that changes it: pairs of version and count,
    /// ascending. Reads no changes of commits in the log.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`]; cancellation.
    pub fn removed_by_version(&self, run: &Run) -> Result<Vec<(u64, u64)>> {
        self.with_tail(|store, tail| {
            let mut layers = Vec::new();
            for layer in tail.state(store).layers() {
                if let Some(column) = layer.vertex_property(REMOVED_NUMBER) {
                    layers.push((Arc::clone(column), layer.lists().versions()?));
                }
            }
            let mut removed = removed_by_version(&layers, run)?;
            removed.retain(|&(version, _)| version <= tail.newest);
            for commit in tail.commits.iter().filter(|commit| commit.summary.removed_growth != 0) {
                let before = removed.last().map_or(0, |last| last.1);
                removed.push((commit.version, before.saturating_add_signed(commit.summary.removed_growth)));
            }
            Ok(removed)
        })
    }

    /// Compares all checksums of the log, and what log and manifest say of each other. Returns the number of
    /// commits in it.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Lost`]; [`Error::Io`]; cancellation.
    pub fn check_log(&self, run: &Run) -> Result<LogCheck> {
        let (_, mut checked) = Manifest::read_with(self.disk().as_ref(), self.path(), |manifest| {
            let reader = LogReader::open(Arc::clone(self.disk()), self.path(), manifest.log_start())?;
            let mut reader = reader.with_cancel(run.cancel());
            let mut commits = 0;
            while reader.verify_next()?.is_some() {
                commits += 1;
            }
            Ok(LogCheck { commits, unfinished: reader.unfinished().into_iter().collect() })
        })?;
        let manifest = self.path().join(MANIFEST_NAME);
        let bytes = Manifest::unfinished_bytes(self.disk().as_ref(), &manifest)?;
        checked.unfinished.extend((bytes > 0).then_some((manifest, bytes)));
        Ok(checked)
    }

    /// Reads the states of live answers that were kept. Returns what is wrong with those that cannot be used:
    /// they are computed anew, and the graph does not depend on them.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Stop`] without memory for one of them; cancellation.
    pub fn check_live(&self, run: &Run) -> Result<Vec<String>> {
        let (disk, directory) = (self.disk().as_ref(), self.path().join(LIVE_DIRECTORY));
        if disk.look(&directory)?.is_none() {
            return Ok(Vec::new());
        }
        let left = left_live_files(disk, &directory)?;
        let mut problems = Vec::new();
        for entry in disk.list(&directory)?.iter().filter(|entry| !entry.is_directory) {
            run.check()?;
            let path = directory.join(&entry.name);
            if left.iter().any(|(left, _)| *left == path) {
                continue;
            }
            if let LiveFound::Unusable(reason) =
                LiveContent::read(disk, &path, self.manifest().database, run)?
            {
                problems.push(reason);
            }
        }
        Ok(problems)
    }

    /// Lists what lies among the layers and is not named by the manifest as it is now: what a writer that
    /// died has left, and what is not Esker's.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`].
    pub fn strays(&self) -> Result<Strays> {
        strays(self.disk().as_ref(), self.path())
    }

    /// Checks everything in the newest version: see [`crate::check`].
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker_import::Input::memory("web.csv", csv)];
    /// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// use esker_graph::Run;
    /// use esker_store::Store;
    ///
    /// let report = Store::open(&path)?.check(&Run::with_threads(1)?)?;
    /// assert!(report.problems.is_empty() && report.columns > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`check`]. Problems of the database are in the report.
    pub fn check(&self, run: &Run) -> Result<Report> {
        check(&self.latest()?, run)
    }

    /// Calls `f` with the commits of the log, which the first call lists.
    fn with_tail<R>(&self, f: impl FnOnce(&Self, &mut LoggedTail) -> Result<R>) -> Result<R> {
        let mut tail = self.tail.lock();
        if tail.is_none() {
            *tail = Some(self.list_log(None)?);
        }
        f(self, tail.get_or_insert_default())
    }

    /// Lists the commits in the log, up to the `newest` version that is to be shown. If a writer has frozen
    /// commits since the opening, reopens the layers.
    fn list_log(&self, newest: Option<u64>) -> Result<LoggedTail> {
        let disk = self.disk();
        let mut reopened = None;
        let (_, commits) = Manifest::read_with(disk.as_ref(), self.path(), |manifest| {
            if manifest.head() != reopened.as_ref().unwrap_or(&self.state).manifest().head() {
                reopened = Some(Arc::new(State::read(Arc::clone(disk), self.path())?));
            }
            let mut reader = self.read_log(reopened.as_ref().unwrap_or(&self.state))?;
            let mut commits: Vec<LoggedCommit> = Vec::new();
            while let Some(record) = reader.read_summary()? {
                if newest.is_some_and(|newest| record.version > newest) {
                    break;
                }
                commits.push(LoggedCommit::of(&record, self.path())?);
            }
            Ok(commits)
        })?;
        let in_layers = reopened.as_ref().unwrap_or(&self.state).newest();
        let newest = newest.unwrap_or_else(|| commits.last().map_or(in_layers, |commit| commit.version));
        Ok(LoggedTail { state: reopened, commits, newest, whole: None })
    }

    /// A reader of the log after the layers of a state.
    fn read_log(&self, state: &State) -> Result<LogReader> {
        let reader = LogReader::open(Arc::clone(self.disk()), self.path(), state.manifest().log_start())?;
        Ok(match &self.run {
            Some(run) => reader.with_cancel(run.cancel()),
            None => reader,
        })
    }

    /// A state, and a layer in memory for the commits above it.
    fn with_commits(&self, state: &Arc<State>, commits: &[LoggedCommit]) -> Result<WholeState> {
        let run = match &self.run {
            Some(run) => Arc::clone(run),
            None => Arc::new(Run::with_threads(0)?),
        };
        let bytes: u64 = commits.iter().map(|commit| commit.payload_bytes).sum();
        let what = format!(
            "reading {} in the log of {} before anything else (a merge would make a layer of them)",
            esker_graph::counted(commits.len(), "commit", "commits"),
            self.path().display()
        );
        let mut memory = run.budget().reserve(&what, bytes.saturating_mul(LAYER_BYTES_PER_BYTE[0]))?;
        let mut reader = self.read_log(state)?;
        let mut read = Vec::new();
        for commit in commits {
            run.round(commit.summary.num_edges as usize)?;
            read.push(Arc::new(commit.read(&mut reader, self.path(), run.cancel())?));
        }
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let policy = state.manifest().options().policy;
        let state = with_commits_in_memory(state, &read, &disk, policy, &run)?;
        memory.shrink_to(bytes.saturating_mul(LAYER_BYTES_PER_BYTE[1]));
        Ok(WholeState { state, _memory: memory })
    }

    /// The paths and sizes in bytes of all files of the database.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn files(&self) -> Result<Vec<(PathBuf, u64)>> {
        let mut files = Vec::new();
        list_files(self.disk().as_ref(), self.path(), &mut files)?;
        Ok(files)
    }
}

impl LoggedTail {
    fn state<'a>(&'a self, store: &'a Store) -> &'a Arc<State> {
        self.state.as_ref().unwrap_or(&store.state)
    }

    /// The layers, with one more layer in memory for the commits above them.
    fn whole(&mut self, store: &Store) -> Result<Arc<State>> {
        loop {
            if self.commits.is_empty() {
                return Ok(Arc::clone(self.state(store)));
            }
            if let Some(whole) = &self.whole {
                return Ok(Arc::clone(&whole.state));
            }
            match store.with_commits(self.state(store), &self.commits) {
                Ok(whole) => self.whole = Some(whole),
                Err(Error::Stop(stop)) => return Err(stop.into()),
                Err(failed) => {
                    // A writer may have frozen commits, and removed them from the log, since they were
                    // listed.
                    let now = store.list_log(Some(self.newest))?;
                    if now.state(store).manifest().head() == self.state(store).manifest().head() {
                        return Err(failed);
                    }
                    *self = now;
                }
            }
        }
    }
}

fn list_files(disk: &dyn Disk, directory: &Path, files: &mut Vec<(PathBuf, u64)>) -> Result<()> {
    for entry in disk.list(directory)? {
        let path = directory.join(&entry.name);
        if !entry.is_directory {
            files.push((path, entry.bytes));
            continue;
        }
        match list_files(disk, &path, files) {
            // A writer removed it meanwhile.
            Err(error) if error.is_not_found() => {}
            done => done?,
        }
    }
    Ok(())
}
