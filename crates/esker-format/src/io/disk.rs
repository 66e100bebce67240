//! The traits of disks, files and locks.

use std::fmt::Debug;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file_id::FileId;
use super::frames::Frame;
use super::map::Map;
use super::paging::Paging;
use super::reads::Reads;
use super::scratch::Scratch;
use crate::error::{Error, Result};

/// A file or directory, as a directory lists it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirectoryEntry {
    /// The name, without the directory.
    pub name: String,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether it is a symbolic link, which [`Disk::list`] does not follow.
    pub is_link: bool,
    /// Length of the file; 0 for a directory.
    pub bytes: u64,
    /// The part of the length that takes room on the disk: holes do not.
    pub stored_bytes: u64,
}

/// A file or directory that a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedFile {
    /// The file.
    pub id: FileId,
    /// The number of its names.
    pub links: u64,
    /// When it was changed last, in nanoseconds since 1970: of a directory, when a name in it came, went or
    /// changed. 0 on disks in memory.
    pub modified_ns: i128,
    /// Its length; `None` on disks in memory.
    pub bytes: Option<u64>,
}

/// Files by name: a [`Disk`], or an archive that keeps small files together in one file ([`crate::Archive`]).
///
/// Every method fails with [`Error::Io`], naming the path.
pub trait Files: Debug + Send + Sync {
    /// Creates a file for reading and writing. Its name is durable after [`Disk::sync_directory`] of its
    /// parent.
    fn create(&self, path: &Path) -> Result<Arc<dyn File>>;

    /// Opens an existing file for reading.
    fn open(&self, path: &Path) -> Result<Arc<dyn File>>;
}

/// A file system. Relative paths are relative to the working directory.
///
/// Every method fails with [`Error::Io`], naming the path.
pub trait Disk: Files {
    /// Opens an existing file for reading and writing.
    fn open_for_writing(&self, path: &Path) -> Result<Arc<dyn File>>;

    /// Creates a directory, whose parent must exist.
    fn create_directory(&self, path: &Path) -> Result<()>;

    /// As [`Disk::create_directory`], as private as the directory `model`.
    fn create_directory_like(&self, path: &Path, _model: &Path) -> Result<()> {
        self.create_directory(path)
    }

    /// Renames a file or directory. Fails if `to` exists.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// Renames a file atomically, over the file `to` if that exists: `to` is missing at no moment.
    fn replace(&self, from: &Path, to: &Path) -> Result<()>;

    /// Swaps two existing names atomically: neither is missing at any moment. Some file systems cannot.
    fn exchange(&self, a: &Path, b: &Path) -> Result<()>;

    /// Gives an existing file a second name, a hard link, which must not exist. It is durable after
    /// [`Disk::sync_directory`] of its parent. `false` if the file system has no such links, or allows none
    /// here.
    fn link(&self, _from: &Path, _to: &Path) -> Result<bool> {
        Ok(false)
    }

    /// Removes a file.
    fn remove_file(&self, path: &Path) -> Result<()>;

    /// Removes a directory and its contents.
    fn remove_directory(&self, path: &Path) -> Result<()>;

    /// Lists a directory, sorted by name. Names that are not UTF-8, which Esker never writes, have
    /// replacement characters.
    fn list(&self, path: &Path) -> Result<Vec<DirectoryEntry>>;

    /// The path that a symbolic link at `path` leads to; `path` itself if it is none. Fails if the link leads
    /// nowhere.
    fn follow(&self, path: &Path) -> Result<PathBuf> {
        Ok(path.to_owned())
    }

    /// The file or directory at `path`, or `None` if there is none.
    fn look(&self, path: &Path) -> Result<Option<DirectoryEntry>>;

    /// The file that a path names now; `None` if there is none. Disks in memory know no directories.
    fn identify(&self, path: &Path) -> Result<Option<NamedFile>>;

    /// The path from the root, which keeps its meaning when the process changes its working directory.
    fn absolute(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    /// Makes a file that shares its blocks on the disk with another until one of the two changes. It is
    /// durable after [`File::sync`] and [`Disk::sync_directory`] of its parent. `false` if the file system
    /// has no such files.
    fn clone_file(&self, _from: &Path, _to: &Path) -> Result<bool> {
        Ok(false)
    }

    /// Makes the names in a directory durable.
    fn sync_directory(&self, path: &Path) -> Result<()>;

    /// Takes the exclusive lock on a file, and creates the file if it does not exist. `None` if it is already
    /// locked, by this process or another. Dropping the lock or ending the process releases it; renaming the
    /// file does not. On return the locked file is the one at `path`, also if another process exchanged files
    /// meanwhile, and only those who may write to it can read it: nobody else can lock it.
    fn try_lock(&self, path: &Path) -> Result<Option<Box<dyn Lock>>>;

    /// Whether this process holds the lock on a file.
    fn is_locked_here(&self, _path: &Path) -> bool {
        false
    }

    /// Free bytes on the file system of `path`.
    fn free_bytes(&self, path: &Path) -> Result<u64>;

    /// Memory backed by an unnamed file in `directory`, to which the system pages it out; it ends with the
    /// process. A disk in memory returns heap memory.
    fn scratch(&self, _directory: &Path) -> Result<Scratch> {
        Ok(Scratch::heap())
    }

    /// Has large pieces of memory lie in an unnamed file, at first in `directory`, as long as the result
    /// exists: see [`Paging`]. `None` if that is not possible.
    fn paging(&self, _directory: &Path) -> Option<Paging> {
        None
    }

    /// Opens an existing file for direct reads, which bypass the page cache where the system can and where
    /// offset, length and memory address are multiples of 4096 bytes.
    fn open_direct(&self, path: &Path) -> Result<Arc<dyn File>> {
        self.open(path)
    }

    /// Reads a whole small file.
    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let file = self.open(path)?;
        let bytes = usize::try_from(file.len()?)
            .map_err(|_| Error::invalid(format!("{} is too large to read at once", path.display())))?;
        let mut content = vec![0; bytes];
        file.read_exact_at(&mut content, 0)?;
        Ok(content)
    }

