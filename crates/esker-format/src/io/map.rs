//! Bytes of a file in memory: mapped, or shared with or copied from a disk in memory.
//!
//! # Sectors that cannot be read
//!
//! An access to a mapped page that the system cannot read, because the disk fails or somebody truncated the
//! file, ends the process with the signal SIGBUS. [`Map::load`] asks the system to read a range first and
//! returns an error instead. Every byte of a database is loaded before its checksum is compared, so a sector
//! that fails when it is first read is an error that names the file. Not covered: a page that was verified,
//! that the system evicted since, and that fails when the system reads it again; and Linux before 5.14 and
//! other systems, which cannot be asked. For these a program can have the file named before it ends
//! ([`super::end_on_failing_pages`]), or go on and ask which file it was ([`super::outlive_failing_pages`]).
// Mapping a file is unsafe in Rust because another process may change it; see `Map::of_file`.
#![allow(unsafe_code)]

use std::fmt::Debug;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file_id::FileId;
use super::table_of_maps::MapEntry;
use super::watch::Watched;
use crate::error::{Error, Result};

/// Read-only bytes of a file or a part of it. The start of the file is aligned to at least 8 bytes, or to a
/// page if mapped. Clones and parts share the bytes.
#[derive(Debug, Clone)]
pub struct Map {
    bytes: Arc<MapBytes>,
    /// The part's range in the file.
    range: Range<usize>,
}

#[derive(Debug)]
struct MapBytes {
    /// Dropped before the map, the path, and what is watched.
    _entry: Option<MapEntry>,
    /// Of a map that the system made.
    _watched: Option<Watched>,
    content: MapContent,
    path: PathBuf,
    file: FileId,
}

#[derive(Debug)]
enum MapContent {
    Mapped(memmap2::Mmap),
    InMemory(Arc<Words>),
    /// A copy of a file of a faulty disk, which says what of it can be read.
    Faulty(Words, Arc<dyn Pages>),
}

/// What the system does when pages of a map are accessed for the first time.
pub(super) trait Pages: Debug + Send + Sync {
    /// Reads the pages of a range.
    ///
    /// # Errors
    /// If a page cannot be read.
    fn read(&self, range: Range<usize>) -> std::io::Result<()>;
}

/// Bytes in memory, kept as words for the alignment. Unused bytes of the last word are zero.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    words: Vec<u64>,
    bytes: usize,
}

impl Words {
    /// Writes at `offset`, and fills a gap before it with zeros. The caller checks that the end fits in
    /// memory.
    pub(super) fn put(&mut self, bytes: &[u8], offset: usize) {
        let end = offset + bytes.len();
        if bytes.is_empty() {
            return;
        }
        self.set_len(self.bytes.max(offset));
        let capacity = self.words.len() * 8;
        let now = bytes.len().min(capacity.saturating_sub(offset));
        bytemuck::cast_slice_mut::<u64, u8>(&mut self.words)[offset.min(capacity)..][..now]
            .copy_from_slice(&bytes[..now]);
        // Bytes appended after whole words are written once, without zeroing them first.
        let (words, rest) = bytes[now..].as_chunks::<8>();
        match bytemuck::try_cast_slice::<[u8; 8], u64>(words) {
            Ok(aligned) => self.words.extend_from_slice(aligned),
            Err(_) => self.words.extend(words.iter().map(|word| u64::from_ne_bytes(*word))),
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.words.extend((!rest.is_empty()).then_some(u64::from_ne_bytes(last)));
        self.bytes = self.bytes.max(end);
    }

    /// Truncates, or extends with zeros.
    pub(super) fn set_len(&mut self, bytes: usize) {
        self.words.resize(bytes.div_ceil(8), 0);
        if bytes < self.bytes {
            bytemuck::cast_slice_mut::<u64, u8>(&mut self.words)[bytes..].fill(0);
        }
        self.bytes = bytes;
    }

    /// Frees spare capacity.
    pub(super) fn shrink(&mut self) {
        self.words.shrink_to_fit();
    }
}

impl Deref for Words {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }
}

impl Map {
    /// Maps a file that is open at `path`.
    pub(super) fn of_file(
        handle: impl memmap2::MmapAsRawDesc,
        metadata: &std::fs::Metadata,
        path: &Path,
    ) -> std::io::Result<Self> {
        let (file, bytes) = (FileId::of(metadata), metadata.len());
        if bytes == 0 {
            return Ok(Self::of_words(Arc::default(), path, file));
        }
        let bytes = usize::try_from(bytes).map_err(std::io::Error::other)?;
        // SAFETY: the map is private to us and read-only. Writers never change a file of a database in place:
        // they write new files, and append only to files that are not mapped. Another program that changes a
        // mapped file can make checksums fail, or end this process with SIGBUS by truncating the file after
        // its blocks were verified, as with every program that maps files. All values read are plain integers
        // and floats, for which every bit pattern is valid, and are checked before they are used as
        // positions.
        let map = unsafe { memmap2::MmapOptions::new().len(bytes).map(handle)? };
        let watched = Watched::new(metadata, path);
        Ok(Self::of(MapContent::Mapped(map), bytes, path, file, Some(watched)))
    }

    /// Shares bytes in memory, those of a file at `path`.
    pub(super) fn of_words(words: Arc<Words>, path: &Path, file: FileId) -> Self {
        let bytes = words.bytes;
        Self::of(MapContent::InMemory(words), bytes, path, file, None)
    }

