//! The lock by which one process at a time writes to a database, and the proof that it still has the files
//! that it writes to.
//!
//! A lock belongs to a file, not to its name. If somebody removes LOCK, or removes, renames or replaces the
//! database, its writer goes on with files that nobody finds any more, and another process may begin to write
//! to those that have the names now. So:
//!
//! * The writer locks each file that it appends to, MANIFEST and the last segment of the log, beside LOCK: no
//!   two processes append to one file.
//! * Before it acknowledges anything, it compares the files that it has locked with those that have their
//!   names ([`WriterLock::expect`]). What was written before is then seen by whoever opens the database
//!   later, because the names still lead to it. A commit compares the segment of the log, and the directory:
//!   as long as that has not changed, LOCK and MANIFEST are where they were ([`WriterLock::expect_segment`]).
//! * It changes no names in the directory of the database without the same comparison ([`WriterLock::disk`]):
//!   it removes no files of a database that took the place of its own.
//! * It notes the length of the files that grow, and stops if one is shorter: an older file was copied over
//!   it (`cp old/log/* db/log/`).
//! * A copy made of hard links (`cp -al`) would share the files that grow. A writer that opens such a
//!   database gives these files copies of their own; one that has it open stops.

use parking_lot::{Mutex, MutexGuard};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::UNIX_EPOCH;

use esker_format::io::{DirectoryEntry, Disk, File, Files, Lock, NamedFile, Paging, Scratch, copy, parent};
use esker_format::{Error, LockHolder, Result};
use esker_graph::{Operation, message};

/// The file that the writer of a database locks, whatever else it writes to.
pub(crate) const LOCK_NAME: &str = "LOCK";
const MANIFEST: &str = "MANIFEST";
/// Name of a new MANIFEST, or of another file that grows, before it replaces the old one.
pub(crate) const NEW_NAME: &str = "MANIFEST.new";

/// File times advance in steps of some milliseconds. A change this long after the last one gets a different
/// time.
const SETTLED_NS: i128 = 100_000_000;

/// A file that grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GrowingFile {
    Manifest,
    /// The last segment of the log.
    Segment,
}

/// The lock for writing to a database. Dropping its last clone releases it.
#[derive(Debug, Clone)]
pub struct WriterLock(Arc<LockedFiles>);

#[derive(Debug)]
struct LockedFiles {
    disk: Arc<dyn Disk>,
    database: PathBuf,
    lock: HeldFile,
    growing: Mutex<Vec<(GrowingFile, HeldFile)>>,
    /// The directory of the database; `None` on disks in memory.
    directory: Option<Arc<dyn File>>,
    /// What it was when LOCK and MANIFEST were compared.
    unchanged: Mutex<Option<NamedFile>>,
    /// The first finding that a file is not in its place. It may be put back, but others may have written
    /// meanwhile.
    loss: OnceLock<String>,
}

/// A locked file, and the path that must lead to it.
#[derive(Debug)]
struct HeldFile {
    path: PathBuf,
    lock: Box<dyn Lock>,
    /// The bytes that the writer knows to be there, if the file grows.
    written: AtomicU64,
}

/// Takes the lock for writing to the database at `path`; dropping it releases it.
///
/// # Errors
/// [`Error::Locked`] if another process, or another handle of this one, holds it; [`Error::Invalid`] if a
/// part of the database is a symbolic link; [`Error::Io`] if the directory is not writable.
pub fn lock_writer(disk: &Arc<dyn Disk>, path: &Path) -> Result<WriterLock> {
    expect_no_links(disk.as_ref(), path)?;
    let file = path.join(LOCK_NAME);
    let lock = disk.try_lock(&file)?.ok_or_else(|| is_written(disk.as_ref(), path, &file))?;
    Ok(WriterLock(Arc::new(LockedFiles {
        disk: Arc::clone(disk),
        database: path.to_owned(),
        lock: HeldFile { path: disk.absolute(&file), lock, written: AtomicU64::new(0) },
        growing: Mutex::default(),
        directory: disk.open(path).ok(),
        unchanged: Mutex::default(),
        loss: OnceLock::new(),
    })))
}

