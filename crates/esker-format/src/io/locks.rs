//! Locks on files of the operating system.
//!
//! A lock belongs to an open file (an OFD lock of `fcntl`), and is a lock for writing: taking it needs the
//! right to write to the file. Readers may share a lock on a file that they can open, which would keep a
//! writer out. So nobody can read a file that is there to be locked without the right to write to it.
//!
//! Where the system or the file system has no such locks, `flock` takes their place on files that are there
//! to be locked. It needs no right to write, so it is not taken on files that readers open.
#![allow(unsafe_code)] // rustix has no OFD locks.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)] // Part of the disk access module.

use parking_lot::{Mutex, MutexGuard};
use std::fs;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::FlockOperation;

use super::disk::Lock;
use super::file_id::FileId;
use crate::error::{Error, Result};

/// A lock that its open file holds.
#[derive(Debug)]
pub(super) struct RealLock {
    file: fs::File,
    /// The process that took it.
    owner: u32,
    id: FileId,
}

impl RealLock {
    fn new(file: fs::File, owner: u32, id: FileId) -> Self {
        own_locks().push((owner, id));
        Self { file, owner, id }
    }
}

/// The locks that handles of this process hold, by process: a forked one inherits the list.
fn own_locks() -> MutexGuard<'static, Vec<(u32, FileId)>> {
    static LOCKS: Mutex<Vec<(u32, FileId)>> = Mutex::new(Vec::new());
    LOCKS.lock()
}

/// Whether a handle of this process holds the lock on a file.
pub(super) fn is_own(id: FileId) -> bool {
    own_locks().contains(&(std::process::id(), id))
}

impl Lock for RealLock {
    fn id(&self) -> FileId {
        self.id
    }
}

impl Drop for RealLock {
    /// Unlocks explicitly: a forked process shares the open file until it starts another program, so closing
    /// the file would not release the lock. A forked process, in turn, must not release the lock of its
    /// parent.
    ///
    /// The entry goes last, so that a thread that finds the file locked finds the entry too. Another thread
    /// may have locked the file meanwhile and added an equal entry, so only one goes. Between the two steps,
    /// a lock of another process looks like one of this.
    fn drop(&mut self) {
        if self.owner == std::process::id() {
            unlock(&self.file);
        }
        let mut locks = own_locks();
        if let Some(own) = locks.iter().position(|lock| *lock == (self.owner, self.id)) {
            locks.swap_remove(own);
        }
    }
}

/// Locks the file at `path`; creates it with the permissions of `mode` to write, if it does not exist.
/// Between its opening and its locking, when tests call `opened`, another process may replace the database:
/// the file that is then locked belongs to the old one, so it is compared with the file at `path`.
pub(super) fn lock_at(path: &Path, mode: u32, mut opened: impl FnMut()) -> Result<Option<RealLock>> {
    let failed = || Error::io("lock", path);
    loop {
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(mode & 0o222);
        let file = options.open(path).map_err(failed())?;
        opened();
        let locked = FileId::of(&file.metadata().map_err(failed())?);
        if !lock_or_flock(&file).map_err(failed())? {
            return Ok(None);
        }
        let lock = RealLock::new(file, std::process::id(), locked);
        match fs::metadata(path) {
            Ok(metadata) if FileId::of(&metadata) == locked => {
                let mode = metadata.permissions().mode();
                if mode != private(mode) {
                    // Only its owner can.
                    let _ = lock.file.set_permissions(fs::Permissions::from_mode(private(mode)));
                }
                return Ok(Some(lock));
            }
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(failed()(e)),
        }
    }
}

/// Locks an open file that readers may open too.
pub(super) fn lock_open(file: &fs::File, path: &Path) -> Result<Option<RealLock>> {
    let failed = || Error::io("lock", path);
    let file = file.try_clone().map_err(failed())?;
    if ofd::lock(&file).map_err(failed())? == Some(false) && !ofd::is_shared(&file) {
        return Ok(None);
    }
    let id = FileId::of(&file.metadata().map_err(failed())?);
    Ok(Some(RealLock::new(file, std::process::id(), id)))
}

