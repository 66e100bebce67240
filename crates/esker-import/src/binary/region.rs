//! An input that is read at any place by any number of threads, every access checked against its length.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use esker_format::io::{Disk, File, Files, Map, RealDisk};
use esker_format::{Error, Result};
use esker_graph::Message;

use crate::read::input::{Compression, Input};
use crate::read::input_format::InputFormat;

/// An open input with random access.
#[derive(Debug, Clone)]
pub(super) struct Region {
    path: Arc<PathBuf>,
    bytes: u64,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    File(Arc<dyn File>),
    Memory(Arc<[u8]>),
}

/// A map as an owner of [`Bytes`].
struct Mapped(Map);

/// All bytes of an input.
pub(super) struct WholeInput {
    path: Arc<PathBuf>,
    pub(super) bytes: Bytes,
    map: Option<Map>,
}

impl WholeInput {
    /// Has the system read a range of the file: a sector that fails, or a file that was cut short after it
    /// was opened, is then an error and not a signal.
    pub(super) fn load(&self, range: Range<u64>) -> Result<()> {
        let Some(map) = &self.map else { return Ok(()) };
        map.load(range.start as usize..range.end as usize).map(drop).map_err(|_| {
            let Range { start, end } = range;
            let reason = format!(
                "the system cannot read bytes {start} to {end}: the disk is failing there, or the file was cut short after it \
                 was opened; copy or write it again"
            );
            unusable(&self.path, reason)
        })
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Region {
    /// Opens an input that must be a plain file.
    ///
    /// # Errors
    /// If it is standard input or compressed, or cannot be opened.
    pub(super) fn open(input: &Input, format: &InputFormat) -> Result<Self> {
        let path = input.path();
        let (content, bytes) = match input {
            Input::File(path) => {
                if RealDisk.look(path)?.is_some_and(|entry| entry.is_directory) {
                    return Err(Error::invalid(format!(
                        "{0} is a directory; name its files, for example '{0}/*.parquet'",
                        path.display()
                    )));
                }
                let file = RealDisk.open(path)?;
                let bytes = file.len()?;
                (Content::File(file), bytes)
            }
            Input::Memory(_, bytes) => (Content::Memory(Arc::clone(bytes)), bytes.len() as u64),
            Input::Stdin(_) => {
                return Err(Error::invalid(format!(
                    "{} cannot come from standard input, because it is read from many places at once: name a file",
                    format.title
                )));
            }
        };
        let region = Self { path, bytes, content };
        let head = region.read_vec(0, region.bytes.min(10) as usize)?;
        if Compression::of(&head) != Compression::None {
            return Err(region.unusable(format!(
                "it is compressed as a whole, but {} is read from many places at once: decompress it first",
                format.title
            )));
        }
        Ok(region)
    }

    pub(super) fn path(&self) -> &Arc<PathBuf> {
        &self.path
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Fills `buffer` from `offset` on.
    pub(super) fn read(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        self.check(offset, buffer.len() as u64)?;
        match &self.content {
            Content::File(file) => file.read_exact_at(buffer, offset),
            Content::Memory(bytes) => {
                buffer.copy_from_slice(&bytes[offset as usize..][..buffer.len()]);
                Ok(())
            }
        }
    }

    /// Bytes from `offset` on. Checked before anything is allocated, so a length from a damaged file does no
    /// harm.
    pub(super) fn read_vec(&self, offset: u64, bytes: usize) -> Result<Vec<u8>> {
        self.check(offset, bytes as u64)?;
        let mut buffer = vec![0; bytes];
        self.read(&mut buffer, offset)?;
        Ok(buffer)
    }

    /// All of its bytes, mapped where it is a file.
    pub(super) fn whole(&self) -> Result<WholeInput> {
        let (bytes, map) = match &self.content {
            Content::File(file) => {
                let map = file.map()?;
                (Bytes::from_owner(Mapped(map.clone())), Some(map))
            }
            Content::Memory(bytes) => (Bytes::from_owner(Arc::clone(bytes)), None),
        };
        Ok(WholeInput { path: Arc::clone(&self.path), bytes, map })
    }

    fn check(&self, offset: u64, bytes: u64) -> Result<()> {
        if offset.checked_add(bytes).is_some_and(|end| end <= self.bytes) {
            return Ok(());
        }
        Err(self.unusable(format!(
            "it should have {} at {offset} but is only {} long: it is cut short or damaged; copy or \
             write it again",
            esker_graph::counted(bytes, "byte", "bytes"),
            esker_graph::counted(self.bytes, "byte", "bytes")
        )))
    }

    /// An error about this input as a whole.
    pub(super) fn unusable(&self, reason: impl Into<Message>) -> Error {
        unusable(&self.path, reason)
    }
}

/// An error about an input as a whole.
pub(super) fn unusable(path: &Arc<PathBuf>, reason: impl Into<Message>) -> Error {
    Error::input(path.as_path(), reason)
}