/// Checks that no part of a database is a symbolic link to one of another database, as in a copy made by `cp
/// -rs`: a writer would change what it leads to. Directories behind a link that belong to no other database
/// may lie where the user wants them.
fn expect_no_links(disk: &dyn Disk, database: &Path) -> Result<()> {
    for (name, is_file) in [(LOCK_NAME, true), (MANIFEST, true), ("log", false), ("layers", false)] {
        let part = database.join(name);
        let place = disk.follow(&part)?;
        let is_of_other = || match place.parent() {
            Some(directory) => Ok::<_, Error>(disk.look(&directory.join(MANIFEST))?.is_some()),
            None => Ok(false),
        };
        if place != part && (is_file || is_of_other()?) {
            return Err(Error::invalid(message![
                format!("{} is a symbolic link to {}, which ", part.display(), place.display()),
                "a change of this database would change too: make a copy with ",
                Operation::Backup,
                ", and change that",
            ]));
        }
    }
    Ok(())
}

/// The error for a database with a file that another writer has locked.
fn is_written(disk: &dyn Disk, database: &Path, file: &Path) -> Error {
    let holder = match disk.is_locked_here(file) {
        true => LockHolder::OtherHandle,
        false => LockHolder::OtherProcess,
    };
    Error::Locked { path: database.to_owned(), holder }
}

impl WriterLock {
    /// The directory of the database.
    pub(crate) fn database(&self) -> &Path {
        &self.0.database
    }

    /// The disk, which changes no names once the database is not this writer's any more. It does not keep the
    /// lock.
    pub(crate) fn disk(&self) -> Arc<dyn Disk> {
        Arc::new(HeldDisk { disk: Arc::clone(&self.0.disk), held: Arc::downgrade(&self.0) })
    }

    /// Opens a file that grows, to append to it, and locks it. If it has other names, it is copied first:
    /// what another name leads to does not change.
    ///
    /// # Errors
    /// [`Error::Invalid`] if another process, or another handle of this one, has locked it; [`Error::Io`].
    pub(crate) fn open(&self, kind: GrowingFile, path: &Path) -> Result<Arc<dyn File>> {
        let (file, lock) = self.open_apart(path)?;
        self.keep(kind, path, lock);
        Ok(file)
    }

    /// As [`WriterLock::open`], for a file that is changed once: it is locked until the lock that is returned
    /// is dropped.
    ///
    /// # Errors
    /// As [`WriterLock::open`].
    pub(crate) fn open_apart(&self, path: &Path) -> Result<(Arc<dyn File>, Box<dyn Lock>)> {
        let disk = &self.0.disk;
        let mut file = disk.open_for_writing(path)?;
        let mut lock = self.lock_file(file.as_ref())?;
        if disk.identify(path)?.is_some_and(|named| named.links > 1) {
            self.copy_apart(path)?;
            file = disk.open_for_writing(path)?;
            lock = self.lock_file(file.as_ref())?;
        }
        Ok((file, lock))
    }

    /// Locks a file that no name leads to yet but that of its making.
    ///
    /// # Errors
    /// As [`WriterLock::open`].
    pub(crate) fn lock_file(&self, file: &dyn File) -> Result<Box<dyn Lock>> {
        let LockedFiles { disk, database, .. } = &*self.0;
        file.try_lock()?.ok_or_else(|| is_written(disk.as_ref(), database, file.path()))
    }

    /// Keeps the lock on a file that grows, in the place of the one on the file of this kind before it.
    pub(crate) fn keep(&self, kind: GrowingFile, path: &Path, lock: Box<dyn Lock>) {
        self.0.put(&mut self.0.growing(), kind, path, lock);
    }

    /// Renames a new file to `path`, the name of a file that grows, and keeps the lock on the new file in the
    /// place of the other one. No other thread compares between the two steps: it would find that the file
    /// was replaced.
    ///
    /// # Errors
    /// As [`WriterLock::expect`].
    pub(crate) fn replace(
        &self,
        kind: GrowingFile,
        new: &Path,
        path: &Path,
        lock: Box<dyn Lock>,
    ) -> Result<()> {
        self.0.expect()?;
        let mut growing = self.0.growing();
        self.0.disk.replace(new, path)?;
        self.0.put(&mut growing, kind, path, lock);
        Ok(())
    }

