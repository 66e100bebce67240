//! The handle of a database opened for reading only.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use esker_format::io::{Disk, MemoryDisk, RealDisk};
use esker_format::{Error, Result};
use esker_format::{Retention, VersionRecord};
use esker_graph::Run;
use esker_layers::property::{REMOVED_NUMBER, removed_by_version};

use crate::check::{Report, check};
use crate::commit::Commit;
use crate::database::with_commits_in_memory;
use crate::freeze::CopyPolicy;
use crate::log::{LogReader, log_directory};
use crate::snapshot::{Snapshot, State};
use crate::version::{MANIFEST_NAME, Manifest, not_retained};

/// A database opened for reading. Any number of threads and processes may read at the same time, also from
/// read-only media and while another process writes.
///
/// It shows the database as of the opening, plus the commits in the log as of the first call that needs them.
/// That call builds a layer of these commits in memory, which takes time and memory linear in the commits.
#[derive(Debug, Clone)]
pub struct Store {
    state: Arc<State>,
    commits: Arc<Mutex<Option<LogTail>>>,
}

/// The commits that are in no layer, read from the log.
#[derive(Debug, Default)]
struct LogTail {
    /// The layers, if a writer changed them since the store was opened.
    state: Option<Arc<State>>,
    commits: Vec<Arc<Commit>>,
    /// The layers, with the commits as one more layer.
    whole: Option<Arc<State>>,
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
        let name = path.display();
        match disk.look(path)? {
            None => {
                return Err(Error::Invalid(format!(
                    "{name} does not exist: check the path, or import a graph to it"
                )));
            }
            Some(entry) if !entry.is_directory => {
                return Err(Error::Invalid(format!(
                    "{name} is a file, not a database: import the file first"
                )));
            }
            Some(_) => {}
        }
        if disk.look(&path.join(MANIFEST_NAME))?.is_none() {
            return Err(Error::Invalid(format!("{name} is not a database: it has no file {MANIFEST_NAME}")));
        }
        let state = Arc::new(State::read(disk, path)?);
        Ok(Self { state, commits: Arc::default() })
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
    pub fn manifest(&self) -> &Manifest {
        self.state.manifest()
    }

    /// The newest version.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`].
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.with_tail(|store, tail| {
            let state = tail.whole(store)?;
            state.snapshot(state.newest())
        })
    }

    /// The version with a number.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the version does not exist or was forgotten; [`Error::Corrupt`]; [`Error::Io`].
    pub fn at(&self, version: u64) -> Result<Snapshot> {
        if version <= self.state.newest() {
            // Commits in the log may make the retention forget it.
            if self.manifest().retention == Retention::All || self.has(version)? {
                return self.state.snapshot(version);
            }
        }
        self.with_tail(|store, tail| tail.whole(store)?.snapshot(version))
    }

    /// All versions, oldest first. Commits that are in no layer yet have 0 as the numbers of edges, which are
    /// not known.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`].
    pub fn versions(&self) -> Result<Vec<VersionRecord>> {
        self.with_tail(|_, tail| {
            let state = tail.state.as_ref().unwrap_or(&self.state);
            let later = tail.commits.iter().map(|commit| (commit.version, commit.time_ms));
            let hidden: BTreeSet<u64> = not_retained(state.manifest(), later).into_iter().collect();
            let frozen = state.manifest().versions.iter().cloned();
            let versions = frozen.chain(tail.commits.iter().map(|commit| commit.record()));
            Ok(versions.filter(|version| !hidden.contains(&version.number)).collect())
        })
    }

    fn has(&self, version: u64) -> Result<bool> {
        Ok(self.versions()?.iter().any(|known| known.number == version))
    }

    /// The newest version in the layers, also if the retention does not keep it beside the commits in the log.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`].
    pub fn frozen(&self) -> Result<Snapshot> {
        self.state.snapshot(self.state.newest())
    }

    /// The number of removed vertices, for each version that changes it: pairs of version and count,
    /// ascending.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`]; cancellation.
    pub fn removed_by_version(&self, run: &Run) -> Result<Vec<(u64, u64)>> {
        let newest = self.snapshot()?;
        let mut layers = Vec::new();
        for layer in newest.state().layers() {
            if let Some(column) = layer.vertex_property(REMOVED_NUMBER) {
                layers.push((Arc::clone(column), layer.lists().versions()?));
            }
        }
        removed_by_version(&layers, run)
    }

    /// Checks everything in the newest version: see [`crate::check`].
    ///
    /// # Errors
    /// As [`check`]. Problems of the database are in the report.
    pub fn check(&self, run: &Run) -> Result<Report> {
        check(self.disk(), &self.snapshot()?, run)
    }

    /// Calls `f` with the commits of the log, which the first call reads.
    fn with_tail<R>(&self, f: impl FnOnce(&Self, &mut LogTail) -> Result<R>) -> Result<R> {
        let mut tail = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.is_none() {
            *tail = Some(self.read_log()?);
        }
        f(self, tail.get_or_insert_default())
    }

    /// Reads the log. If a writer has frozen commits since the opening, reopens the layers.
    fn read_log(&self) -> Result<LogTail> {
        let disk = self.disk();
        if disk.look(&log_directory(self.path()))?.is_none() {
            return Ok(LogTail::default());
        }
        let mut reopened = None;
        let (_, commits) = Manifest::read_with(disk.as_ref(), self.path(), |manifest| {
            if manifest.records != reopened.as_ref().unwrap_or(&self.state).manifest().records {
                reopened = Some(Arc::new(State::read(Arc::clone(disk), self.path())?));
            }
            let start = reopened.as_ref().unwrap_or(&self.state).manifest().log_start();
            let mut reader = LogReader::open(Arc::clone(disk), self.path(), start)?;
            let mut commits = Vec::new();
            while let Some(record) = reader.read_next()? {
                let commit = Commit::decode(record.version, record.payload, &log_directory(self.path()))?;
                commits.push(Arc::new(commit));
            }
            Ok(commits)
        })?;
        Ok(LogTail { state: reopened, commits, whole: None })
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

impl LogTail {
    /// The layers, with one more layer in memory for the commits above them.
    fn whole(&mut self, store: &Store) -> Result<Arc<State>> {
        if let Some(whole) = &self.whole {
            return Ok(Arc::clone(whole));
        }
        let state = self.state.as_ref().unwrap_or(&store.state);
        let whole = if self.commits.is_empty() {
            Arc::clone(state)
        } else {
            let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
            let run = Run::with_threads(0)?;
            with_commits_in_memory(state, &self.commits, &disk, CopyPolicy::default(), &run)?
        };
        self.whole = Some(Arc::clone(&whole));
        Ok(whole)
    }
}

fn list_files(disk: &dyn Disk, directory: &Path, files: &mut Vec<(PathBuf, u64)>) -> Result<()> {
    for entry in disk.list(directory)? {
        let path = directory.join(&entry.name);
        if entry.is_directory {
            list_files(disk, &path, files)?;
        } else {
            files.push((path, entry.bytes));
        }
    }
    Ok(())
}
