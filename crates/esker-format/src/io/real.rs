//! The file system of the operating system.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)] // The one file that may use `std::fs`.

use std::fs;
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, FallocateFlags, RenameFlags};

use super::disk::{DirectoryEntry, Disk, File, Files, Lock, NamedFile};
use super::file_id::FileId;
use super::frames::DIRECT_BYTES;
#[cfg(target_os = "linux")]
use super::frames::Frame;
use super::locks::{is_own, lock_at, lock_open};
use super::map::Map;
use super::paging::Paging;
#[cfg(target_os = "linux")]
use super::reads::Reads;
use super::scratch::Scratch;
use crate::error::{Error, Result};

/// The file system of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Files for RealDisk {
    fn create(&self, path: &Path) -> Result<Arc<dyn File>> {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(mode_in(path) & 0o666);
        Ok(Arc::new(RealFile::new(options.open(path).map_err(Error::io("create", path))?, path)))
    }

    fn open(&self, path: &Path) -> Result<Arc<dyn File>> {
        expect_file(path)?;
        let file = fs::File::open(path).map_err(Error::io("open", path))?;
        Ok(Arc::new(RealFile::new(file, path)))
    }
}

impl Disk for RealDisk {
    fn open_for_writing(&self, path: &Path) -> Result<Arc<dyn File>> {
        expect_file(path)?;
        let file = fs::OpenOptions::new().read(true).write(true).open(path);
        Ok(Arc::new(RealFile::new(file.map_err(Error::io("open for writing", path))?, path)))
    }

    fn create_directory(&self, path: &Path) -> Result<()> {
        fs::DirBuilder::new().mode(mode_in(path)).create(path).map_err(Error::io("create", path))
    }

    fn create_directory_like(&self, path: &Path, model: &Path) -> Result<()> {
        let mode = mode_like(model) & mode_in(path);
        fs::DirBuilder::new().mode(mode).create(path).map_err(Error::io("create", path))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        use rustix::io::Errno;
        match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // This file system cannot refuse to replace `to`: checking first is the best alternative.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) if self.look(to)?.is_none() => {
                fs::rename(from, to).map_err(Error::io("rename to", to))
            }
            done => done.map_err(|errno| Error::io("rename to", to)(errno.into())),
        }
    }

    fn replace(&self, from: &Path, to: &Path) -> Result<()> {
        fs::rename(from, to).map_err(Error::io("replace", to))
    }

    fn exchange(&self, a: &Path, b: &Path) -> Result<()> {
        rustix::fs::renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)
            .map_err(|errno| Error::io("replace", b)(errno.into()))
    }

    fn link(&self, from: &Path, to: &Path) -> Result<bool> {
        use std::io::ErrorKind::{CrossesDevices, PermissionDenied, TooManyLinks, Unsupported};
        match fs::hard_link(from, to) {
            Ok(()) => Ok(true),
            Err(e) if matches!(e.kind(), CrossesDevices | PermissionDenied | TooManyLinks | Unsupported) => {
                Ok(false)
            }
            Err(e) => Err(Error::io("link", to)(e)),
        }
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        fs::remove_file(path).map_err(Error::io("remove", path))
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        fs::remove_dir_all(path).map_err(Error::io("remove", path))
    }

    fn list(&self, path: &Path) -> Result<Vec<DirectoryEntry>> {
        let failed = || Error::io("list", path);
        let mut entries = Vec::new();
        for entry in fs::read_dir(path).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let name = entry.file_name().to_string_lossy().into_owned();
            match entry.metadata() {
                Ok(metadata) => entries.push(describe(name, &metadata)),
                // Another process or thread removed it after `read_dir` returned it.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => return Err(failed()(e)),
            }
        }
        entries.sort();
        Ok(entries)
    }

    fn follow(&self, path: &Path) -> Result<PathBuf> {
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => {
                fs::canonicalize(path).map_err(Error::io("follow the symbolic link", path))
            }
            _ => Ok(path.to_owned()),
        }
    }

    fn look(&self, path: &Path) -> Result<Option<DirectoryEntry>> {
        match fs::metadata(path) {
            Ok(metadata) => {
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
                Ok(Some(describe(name.unwrap_or_default(), &metadata)))
            }
            Err(e)
                if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            Err(e) => Err(Error::io("look at", path)(e)),
        }
    }

    fn identify(&self, path: &Path) -> Result<Option<NamedFile>> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(named(&metadata))),
            Err(e)
                if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            Err(e) => Err(Error::io("look at", path)(e)),
        }
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
    }

    #[cfg(target_os = "linux")]
    fn clone_file(&self, from: &Path, to: &Path) -> Result<bool> {
        let source = fs::File::open(from).map_err(Error::io("open", from))?;
        let target = self.create(to)?;
        let target_file = fs::OpenOptions::new().write(true).open(to).map_err(Error::io("open", to))?;
        match rustix::fs::ioctl_ficlone(&target_file, &source) {
            Ok(()) => target.sync().map(|()| true),
            // This file system shares no blocks.
            Err(_) => self.remove_file(to).map(|()| false),
        }
    }

    fn sync_directory(&self, path: &Path) -> Result<()> {
        fs::File::open(path).and_then(|directory| directory.sync_all()).map_err(Error::io("sync", path))
    }

    fn try_lock(&self, path: &Path) -> Result<Option<Box<dyn Lock>>> {
        let lock = lock_at(path, mode_in(path) & 0o666, || ())?;
        Ok(lock.map(|lock| Box::new(lock) as Box<dyn Lock>))
    }

    fn is_locked_here(&self, path: &Path) -> bool {
        self.identify(path).ok().flatten().is_some_and(|named| is_own(named.id))
    }

    fn open_direct(&self, path: &Path) -> Result<Arc<dyn File>> {
        expect_file(path)?;
        let file = RealFile::new(fs::File::open(path).map_err(Error::io("open", path))?, path);
        let direct = open_direct(path).map_err(Error::io("open", path))?;
        let direct = match direct.map(|direct| RealFile::new(direct, path)) {
            // Another file may have taken the name between the two calls.
            Some(direct) if direct.id()? == file.id()? => Some(direct.file),
            _ => None,
        };
        Ok(Arc::new(RealFile { direct, ..file }))
    }

    fn scratch(&self, directory: &Path) -> Result<Scratch> {
        Scratch::in_file(directory)
    }

    fn paging(&self, directory: &Path) -> Option<Paging> {
        Paging::begin(directory)
    }

    fn free_bytes(&self, path: &Path) -> Result<u64> {
        let stat = rustix::fs::statvfs(path)
            .map_err(|errno| Error::io("ask for the free space of", path)(errno.into()))?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

/// Permissions for something as private as `directory`, before the process's own mask: none for the group, or
/// for others, if the directory has none for them.
fn mode_like(directory: &Path) -> u32 {
    // If it cannot be looked at, creating something in it will tell.
    let mode = fs::metadata(directory).map_or(0o777, |metadata| metadata.permissions().mode());
    [0o070, 0o007].iter().filter(|&&class| mode & class == 0).fold(0o777, |all, class| all & !class)
}

/// Permissions for what is created at `path`: the new files of a private database are private too.
fn mode_in(path: &Path) -> u32 {
    mode_like(&super::disk::parent(path))
}

/// Refuses pipes and devices: opening a pipe waits for its other end, deaf to signals.
fn expect_file(path: &Path) -> Result<()> {
    let kind = fs::metadata(path).map_err(Error::io("open", path))?.file_type();
    if kind.is_file() || kind.is_dir() {
        return Ok(());
    }
    let reason = "it is a pipe or a device, where a file should be; restore the database from a copy";
    Err(Error::io("open", path)(std::io::Error::other(reason)))
}

/// Opens for direct reads; `None` if the file system has none.
fn open_direct(path: &Path) -> std::io::Result<Option<fs::File>> {
    let flags = rustix::fs::OFlags::DIRECT.bits() as i32;
    match fs::OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(e) if e.kind() == std::io::ErrorKind::InvalidInput => Ok(None),
        opened => opened.map(Some),
    }
}