    /// Notes that the file of a kind has `bytes` bytes. If it is ever shorter, it was cut, or an older file
    /// was copied over it.
    pub(crate) fn note_written(&self, kind: GrowingFile, bytes: u64) {
        let growing = self.0.growing();
        if let Some((_, file)) = growing.iter().find(|(other, _)| *other == kind) {
            file.written.store(bytes, Ordering::Relaxed);
        }
    }

    /// Replaces a file by a copy of it, durably.
    fn copy_apart(&self, path: &Path) -> Result<()> {
        let LockedFiles { disk, database, .. } = &*self.0;
        let new = database.join(NEW_NAME);
        if disk.look(&new)?.is_some() {
            disk.remove_file(&new)?;
        }
        copy(disk.as_ref(), path, &new, disk.open(path)?.len()?, || Ok(()))?;
        disk.replace(&new, path)?;
        disk.sync_directory(&parent(path))?;
        disk.sync_directory(database)
    }

    /// An error unless the names of the database still lead to the files that this writer has locked, and no
    /// other names do. To be called before anything is acknowledged.
    ///
    /// # Errors
    /// [`Error::Invalid`] that says what happened; [`Error::Io`].
    pub(crate) fn expect(&self) -> Result<()> {
        self.0.expect()
    }

    /// As [`WriterLock::expect`], at the cost of one path and one open file. A second name of MANIFEST is not
    /// noticed.
    ///
    /// # Errors
    /// As [`WriterLock::expect`].
    pub(crate) fn expect_segment(&self) -> Result<()> {
        self.0.expect_segment()
    }

    /// As [`WriterLock::expect`], for LOCK alone, and after the directory of the database was renamed to
    /// `database`.
    ///
    /// # Errors
    /// As [`WriterLock::expect`].
    pub(crate) fn expect_at(&self, database: &Path) -> Result<()> {
        let LockedFiles { disk, lock, .. } = &*self.0;
        let moved = disk.identify(&database.join(LOCK_NAME))?;
        lock.compare(moved, false).map_err(|what| self.0.lost(&database.join(LOCK_NAME), what))
    }
}

impl LockedFiles {
    fn growing(&self) -> MutexGuard<'_, Vec<(GrowingFile, HeldFile)>> {
        self.growing.lock()
    }

    /// Puts a file in the place of the one of its kind.
    fn put(
        &self,
        growing: &mut Vec<(GrowingFile, HeldFile)>,
        kind: GrowingFile,
        path: &Path,
        lock: Box<dyn Lock>,
    ) {
        growing.retain(|(other, _)| *other != kind);
        let path = self.disk.absolute(path);
        growing.push((kind, HeldFile { path, lock, written: AtomicU64::new(0) }));
    }

    fn expect(&self) -> Result<()> {
        self.expect_no_loss()?;
        let now_ns = UNIX_EPOCH.elapsed().map_or(0, |age| age.as_nanos() as i128);
        let directory = self.directory.as_ref().and_then(|directory| directory.status().ok());
        self.compare(&self.lock, false)?;
        self.growing().iter().try_for_each(|(_, file)| self.compare(file, true))?;
        let settled = directory.filter(|directory| now_ns - directory.modified_ns > SETTLED_NS);
        *self.unchanged.lock() = settled;
        Ok(())
    }

    fn expect_segment(&self) -> Result<()> {
        let unchanged = *self.unchanged.lock();
        let is_unchanged =
            |directory: &Arc<dyn File>| directory.status().is_ok_and(|now| Some(now) == unchanged);
        if unchanged.is_none() || !self.directory.as_ref().is_some_and(is_unchanged) {
            return self.expect();
        }
        self.expect_no_loss()?;
        let growing = self.growing();
        let mut segments = growing.iter().filter(|(kind, _)| *kind == GrowingFile::Segment);
        segments.try_for_each(|(_, file)| self.compare(file, true))
    }

    fn expect_no_loss(&self) -> Result<()> {
        self.loss.get().map_or(Ok(()), |loss| Err(Error::invalid(loss.clone())))
    }

    fn compare(&self, file: &HeldFile, grows: bool) -> Result<()> {
        let named = self.disk.identify(&file.path)?;
        file.compare(named, grows).map_err(|what| self.lost(&file.path, what))
    }

    fn lost(&self, path: &Path, what: &str) -> Error {
        let loss = || {
            format!(
                "stopped writing to {}: {} {what}; what was not acknowledged may be lost: see who did that, and open the database again",
                self.database.display(),
                path.display()
            )
        };
        Error::invalid(self.loss.get_or_init(loss).clone())
    }
}

