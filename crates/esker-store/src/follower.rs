//! The handle of a reader that keeps up with a database while another thread or process writes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, MemoryDisk};
use esker_format::{Error, Result, VersionRecord};
use esker_graph::{Reservation, Run};

use crate::commit::{Commit, LoggedCommit};
use crate::database::with_commits_in_memory;
use crate::log::{LogReader, log_directory};
use crate::manifest::{MANIFEST_NAME, Manifest, expect_database};
use crate::version::{State, Version};

/// With more layers in memory, the commits of the newest are taken into the next one.
const MEMORY_LAYERS_MAX: usize = 8;
/// The memory for a commit and the layers made of it, for each byte of it in the log.
const BYTES_PER_BYTE: u64 = 8;

/// A database opened for reading, which [`Follower::refresh`] brings up to date.
///
/// A refresh costs what was committed, not what there is: it reads only the new commits in the log, and keeps
/// layers open that are still part of the database, with all that was verified of them. A merge makes a new
/// layer, which is verified anew. Versions opened earlier stay readable.
///
/// Memory: eight bytes for each byte of the commits in the log.
///
/// ```
/// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
/// # let path = directory.path().join("web.esker");
/// # let edges = [esker_import::Input::memory("web.csv", csv)];
/// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
/// # let db = esker_store::Database::open(&path, Default::default())?;
/// use std::sync::Arc;
///
/// use esker_graph::Run;
/// use esker_store::Follower;
/// use esker_store::io::RealDisk;
///
/// let mut follower = Follower::open(Arc::new(RealDisk), &path, Arc::new(Run::with_threads(1)?))?;
/// let mut batch = db.batch(); // of another thread or process
/// batch.add_edge("carol", "alice", &[])?;
/// db.commit(batch, "a ring")?;
/// assert_eq!(follower.newest(), 1);
/// assert!(follower.refresh()?);
/// assert_eq!(follower.at(follower.newest())?.num_edges(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Follower {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    run: Arc<Run>,
    /// The layers on disk.
    base: Arc<State>,
    reader: LogReader,
    /// The commits above them, oldest first.
    commits: Vec<Arc<Commit>>,
    /// Bytes of these commits in the log.
    log_bytes: u64,
    /// Layers in memory for the commits, oldest first. A layer has more commits than all of the later ones,
    /// or nearly, so that a commit is taken into new layers only a few times.
    memory_layers: Vec<MemoryLayer>,
    /// The layers that are shown: with those in memory, unless reading the log failed since.
    whole: Arc<State>,
    memory: Reservation,
}

/// A layer in memory for some commits.
struct MemoryLayer {
    /// The layers up to this one.
    state: Arc<State>,
    /// The index of the first of its commits.
    first: usize,
    /// Bytes of its commits in the log.
    log_bytes: u64,
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
    /// Opens the database at `path` and reads the commits in its log. Threads, memory and cancellation are
    /// those of `run`.
    ///
    /// # Errors
    /// As [`crate::Store::open`] and [`Follower::refresh`].
    pub fn open(disk: Arc<dyn Disk>, path: &Path, run: Arc<Run>) -> Result<Self> {
        expect_database(disk.as_ref(), path)?;
        let base = Arc::new(State::read(Arc::clone(&disk), path)?);
        let reader = reader_of(&base, &run)?;
        let memory = run.budget().reserve("the commits in the log", 0)?;
        let (path, commits, memory_layers) = (path.to_owned(), Vec::new(), Vec::new());
        let whole = Arc::clone(&base);
        let mut follower =
            Self { disk, path, run, base, reader, commits, log_bytes: 0, memory_layers, whole, memory };
        follower.refresh()?;
        Ok(follower)
    }

    /// Takes in what was committed since the last call. Returns whether the newest version is another: newer,
    /// or, if it was forgotten and so undone, older.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Lost`]; [`Error::Io`]; [`Error::Invalid`] if another database took the
    /// place of this one, or an earlier state of it; [`Error::Stop`] if the commits exceed the memory of the
    /// run; cancellation.
    pub fn refresh(&mut self) -> Result<bool> {
        let before = self.versions().next_back().cloned();
        let mut manifest = self.read_manifest()?;
        loop {
            let known = self.base.manifest().head();
            let failed = match self.refresh_with(manifest) {
                Ok(()) => return self.is_other_than(before.as_ref()),
                Err(Error::Stop(stop)) => return Err(stop.into()),
                Err(failed) => failed,
            };
            // A writer may have frozen commits, and removed them from the log, meanwhile.
            manifest = self.read_manifest()?;
            let expected = self.base.manifest().head();
            if manifest.head() == expected && known == expected {
                return Err(failed);
            }
        }
    }