    /// Writes a new file and syncs it.
    fn write(&self, path: &Path, content: &[u8]) -> Result<()> {
        let file = self.create(path)?;
        file.write_at(content, 0)?;
        file.sync()
    }
}

/// An open file. Each call passes its offset, so threads share a file without a lock.
pub trait File: Debug + Send + Sync {
    /// The path at which it was opened.
    fn path(&self) -> &Path;

    /// Its id.
    fn id(&self) -> Result<FileId>;

    /// What its names name now. Disks in memory do not say.
    fn status(&self) -> Result<NamedFile> {
        Err(Error::io("look at", self.path())(std::io::ErrorKind::Unsupported.into()))
    }

    /// Opens a queue of at most `depth` concurrent reads, direct if the file was opened with
    /// [`Disk::open_direct`]. The reads fill frames; the queue registers the memory of `frames` with the
    /// system. `None` if the system has nothing better than threads.
    fn reads(&self, _depth: usize, _frames: &[Frame]) -> Result<Option<Box<dyn Reads>>> {
        Ok(None)
    }

    /// Whether its reads bypass the page cache where they can: it was opened with [`Disk::open_direct`], and
    /// the system has such reads.
    fn is_direct(&self) -> bool {
        false
    }

    /// Its current length.
    fn len(&self) -> Result<u64>;

    /// Whether its length is zero.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads at most `buffer.len()` bytes at `offset`; 0 only at the end of the file or for an empty buffer.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize>;

    /// Writes all of `bytes` at `offset`, growing the file if necessary.
    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()>;

    /// Truncates the file to `bytes`, or extends it with zeros. The removed range must not be mapped.
    fn set_length(&self, bytes: u64) -> Result<()>;

    /// Makes contents and length durable. After a failure, do not rely on the file and do not sync it again.
    fn sync(&self) -> Result<()>;

    /// Takes the exclusive lock on the file, which is open for writing; as [`Disk::try_lock`], except that a
    /// lock that readers share does not prevent it.
    fn try_lock(&self) -> Result<Option<Box<dyn Lock>>> {
        Err(Error::io("lock", self.path())(std::io::ErrorKind::Unsupported.into()))
    }

    /// Hint: frees the disk space of a range that will not be read again (punches a hole). The length stays.
    fn discard(&self, _range: Range<u64>) {}

    /// Maps the whole file for reading. The file must not change while the map exists; its name may be
    /// removed.
    fn map(&self) -> Result<Map>;

    /// Fills `buffer` from `offset` on; [`Error::Corrupt`] if the file ends too early.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            match self.read_at(&mut buffer[done..], offset + done as u64)? {
                0 => {
                    let reason = format!(
                        "the file ends {} too early",
                        esker_graph::counted(buffer.len() - done, "byte", "bytes")
                    );
                    return Err(Error::corrupt(self.path(), offset + done as u64, reason));
                }
                bytes => done += bytes,
            }
        }
        Ok(())
    }
}

/// An exclusive lock, released when dropped.
pub trait Lock: Debug + Send + Sync {
    /// The locked file.
    fn id(&self) -> FileId;
}

/// Size of the pieces in which a file is copied.
const COPY_BYTES: u64 = 1 << 20;

/// Copies the first `bytes` bytes of a file to a new one, which is synced. `check` is called before each
/// piece, and ends the copying by an error.
///
/// # Errors
/// [`Error::Io`]; [`Error::Corrupt`] if the file is shorter; those of `check`.
pub fn copy(
    disk: &dyn Disk,
    from: &Path,
    to: &Path,
    bytes: u64,
    mut check: impl FnMut() -> Result<()>,
) -> Result<()> {
    let (source, target) = (disk.open(from)?, disk.create(to)?);
    let mut piece = vec![0; bytes.min(COPY_BYTES) as usize];
    let mut position = 0;
    while position < bytes {
        check()?;
        let piece = &mut piece[..(bytes - position).min(COPY_BYTES) as usize];
        source.read_exact_at(piece, position)?;
        target.write_at(piece, position)?;
        position += piece.len() as u64;
    }
    target.sync()
}

/// The directory of `path`: `.` for a bare name.
pub fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        Some(_) => PathBuf::from("."),
        None => path.to_owned(),
    }
}