impl HeldFile {
    /// What is wrong with what the path names now.
    fn compare(&self, named: Option<NamedFile>, grows: bool) -> std::result::Result<(), &'static str> {
        match named {
            None => Err("was removed or renamed, or its directory was"),
            Some(named) if named.id != self.lock.id() => {
                Err("was replaced by another file, or its directory was")
            }
            Some(named) if grows && named.links > 1 => Err(
                "has a second name, which a copy made of hard links gives it (`cp -al`) and which would change with it: make copies by a backup",
            ),
            Some(named)
                if grows && named.bytes.is_some_and(|bytes| bytes < self.written.load(Ordering::Relaxed)) =>
            {
                Err("is shorter than what was written to it: it was cut, or an older file was copied over it")
            }
            Some(_) => Ok(()),
        }
    }
}

/// The disk of a writer. It changes names only as long as the writer has the database.
#[derive(Debug)]
struct HeldDisk {
    disk: Arc<dyn Disk>,
    held: Weak<LockedFiles>,
}

impl HeldDisk {
    /// The disk, to change names.
    fn to_change(&self) -> Result<&dyn Disk> {
        let held = self.held.upgrade();
        let held = held.ok_or_else(|| Error::invalid("the database was closed".to_owned()))?;
        held.expect()?;
        Ok(self.disk.as_ref())
    }
}

impl Files for HeldDisk {
    fn create(&self, path: &Path) -> Result<Arc<dyn File>> {
        self.to_change()?.create(path)
    }

    fn open(&self, path: &Path) -> Result<Arc<dyn File>> {
        self.disk.open(path)
    }
}

impl Disk for HeldDisk {
    fn open_for_writing(&self, path: &Path) -> Result<Arc<dyn File>> {
        self.to_change()?.open_for_writing(path)
    }

    fn create_directory(&self, path: &Path) -> Result<()> {
        self.to_change()?.create_directory(path)
    }

    fn create_directory_like(&self, path: &Path, model: &Path) -> Result<()> {
        self.to_change()?.create_directory_like(path, model)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.to_change()?.rename(from, to)
    }

    fn replace(&self, from: &Path, to: &Path) -> Result<()> {
        self.to_change()?.replace(from, to)
    }

    fn exchange(&self, a: &Path, b: &Path) -> Result<()> {
        self.to_change()?.exchange(a, b)
    }

    fn link(&self, from: &Path, to: &Path) -> Result<bool> {
        self.to_change()?.link(from, to)
    }

    fn clone_file(&self, from: &Path, to: &Path) -> Result<bool> {
        self.to_change()?.clone_file(from, to)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        self.to_change()?.remove_file(path)
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        self.to_change()?.remove_directory(path)
    }

    fn list(&self, path: &Path) -> Result<Vec<DirectoryEntry>> {
        self.disk.list(path)
    }

    fn follow(&self, path: &Path) -> Result<PathBuf> {
        self.disk.follow(path)
    }

    fn look(&self, path: &Path) -> Result<Option<DirectoryEntry>> {
        self.disk.look(path)
    }

    fn identify(&self, path: &Path) -> Result<Option<NamedFile>> {
        self.disk.identify(path)
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.disk.absolute(path)
    }

    fn sync_directory(&self, path: &Path) -> Result<()> {
        self.disk.sync_directory(path)
    }

    fn try_lock(&self, path: &Path) -> Result<Option<Box<dyn Lock>>> {
        self.disk.try_lock(path)
    }

    fn is_locked_here(&self, path: &Path) -> bool {
        self.disk.is_locked_here(path)
    }

    fn free_bytes(&self, path: &Path) -> Result<u64> {
        self.disk.free_bytes(path)
    }

    fn scratch(&self, directory: &Path) -> Result<Scratch> {
        self.disk.scratch(directory)
    }

    fn paging(&self, directory: &Path) -> Option<Paging> {
        self.disk.paging(directory)
    }

    fn open_direct(&self, path: &Path) -> Result<Arc<dyn File>> {
        self.disk.open_direct(path)
    }
}
