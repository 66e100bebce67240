//! What is asked of a disk.

use std::fmt::Debug;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::frames::Frame;
use super::map::Map;
use super::reads::Reads;
use super::scratch::Scratch;
use crate::error::{Error, Result};

/// What stands under a name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name, without the directory.
    pub name: String,
    /// Whether it is itself a directory.
    pub is_directory: bool,
    /// Length of a file; 0 for a directory.
    pub bytes: u64,
}

/// Files by name: a [`Disk`], or what keeps small ones together in a file of it ([`crate::format::Archive`]).
///
/// Every method fails with [`Error::Io`], naming the path.
pub trait Files: Debug + Send + Sync {
    /// Makes a new file for reading and writing. Its name is durable after [`Disk::sync_directory`] of its parent.
    fn create(&self, path: &Path) -> Result<Arc<dyn File>>;

    /// Opens an existing file for reading.
    fn open(&self, path: &Path) -> Result<Arc<dyn File>>;
}

/// A place where files live. Paths are the caller's; relative ones are relative to the working directory.
///
/// Every method fails with [`Error::Io`], naming the path.
pub trait Disk: Files {
    /// Opens an existing file for reading and writing.
    fn open_for_writing(&self, path: &Path) -> Result<Arc<dyn File>>;

    /// Makes a directory; its parent exists.
    fn create_directory(&self, path: &Path) -> Result<()>;

    /// Renames a file or directory. Fails if `to` exists.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// Swaps two names that both exist, in one step: neither is missing at any moment.
    fn exchange(&self, a: &Path, b: &Path) -> Result<()>;

    /// Removes a file.
    fn remove_file(&self, path: &Path) -> Result<()>;

    /// Removes a directory with everything in it.
    fn remove_directory(&self, path: &Path) -> Result<()>;

    /// What is in a directory, sorted by name. Names that are not UTF-8 are left out: no file of ours has one.
    fn list(&self, path: &Path) -> Result<Vec<Entry>>;

    /// What stands at `path`, or `None` if nothing does.
    fn look(&self, path: &Path) -> Result<Option<Entry>>;

    /// Makes the names in a directory durable.
    fn sync_directory(&self, path: &Path) -> Result<()>;

    /// Takes the exclusive lock on a file, which is made if it does not exist; `None` if another holder has it, in
    /// this process or another. Dropping the lock, or the death of the process, releases it. Renaming does not.
    fn try_lock(&self, path: &Path) -> Result<Option<Box<dyn Lock>>>;

    /// Bytes that can still be written on the file system of `path`.
    fn free_bytes(&self, path: &Path) -> Result<u64>;

    /// Memory that the system may page out to a file in `directory`, which has no name and goes with the process. A disk that
    /// is itself in memory gives memory.
    fn scratch(&self, _directory: &Path) -> Result<Scratch> {
        Ok(Scratch::heap())
    }

    /// Opens an existing file for reading past the page cache, where that can be: then places and lengths of reads, in the file and in
    /// memory, are multiples of [`super::DIRECT_BYTES`].
    fn open_direct(&self, path: &Path) -> Result<Arc<dyn File>> {
        self.open(path)
    }

    /// Many reads at a time of an existing file, past the page cache where that can be, into frames of which some are given; at most
    /// `depth` at a time. `None` if the system has nothing better than threads for it.
    fn reads(&self, _path: &Path, _depth: usize, _frames: &[Frame]) -> Result<Option<Box<dyn Reads>>> {
        Ok(None)
    }

    /// Reads a whole small file.
    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let file = self.open(path)?;
        let bytes = usize::try_from(file.len()?)
            .map_err(|_| Error::Invalid(format!("{} is too large to read at once", path.display())))?;
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

/// An open file. Positions are given with each call, so threads share one file without a lock.
pub trait File: Debug + Send + Sync {
    /// Its path when it was opened.
    fn path(&self) -> &Path;

    /// Its length now.
    fn len(&self) -> Result<u64>;

    /// Whether its length is zero.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads at most `buffer.len()` bytes at `offset`; 0 only at the end of the file or for an empty buffer.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize>;

    /// Writes all of `bytes` at `offset`, growing the file if necessary.
    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()>;

    /// Cuts the file to `bytes`, or fills it up to there with zeros. Nobody may have mapped what is cut off.
    fn set_length(&self, bytes: u64) -> Result<()>;

    /// Makes contents and length durable. After a failure the file must not be relied on, nor synced again.
    fn sync(&self) -> Result<()>;

    /// A wish: gives back the room on the disk of a range that nobody will read again; the length stays.
    fn discard(&self, _range: Range<u64>) {}

    /// Maps the whole file for reading. The file must not change as long as the map lives.
    fn map(&self) -> Result<Map>;

    /// Fills `buffer` from `offset` on; [`Error::Corrupt`] if the file ends before.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            match self.read_at(&mut buffer[done..], offset + done as u64)? {
                0 => {
                    let reason = format!("the file ends where {} more bytes belong", buffer.len() - done);
                    return Err(Error::corrupt(self.path(), offset + done as u64, reason));
                }
                bytes => done += bytes,
            }
        }
        Ok(())
    }
}

/// An exclusive lock, released when dropped.
pub trait Lock: Debug + Send + Sync {}

/// The directory that holds the name `path`: `.` for a bare name.
pub fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        Some(_) => PathBuf::from("."),
        None => path.to_owned(),
    }
}
