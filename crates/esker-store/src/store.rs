//! The handle on a database that is only read.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use esker_graph::Run;

use crate::check::{Report, check};
use crate::commit::Commit;
use crate::database::with_commits_in_memory;
use crate::error::{Error, Result};
use crate::format::VersionRecord;
use crate::freeze::CopyPolicy;
use crate::io::{Disk, MemoryDisk, RealDisk};
use crate::log::{LogReader, log_directory};
use crate::property::{REMOVED_NUMBER, removed_by_version};
use crate::snapshot::{Snapshot, State};
use crate::version::{MANIFEST_NAME, Manifest};

/// A database, open for reading. Any number of threads and processes may read at the same time, from read-only media
/// too, also while another process writes.
///
/// It shows the database as it was when it was opened, and the commits that were in its log by the time of the first call that
/// needs them. Those are made a layer in memory then, in time and memory by their number.
#[derive(Debug, Clone)]
pub struct Store {
    state: Arc<State>,
    commits: Arc<Mutex<Option<Tail>>>,
}

/// The commits that are in no layer.
#[derive(Debug, Default)]
struct Tail {
    state: Option<Arc<State>>,
    commits: Vec<Arc<Commit>>,
    /// With the commits as a layer.
    whole: Option<Arc<State>>,
}

impl Store {
    /// Opens the database at `path`. Takes the same short time for any size: it reads the manifest and a page of each file.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no database, or of a kind that this build does not read; [`Error::Io`];
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
                    "{name} does not exist: check the name, or import to it"
                )));
            }
            Some(entry) if !entry.is_directory => {
                return Err(Error::Invalid(format!("{name} is a file, not a database: import it first")));
            }
            Some(_) => {}
        }
        if disk.look(&path.join(MANIFEST_NAME))?.is_none() {
            return Err(Error::Invalid(format!("{name} is not a database: it has no file {MANIFEST_NAME}")));
        }
        let state = Arc::new(State::read(disk, path)?);
        Ok(Self { state, commits: Arc::default() })
    }

    /// Whether a database seems to stand at `path`: a directory with a manifest.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn is_at(path: impl AsRef<Path>) -> Result<bool> {
        Ok(RealDisk.look(&path.as_ref().join(MANIFEST_NAME))?.is_some())
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.state.path()
    }

    /// The disk that it is on.
    pub fn disk(&self) -> &Arc<dyn Disk> {
        self.state.disk()
    }

    /// What the manifest says; commits that are in no layer are not in it.
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

    /// The version of a number.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such version, or it was forgotten; [`Error::Corrupt`]; [`Error::Io`].
    pub fn at(&self, version: u64) -> Result<Snapshot> {
        if version <= self.state.newest() {
            return self.state.snapshot(version);
        }
        self.with_tail(|store, tail| tail.whole(store)?.snapshot(version))
    }

    /// All versions, oldest first. Of commits that are in no layer yet, the numbers of edges are not known, and 0.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`].
    pub fn versions(&self) -> Result<Vec<VersionRecord>> {
        self.with_tail(|_, tail| {
            let state = tail.state.as_ref().unwrap_or(&self.state);
            let frozen = state.manifest().versions.iter().cloned();
            Ok(frozen.chain(tail.commits.iter().map(|commit| commit.record())).collect())
        })
    }

    /// How many vertices are removed, from each version on at which that changes, ascending.
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
    /// As [`check`]; what is wrong with the database is in the report.
    pub fn check(&self, run: &Run) -> Result<Report> {
        check(self.disk(), &self.snapshot()?, run)
    }

    /// Calls `f` with the commits of the log, which are read before if they were not yet.
    fn with_tail<R>(&self, f: impl FnOnce(&Self, &mut Tail) -> Result<R>) -> Result<R> {
        let mut tail = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.is_none() {
            *tail = Some(self.read_log()?);
        }
        f(self, tail.get_or_insert_default())
    }

    /// Reads the log. If a writer has frozen its commits meanwhile, the layers are opened anew.
    fn read_log(&self) -> Result<Tail> {
        let disk = self.disk();
        if disk.look(&log_directory(self.path()))?.is_none() {
            return Ok(Tail::default());
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
        Ok(Tail { state: reopened, commits, whole: None })
    }

    /// All files of the database with their sizes in bytes, by path.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn files(&self) -> Result<Vec<(PathBuf, u64)>> {
        let mut files = Vec::new();
        list_files(self.disk().as_ref(), self.path(), &mut files)?;
        Ok(files)
    }
}

impl Tail {
    /// The layers, and one in memory for the commits over them.
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