    /// Whether the newest version is another than one that was shown. Where that has its number still, it
    /// must be the same.
    fn is_other_than(&self, shown: Option<&VersionRecord>) -> Result<bool> {
        let Some(shown) = shown else { return Ok(true) };
        let now = self.whole.manifest().version(shown.number);
        // The retention may have let go of it, or it was undone.
        if now.is_none_or(|now| now.committed_ms == shown.committed_ms) {
            return Ok(self.newest() != shown.number);
        }
        let (path, number) = (self.path.display(), shown.number);
        Err(Error::invalid(format!(
            "{path} no longer has version {number} as it was read: it was put back to an earlier state; open it again"
        )))
    }

    fn read_manifest(&self) -> Result<Manifest> {
        let manifest = Manifest::read(self.disk.as_ref(), &self.path.join(MANIFEST_NAME))?;
        if manifest.database == self.base.manifest().database {
            return Ok(manifest);
        }
        let path = self.path.display();
        Err(Error::invalid(format!("{path} was replaced by another database: open it again")))
    }

    fn refresh_with(&mut self, manifest: Manifest) -> Result<()> {
        if manifest.head() != self.base.manifest().head() {
            self.base = Arc::new(self.base.reopened(manifest)?);
            self.whole = Arc::clone(&self.base);
            self.start_over()?;
        } else if !self.reader.is_in_place()? {
            // The database was replaced by a copy of it, whose log grows in place of the one that was read.
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
        self.memory_layers.clear();
        self.log_bytes = 0;
        self.memory.shrink_to(0);
        self.reader = reader_of(&self.base, &self.run)?;
        Ok(())
    }

    /// Reads new commits, and makes a layer of them and of the commits of later layers that are not larger.
    fn take_in(&mut self) -> Result<()> {
        let (first_new, bytes_before) = (self.commits.len(), self.log_bytes);
        self.read_commits()?;
        if self.commits.len() == first_new {
            return Ok(());
        }
        let (mut first, mut log_bytes) = (first_new, self.log_bytes - bytes_before);
        let mut kept = self.memory_layers.len();
        while let Some(last) = self.memory_layers[..kept].last()
            && (last.log_bytes <= log_bytes || kept >= MEMORY_LAYERS_MAX)
        {
            (first, log_bytes, kept) = (last.first, log_bytes + last.log_bytes, kept - 1);
        }
        let below = self.memory_layers[..kept].last().map_or(&self.base, |layer| &layer.state);
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let policy = below.manifest().options().policy;
        let state = with_commits_in_memory(below, &self.commits[first..], &disk, policy, &self.run)?;
        self.whole = Arc::clone(&state);
        self.memory_layers.truncate(kept);
        self.memory_layers.push(MemoryLayer { state, first, log_bytes });
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
            let log_bytes = record.payload_bytes;
            let mut commit = Commit::decode(logged.version, record.payload, &directory, self.run.cancel())?;
            (commit.committed_ms, commit.checksum) = (logged.committed_ms, logged.checksum);
            self.commits.push(Arc::new(commit));
            self.log_bytes += log_bytes;
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
    pub fn at(&self, version: u64) -> Result<Version> {
        self.whole.version(version)
    }
}

/// A reader of the log above the layers of a state.
fn reader_of(state: &State, run: &Run) -> Result<LogReader> {
    let reader = LogReader::open(Arc::clone(state.disk()), state.path(), state.manifest().log_start())?;
    Ok(reader.with_cancel(run.cancel()))
}

#[cfg(test)]
mod tests {
    use esker_graph::{Budget, Direction, RunOptions, VertexId, vertex};
    use esker_layers::property::PropertyValue;

    use super::*;
    use crate::database::{Database, DatabaseOptions};
    use crate::sample::Sample;

    fn database(disk: &Arc<dyn Disk>, path: &Path) -> Database {
        Sample::random(50, 300, true, 0).write(disk, path, false).unwrap();
        let options = DatabaseOptions { threads: 1, ..DatabaseOptions::default() };
        Database::open_on(Arc::clone(disk), path, options).unwrap()
    }

    fn commit(database: &Database, i: u64) {
        let mut batch = database.batch();
        let values = [PropertyValue::I32(i as i32), PropertyValue::Text(b"depends")];
        batch.add_edge(i * 7 % 50, i * 13 % 60, &values).unwrap();
        batch.remove_edge(i % 50, i * 3 % 50).unwrap();
        database.commit(batch, "a step").unwrap();
    }

    fn lists(version: &Version) -> Vec<Vec<VertexId>> {
        let list = |v| version.neighbors(Direction::Out, vertex(v)).unwrap().iter().copied().collect();
        (0..version.num_vertices()).map(list).collect()
    }

    #[test]
    fn a_follower_shows_what_was_committed_and_keeps_layers_open() {
        let (disk, path): (Arc<dyn Disk>, _) = (Arc::new(MemoryDisk::new()), Path::new("/db"));
        let (database, run) = (database(&disk, path), Arc::new(Run::with_threads(1).unwrap()));
        let mut follower = Follower::open(Arc::clone(&disk), path, Arc::clone(&run)).unwrap();
        assert!(!follower.refresh().unwrap());
        let base = Arc::clone(&follower.base.layers()[0]);
        let first = lists(&follower.at(follower.newest()).unwrap());
        let old = follower.at(follower.newest()).unwrap();
        for i in 0..60 {
            commit(&database, i);
            match i {
                17 => drop(database.freeze(&run).unwrap()),
                33 => drop(database.compact(&run).unwrap()),
                47 => database.tag("a", 3).unwrap(),
                _ => {}
            }
            if i % 3 != 1 {
                continue;
            }
            assert!(follower.refresh().unwrap());
            let newest = database.latest().unwrap();
            assert_eq!(follower.newest(), newest.number());
            assert!(follower.memory_layers.len() <= MEMORY_LAYERS_MAX);
            for version in [follower.newest(), follower.newest() - 1] {
                let (shown, expected) = (follower.at(version).unwrap(), database.at(version).unwrap());
                assert_eq!(lists(&shown), lists(&expected), "version {version}");
                assert_eq!(shown.num_edges(), expected.num_edges());
            }
            let is_open = Arc::ptr_eq(&base, &follower.base.layers()[0]);
            assert_eq!(is_open, i < 33, "a freeze keeps the layers below, a merge replaces them");
        }
        assert_eq!(lists(&old), first, "what was taken earlier stays readable");
        let shown = follower.versions().next_back().cloned().unwrap();
        assert!(!follower.is_other_than(Some(&shown)).unwrap());
        let undone = VersionRecord { number: shown.number + 1, ..shown.clone() };
        assert!(follower.is_other_than(Some(&undone)).unwrap());
        let other = VersionRecord { committed_ms: shown.committed_ms + 1, ..shown };
        let refused = follower.is_other_than(Some(&other)).unwrap_err().to_string();
        assert!(refused.contains("put back to an earlier state"), "{refused}");
    }

    #[test]
    fn a_follower_sees_new_numbers_after_vertices_were_renumbered() {
        let (disk, path): (Arc<dyn Disk>, _) = (Arc::new(MemoryDisk::new()), Path::new("/db"));
        let (database, run) = (database(&disk, path), Arc::new(Run::with_threads(1).unwrap()));
        let mut follower = Follower::open(Arc::clone(&disk), path, Arc::clone(&run)).unwrap();
        let mut batch = database.batch();
        (0..30_u64).for_each(|v| batch.remove_vertex(v).unwrap());
        database.commit(batch, "most vertices go").unwrap();
        database.forget(1).unwrap();
        follower.refresh().unwrap();
        let second = follower.at(2).unwrap();
        assert_eq!(database.compact(&run).unwrap().vertices_left_out, 30);
        commit(&database, 1);
        // The log alone would tell it of a commit with numbers that mean other vertices.
        follower.refresh().unwrap();
        let (shown, expected) = (follower.at(3).unwrap(), database.at(3).unwrap());
        assert_eq!(lists(&shown), lists(&expected));
        assert!(shown.num_vertices() < second.num_vertices() && !shown.continues(&second));
        assert!(shown.continues(&follower.at(2).unwrap()));
    }

    #[test]
    fn commits_that_exceed_the_memory_are_refused_and_read_once_there_is_room() {
        let (disk, path): (Arc<dyn Disk>, _) = (Arc::new(MemoryDisk::new()), Path::new("/db"));
        let database = database(&disk, path);
        let options = RunOptions { threads: 1, budget: Budget::new(1 << 20), ..RunOptions::default() };
        let run = Arc::new(Run::new(options).unwrap());
        let mut follower = Follower::open(disk, path, Arc::clone(&run)).unwrap();
        (0..5).for_each(|i| commit(&database, i));
        let other = run.budget().reserve("another use", run.budget().free_bytes()).unwrap();
        let refused = follower.refresh().unwrap_err().to_string();
        assert!(refused.contains("following the commits in the log"), "{refused}");
        assert_eq!(follower.newest(), 1);
        drop(other);
        assert!(follower.refresh().unwrap());
        assert_eq!(lists(&follower.at(6).unwrap()), lists(&database.latest().unwrap()));
    }
}