/// Locks a file that is there to be locked; false if another open file has its lock.
fn lock_or_flock(file: &fs::File) -> std::io::Result<bool> {
    if let Some(locked) = ofd::lock(file)? {
        return Ok(locked);
    }
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Releases the lock, whichever of the two it is.
fn unlock(file: &fs::File) {
    let _ = ofd::unlock(file);
    let _ = rustix::fs::flock(file, FlockOperation::Unlock);
}

/// Permissions by which those can read a file who can write to it, and no others.
fn private(mode: u32) -> u32 {
    (mode & !0o444) | ((mode & 0o222) << 1)
}

#[cfg(target_os = "linux")]
mod ofd {
    use std::fs::File;
    use std::io::{Error, Result};
    use std::os::fd::AsRawFd;

    /// Takes the write lock of an open file; false if another open file has one, `None` if the file system
    /// has no such locks.
    pub(super) fn lock(file: &File) -> Result<Option<bool>> {
        match call(file, libc::F_OFD_SETLK, libc::F_WRLCK).map_err(|error| (error.raw_os_error(), error)) {
            Ok(_) => Ok(Some(true)),
            Err((Some(libc::EAGAIN | libc::EACCES), _)) => Ok(Some(false)),
            Err((Some(libc::EINVAL | libc::ENOSYS | libc::EOPNOTSUPP), _)) => Ok(None),
            Err((_, error)) => Err(error),
        }
    }

    /// Whether readers share a lock on a file, so that nobody has the write lock.
    pub(super) fn is_shared(file: &File) -> bool {
        call(file, libc::F_OFD_GETLK, libc::F_WRLCK).is_ok_and(|found| i32::from(found) == libc::F_RDLCK)
    }

    pub(super) fn unlock(file: &File) -> Result<()> {
        call(file, libc::F_OFD_SETLK, libc::F_UNLCK).map(|_| ())
    }

    /// Sets or asks for a lock on a whole file; returns the kind of the lock that the system describes.
    fn call(file: &File, command: libc::c_int, kind: libc::c_int) -> Result<libc::c_short> {
        let mut lock = libc::flock {
            l_type: kind as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: 0,
            l_len: 0,
            l_pid: 0,
        };
        // SAFETY: the descriptor is open, and the structure lives as long as the call, which may change it.
        match unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) } {
            -1 => Err(Error::last_os_error()),
            _ => Ok(lock.l_type),
        }
    }
}

/// Other systems have no such locks.
#[cfg(not(target_os = "linux"))]
mod ofd {
    use std::fs::File;
    use std::io::Result;

    pub(super) fn lock(_file: &File) -> Result<Option<bool>> {
        Ok(None)
    }

    pub(super) fn is_shared(_file: &File) -> bool {
        false
    }

    pub(super) fn unlock(_file: &File) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{Disk, RealDisk};

    /// As `RealDisk::try_lock`, and a second handle of the file, such as a forked process has.
    fn locked_and_shared(path: &Path, owner: u32) -> (RealLock, fs::File) {
        let file = fs::File::create(path).unwrap();
        assert!(lock_or_flock(&file).unwrap());
        let shared = file.try_clone().unwrap();
        let id = FileId::of(&file.metadata().unwrap());
        (RealLock::new(file, owner, id), shared)
    }