/// Opens an input of the user for reading from its start: a file, a pipe or a device.
///
/// # Errors
/// [`Error::Io`].
pub fn open_input(path: &Path) -> Result<Box<dyn std::io::Read + Send>> {
    Ok(Box::new(fs::File::open(path).map_err(Error::io("open", path))?))
}

/// Length of an input of the user; `None` if it is not a regular file.
pub fn input_bytes(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len())
}

/// What the system counts the room of files in.
const BLOCK_UNIT_BYTES: u64 = 512;

/// A file of an input, by which it is known after it was renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InputId {
    /// The device.
    pub device: u64,
    /// Its number on the device.
    pub number: u64,
    /// When it came to be, in nanoseconds since 1970; `None` where the system does not say it. It tells a new
    /// file from a removed one, whose number it may have got.
    pub birth_ns: Option<u64>,
}

/// What a name of an input names now; `None` if there is no such file.
pub fn input_id(path: &Path) -> Option<InputId> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(path).ok()?;
    let born = metadata.created().ok().and_then(|born| born.duration_since(std::time::UNIX_EPOCH).ok());
    let birth_ns = born.and_then(|born| u64::try_from(born.as_nanos()).ok());
    Some(InputId { device: metadata.dev(), number: metadata.ino(), birth_ns })
}

fn named(metadata: &fs::Metadata) -> NamedFile {
    use std::os::unix::fs::MetadataExt;
    let modified_ns = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
    NamedFile { id: FileId::of(metadata), links: metadata.nlink(), modified_ns, bytes: Some(metadata.len()) }
}

fn describe(name: String, metadata: &fs::Metadata) -> DirectoryEntry {
    use std::os::unix::fs::MetadataExt;
    let (is_directory, is_link) = (metadata.is_dir(), metadata.is_symlink());
    let bytes = if is_directory { 0 } else { metadata.len() };
    let stored_bytes = bytes.min(metadata.blocks().saturating_mul(BLOCK_UNIT_BYTES));
    DirectoryEntry { name, is_directory, is_link, bytes, stored_bytes }
}

