//! The handle of a reader that keeps up with a database while another thread or process writes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, MemoryDisk};
use esker_format::{Error, Result, VersionRecord};
use esker_graph::{Reservation, Run};

use crate::commit::{Commit, LoggedCommit};
use crate::database::with_commits_in_memory;
use crate::freeze::CopyPolicy;
use crate::log::{LogReader, log_directory};
use crate::snapshot::{Snapshot, State};
use crate::version::{MANIFEST_NAME, Manifest};

/// With more layers in memory, the commits of all are made into one.
const MEMORY_LAYERS_MAX: usize = 8;
/// The memory for a commit and the layers made of it, for each byte of it in the log.
const BYTES_PER_BYTE: u64 = 8;

/// A database opened for reading, which [`Follower::refresh`] brings up to date.
///
/// A refresh costs what was committed, not what there is: it reads only the new commits in the log, and keeps layers open that are still
/// part of the database, with all that was verified of them. A merge makes a new layer, which is verified anew. Snapshots taken earlier
/// stay readable.
///
/// Memory: eight bytes for each byte of the commits in the log.
pub struct Follower {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    run: Arc<Run>,
    /// The layers on disk.
    base: Arc<State>,
    reader: LogReader,
    /// The commits above them, oldest first.
    commits: Vec<Arc<Commit>>,
    /// The layers, with layers in memory for the commits.
    whole: Arc<State>,
    num_memory_layers: usize,
    memory: Reservation,
}

impl std::fmt::Debug for Follower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower")
            .field("path", &self.path)
            .field("newest", &self.newest())
            .finish_non_exhaustive()
    }
}

impl Follower {
    /// Opens the database at `path` and reads the commits in its log. Threads, memory and cancellation are those of `run`.
    ///
    /// # Errors
    /// As [`crate::Store::open`] and [`Follower::refresh`].
    pub fn open(disk: Arc<dyn Disk>, path: &Path, run: Arc<Run>) -> Result<Self> {
        let base = Arc::new(State::read(Arc::clone(&disk), path)?);
        let reader = reader_of(&base, &run)?;
        let memory = run.budget().reserve("the commits in the log", 0)?;
        let (commits, whole) = (Vec::new(), Arc::clone(&base));
        let path = path.to_owned();
        let mut follower =
            Self { disk, path, run, base, reader, commits, whole, num_memory_layers: 0, memory };
        follower.refresh()?;
        Ok(follower)
    }

    /// Takes in what was committed since the last call. Returns whether there is anything new.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Lost`]; [`Error::Io`]; [`Error::Invalid`] if another database took the place of this one;
    /// [`Error::Stop`] if the commits exceed the memory of the run; cancellation.
    pub fn refresh(&mut self) -> Result<bool> {
        let newest = self.newest();
        let mut manifest = self.read_manifest()?;
        loop {
            let known = self.base.manifest().records;
            let failed = match self.refresh_with(manifest) {
                Ok(()) => return Ok(self.newest() != newest),
                Err(Error::Stop(stop)) => return Err(stop.into()),
                Err(failed) => failed,
            };
            // A writer may have frozen commits, and removed them from the log, meanwhile.
            manifest = self.read_manifest()?;
            let expected = self.base.manifest().records;
            if manifest.records == expected && known == expected {
                return Err(failed);
            }
        }
    }

    fn read_manifest(&self) -> Result<Manifest> {
        let manifest = Manifest::read(self.disk.as_ref(), &self.path.join(MANIFEST_NAME))?;
        if manifest.database == self.base.manifest().database {
            return Ok(manifest);
        }
        let path = self.path.display();
        Err(Error::Invalid(format!("{path} was replaced by another database: open it again")))
    }

    fn refresh_with(&mut self, manifest: Manifest) -> Result<()> {
        if manifest.records != self.base.manifest().records {
            self.base = Arc::new(self.base.reopened(manifest)?);
            self.whole = Arc::clone(&self.base);
            self.start_over()?;
        }
        let done = self.take_in();
        if done.is_err() {
            self.start_over()?;
        }
        done
    }

    /// Has the next call read the log from its start, and make one layer of all commits.
    fn start_over(&mut self) -> Result<()> {
        self.commits.clear();
        self.memory.shrink_to(0);
        self.num_memory_layers = MEMORY_LAYERS_MAX;
        self.reader = reader_of(&self.base, &self.run)?;
        Ok(())
    }

    /// Reads new commits, and makes a layer of them.
    fn take_in(&mut self) -> Result<()> {
        let first_new = self.commits.len();
        self.read_commits()?;
        if self.commits.len() == first_new {
            return Ok(());
        }
        let is_full = self.num_memory_layers == MEMORY_LAYERS_MAX;
        let (state, first) = if is_full { (&self.base, 0) } else { (&self.whole, first_new) };
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let commits = &self.commits[first..];
        self.whole = with_commits_in_memory(state, commits, &disk, CopyPolicy::default(), &self.run)?;
        self.num_memory_layers = if is_full { 1 } else { self.num_memory_layers + 1 };
        Ok(())
    }

    /// Reads the commits that the log has now behind those that were read.
    fn read_commits(&mut self) -> Result<()> {
        let directory = log_directory(&self.path);
        while let Some(record) = self.reader.read_next()? {
            let bytes = record.payload_bytes.saturating_mul(BYTES_PER_BYTE);
            if !self.memory.try_grow(bytes) {
                let what = format!("following the commits in the log of {}", self.path.display());
                self.memory.absorb(self.run.budget().reserve(&what, bytes)?);
            }
            let logged = LoggedCommit::of(&record, &self.path)?;
            let mut commit = Commit::decode(logged.version, record.payload, &directory, self.run.cancel())?;
            commit.committed_ms = logged.committed_ms;
            self.commits.push(Arc::new(commit));
        }
        self.reader.release();
        Ok(())
    }

    /// The number of the newest version.
    pub fn newest(&self) -> u64 {
        self.whole.newest()
    }

    /// The versions that the retention keeps, oldest first.
    pub fn versions(&self) -> impl DoubleEndedIterator<Item = &VersionRecord> {
        self.whole.manifest().versions.iter()
    }

    /// The version with a number.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the version does not exist or was forgotten; [`Error::Corrupt`].
    pub fn at(&self, version: u64) -> Result<Snapshot> {
        self.whole.snapshot(version)
    }
}

/// A reader of the log above the layers of a state.
fn reader_of(state: &State, run: &Run) -> Result<LogReader> {
    let reader = LogReader::open(Arc::clone(state.disk()), state.path(), state.manifest().log_start())?;
    Ok(reader.with_cancel(run.cancel()))
}