    #[test]
    fn dropping_a_lock_releases_it_although_a_forked_process_shares_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("LOCK");
        let (lock, shared) = locked_and_shared(&path, std::process::id());
        assert!(RealDisk.try_lock(&path).unwrap().is_none() && RealDisk.is_locked_here(&path));
        drop(lock);
        assert!(!RealDisk.is_locked_here(&path));
        assert!(RealDisk.try_lock(&path).unwrap().is_some());
        drop(shared);
    }

    #[test]
    fn a_lock_taken_while_another_thread_drops_its_own_stays_known() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("LOCK");
        let (lock, shared) = locked_and_shared(&path, std::process::id());
        // The first is unlocked, and its entry is still there.
        let next = RealLock::new(shared, lock.owner, lock.id);
        drop(lock);
        assert!(RealDisk.is_locked_here(&path));
        drop(next);
        assert!(!RealDisk.is_locked_here(&path));
    }

    #[test]
    fn the_lock_of_a_database_replaced_before_it_is_taken_is_not_the_lock_of_the_new_one() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for name in ["web.esker", "staging"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("LOCK"), "").unwrap();
        }
        // Another process replaces the database, and goes on writing to the new one.
        let new = RealDisk.try_lock(&at("staging/LOCK")).unwrap();
        let replace = || {
            if at("staging").exists() {
                RealDisk.exchange(&at("staging"), &at("web.esker")).unwrap();
                fs::remove_dir_all(at("staging")).unwrap();
            }
        };
        assert!(
            lock_at(&at("web.esker/LOCK"), 0o666, replace).unwrap().is_none(),
            "two writers in one database"
        );
        drop(new);
        assert!(RealDisk.try_lock(&at("web.esker/LOCK")).unwrap().is_some());
        let gone = lock_at(&at("web.esker/LOCK"), 0o666, || drop(fs::remove_dir_all(at("web.esker"))));
        assert!(gone.unwrap_err().to_string().starts_with("cannot lock "), "the database is gone");
    }

    #[test]
    fn a_forked_process_does_not_release_the_lock_of_its_parent() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("LOCK");
        let (lock, shared) = locked_and_shared(&path, std::process::id() + 1);
        assert!(!RealDisk.is_locked_here(&path));
        drop(lock);
        assert!(RealDisk.try_lock(&path).unwrap().is_none());
        drop(shared);
        assert!(RealDisk.try_lock(&path).unwrap().is_some());
    }

    fn kind_of_lock(file: &fs::File, kind: libc::c_int) -> bool {
        let mut lock = libc::flock { l_type: kind as _, l_whence: 0, l_start: 0, l_len: 0, l_pid: 0 };
        // SAFETY: as in `ofd`.
        let done =
            unsafe { libc::fcntl(std::os::fd::AsRawFd::as_raw_fd(file), libc::F_OFD_SETLK, &raw mut lock) };
        done == 0
    }

    /// Any process that could open LOCK could lock it, and kept the writer out.
    #[test]
    #[cfg(target_os = "linux")]
    fn only_those_who_may_write_can_open_a_lock_and_an_older_one_becomes_private() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("LOCK");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        drop(RealDisk.try_lock(&path).unwrap());
        assert_eq!(mode(), private(mode()));
        assert_eq!(mode() & 0o600, 0o600);
        for (before, after) in
            [(0o644, 0o600), (0o664, 0o660), (0o666, 0o666), (0o200, 0o600), (0o755, 0o711)]
        {
            fs::set_permissions(&path, fs::Permissions::from_mode(before)).unwrap();
            drop(RealDisk.try_lock(&path).unwrap().unwrap());
            assert_eq!(mode(), after, "{before:o}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_reader_cannot_take_the_lock_for_writing_and_its_own_does_not_keep_a_writer_from_a_file_that_it_reads()
     {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("MANIFEST");
        RealDisk.write(&path, b"1").unwrap();
        let reader = fs::File::open(&path).unwrap();
        assert!(!kind_of_lock(&reader, libc::F_WRLCK), "the file is not open for writing");
        assert!(kind_of_lock(&reader, libc::F_RDLCK));
        let writer = RealDisk.open_for_writing(&path).unwrap();
        assert!(writer.try_lock().unwrap().is_some());
        drop(reader);
        let lock = writer.try_lock().unwrap().unwrap();
        let other = RealDisk.open_for_writing(&path).unwrap();
        assert!(other.try_lock().unwrap().is_none(), "two writers of one file");
        assert!(RealDisk.is_locked_here(&path));
        drop(lock);
        assert!(other.try_lock().unwrap().is_some());
    }
}