    /// A copy of bytes whose pages can fail.
    pub(super) fn of_pages(bytes: &[u8], pages: Arc<dyn Pages>, path: &Path, file: FileId) -> Self {
        let mut words = Words::default();
        words.put(bytes, 0);
        Self::of(MapContent::Faulty(words, pages), bytes.len(), path, file, None)
    }

    fn of(content: MapContent, bytes: usize, path: &Path, file: FileId, watched: Option<Watched>) -> Self {
        let path = path.to_owned();
        let entry = match (&content, &watched) {
            (MapContent::Mapped(map), Some(watched)) => Some(MapEntry::new(map, &path, watched.failed())),
            _ => None,
        };
        let content = MapBytes { _entry: entry, _watched: watched, content, path, file };
        Self { bytes: Arc::new(content), range: 0..bytes }
    }

    /// The path at which the file was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.bytes.path
    }

    /// All bytes of the file.
    pub(super) fn whole(&self) -> Self {
        Self { bytes: Arc::clone(&self.bytes), range: 0..self.bytes.content.len() }
    }

    /// The file.
    pub(super) fn file(&self) -> FileId {
        self.bytes.file
    }

    /// The bytes of a range, after the system has read them into memory: see the head of this module.
    ///
    /// # Errors
    /// [`Error::Io`] if the system cannot read them; [`Error::Corrupt`] if the range exceeds the bytes.
    pub fn load(&self, range: Range<usize>) -> Result<&[u8]> {
        let at = self.range.start + range.start;
        let Some(bytes) = self.get(range) else {
            return Err(Error::corrupt(self.path(), at as u64, "the file ends too early"));
        };
        let read = match &self.bytes.content {
            _ if bytes.is_empty() => Ok(()),
            MapContent::Mapped(map) => populate(map, at, bytes.len()),
            MapContent::InMemory(_) => Ok(()),
            MapContent::Faulty(_, pages) => pages.read(at..at + bytes.len()),
        };
        read.map_err(|error| {
            let reason = format!(
                "the system cannot read {} from byte {at} on ({error}): the disk is failing there, or the file was cut \
                 short after it was opened; restore the database from a copy",
                esker_graph::counted(bytes.len(), "byte", "bytes")
            );
            Error::io("read", self.path())(std::io::Error::new(error.kind(), reason))
        })?;
        Ok(bytes)
    }

    /// A part of the bytes; `None` if `range` exceeds them.
    pub(crate) fn part(&self, range: Range<usize>) -> Option<Self> {
        let within = range.start <= range.end && range.end <= self.range.len();
        let (bytes, first) = (Arc::clone(&self.bytes), self.range.start);
        within.then(|| Self { bytes, range: first + range.start..first + range.end })
    }

    /// Offset of the bytes in the file.
    pub fn start(&self) -> usize {
        self.range.start
    }

    /// Hint: the range will be read soon, so the system can fetch it in few large reads.
    pub(crate) fn will_need(&self, range: Range<usize>) {
        if let MapContent::Mapped(map) = &self.bytes.content {
            let start = self.range.start + range.start;
            let _ = map.advise_range(memmap2::Advice::WillNeed, start, range.len());
        }
    }

    /// Hint: pages will be read in no order, so the system reads none around those that are accessed; `false`
    /// takes it back.
    pub(crate) fn read_at_random(&self, at_random: bool) {
        if let MapContent::Mapped(map) = &self.bytes.content {
            let advice = if at_random { memmap2::Advice::Random } else { memmap2::Advice::Normal };
            let _ = map.advise_range(advice, self.range.start, self.range.len());
        }
    }

    /// Hint: unmaps the bytes' pages from the process. The next access maps them again from the page cache,
    /// which keeps them as long as the system decides.
    pub(crate) fn release(&self) {
        if let MapContent::Mapped(map) = &self.bytes.content {
            // SAFETY: the map is of a file and was never written to, so later accesses read the same bytes.
            // Existing slices of it keep their contents.
            let _ = unsafe {
                map.unchecked_advise_range(
                    memmap2::UncheckedAdvice::DontNeed,
                    self.range.start,
                    self.range.len(),
                )
            };
        }
    }
}

impl Deref for Map {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes.content[self.range.clone()]
    }
}

impl Deref for MapContent {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::InMemory(words) => words,
            Self::Faulty(words, _) => words,
        }
    }
}

/// Has the system read a range of a map.
#[cfg(target_os = "linux")]
fn populate(map: &memmap2::Mmap, start: usize, bytes: usize) -> std::io::Result<()> {
    use std::io::ErrorKind;
    loop {
        let Err(error) = map.advise_range(memmap2::Advice::PopulateRead, start, bytes) else { return Ok(()) };
        match error.kind() {
            ErrorKind::Interrupted | ErrorKind::WouldBlock => {}
            // The system does not know the request.
            ErrorKind::InvalidInput => return Ok(()),
            _ if error.raw_os_error() == Some(libc::EFAULT) => {
                return Err(std::io::Error::other("input/output error"));
            }
            _ => return Err(error),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn populate(_map: &memmap2::Mmap, _start: usize, _bytes: usize) -> std::io::Result<()> {
    Ok(())
}