#[derive(Debug)]
struct RealFile {
    file: fs::File,
    /// The same file, for reads past the page cache.
    direct: Option<fs::File>,
    path: PathBuf,
}

impl RealFile {
    fn new(file: fs::File, path: &Path) -> Self {
        Self { file, direct: None, path: path.to_owned() }
    }

    /// The handle for a read.
    fn handle(&self, buffer: &[u8], offset: u64) -> &fs::File {
        let is_aligned =
            (buffer.as_ptr().addr() | buffer.len() | offset as usize).is_multiple_of(DIRECT_BYTES);
        self.direct.as_ref().filter(|_| is_aligned).unwrap_or(&self.file)
    }
}

impl File for RealFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn id(&self) -> Result<FileId> {
        Ok(FileId::of(&self.file.metadata().map_err(Error::io("look at", &self.path))?))
    }

    fn status(&self) -> Result<NamedFile> {
        Ok(named(&self.file.metadata().map_err(Error::io("look at", &self.path))?))
    }

    #[cfg(target_os = "linux")]
    fn reads(&self, depth: usize, frames: &[Frame]) -> Result<Option<Box<dyn Reads>>> {
        let copy = |file: &fs::File| file.try_clone().map_err(Error::io("open", &self.path));
        let rest: Arc<dyn File> = Arc::new(Self::new(copy(&self.file)?, &self.path));
        let direct = copy(self.direct.as_ref().unwrap_or(&self.file))?;
        let reads = super::uring::UringReads::start(&self.path, direct.into(), rest, depth, frames);
        Ok(reads.map(|reads| Box::new(reads) as Box<dyn Reads>))
    }

    fn is_direct(&self) -> bool {
        self.direct.is_some()
    }

    fn len(&self) -> Result<u64> {
        Ok(self.file.metadata().map_err(Error::io("look at", &self.path))?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        loop {
            match self.handle(buffer, offset).read_at(buffer, offset) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                done => return done.map_err(Error::io("read", &self.path)),
            }
        }
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.file.write_all_at(bytes, offset).map_err(Error::io("write to", &self.path))
    }

    fn set_length(&self, bytes: u64) -> Result<()> {
        self.file.set_len(bytes).map_err(Error::io("set the length of", &self.path))
    }

    fn sync(&self) -> Result<()> {
        // `fdatasync`: syncs the length but not the times, which would cost a second write.
        self.file.sync_data().map_err(Error::io("sync", &self.path))
    }

    fn try_lock(&self) -> Result<Option<Box<dyn Lock>>> {
        Ok(lock_open(&self.file, &self.path)?.map(|lock| Box::new(lock) as Box<dyn Lock>))
    }

    fn discard(&self, range: Range<u64>) {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // A file system without holes keeps the space.
        let _ = rustix::fs::fallocate(&self.file, flags, range.start, range.end - range.start);
    }

    fn map(&self) -> Result<Map> {
        let metadata = self.file.metadata().map_err(Error::io("look at", &self.path))?;
        Map::of_file(&self.file, &metadata, &self.path).map_err(Error::io("map", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_created_in_a_private_directory_is_private() {
        let directory = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        for (allowed, inside, file) in [(0o700, 0o700, 0o600), (0o750, 0o750, 0o640), (0o711, 0o755, 0o644)] {
            let home = directory.path().join(format!("{allowed:o}"));
            fs::create_dir(&home).unwrap();
            fs::set_permissions(&home, fs::Permissions::from_mode(allowed)).unwrap();
            let [inner, other, lock] = ["inner", "inner/other", "LOCK"].map(|name| home.join(name));
            RealDisk.create_directory(&inner).unwrap();
            RealDisk.write(&other, b"1").unwrap();
            drop(RealDisk.try_lock(&lock).unwrap());
            let masked = |path: &Path| mode(path) & 0o755;
            assert_eq!([masked(&inner), masked(&other)], [inside, file]);
            let (read, written) = (mode(&lock) & 0o444, mode(&lock) & 0o222);
            assert_eq!(read, written << 1, "those who cannot write must not read what is locked");
            let outside = directory.path().join(format!("like {allowed:o}"));
            RealDisk.create_directory_like(&outside, &home).unwrap();
            assert_eq!(masked(&outside), inside);
        }
    }

    #[test]
    fn a_listed_link_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("a")).unwrap();
        std::os::unix::fs::symlink("a", directory.path().join("b")).unwrap();
        let entries = RealDisk.list(directory.path()).unwrap();
        let kinds: Vec<_> = entries.iter().map(|entry| (entry.is_directory, entry.is_link)).collect();
        assert_eq!(kinds, [(true, false), (false, true)]);
    }

    /// Opening it waited for its other end, also after SIGTERM.
    #[test]
    fn a_pipe_in_the_place_of_a_file_is_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("MANIFEST");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(CWD, &path, kind, mode, 0).unwrap();
        let opened = [RealDisk.open(&path), RealDisk.open_for_writing(&path), RealDisk.open_direct(&path)];
        for opened in opened {
            let message = opened.map(drop).unwrap_err().to_string();
            assert!(message.contains("MANIFEST: it is a pipe or a device"), "{message}");
        }
    }
}
