//! Bytes of a file in memory: mapped, or shared with or copied from a disk in memory.
#![allow(unsafe_code)] // Mapping a file is unsafe in Rust because another process may change it; see `Map::of_file`.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// Read-only bytes of a file or a part of it. The start of the file is aligned to at least 8 bytes, or to a page if mapped. Clones
/// and parts share the bytes.
#[derive(Debug, Clone)]
pub struct Map {
    bytes: Arc<MapBytes>,
    /// The part's range in the file.
    range: Range<usize>,
}

#[derive(Debug)]
enum MapBytes {
    Mapped(memmap2::Mmap),
    InMemory(Arc<Words>),
}

/// Bytes in memory, kept as words for the alignment. Unused bytes of the last word are zero.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    words: Vec<u64>,
    bytes: usize,
}

impl Words {
    /// Writes at `offset`, and fills a gap before it with zeros. The caller checks that the end fits in memory.
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
        let words = bytes[now..].chunks_exact(8);
        let mut last = [0; 8];
        last[..words.remainder().len()].copy_from_slice(words.remainder());
        let has_last = !words.remainder().is_empty();
        self.words.extend(words.map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default())));
        self.words.extend(has_last.then_some(u64::from_ne_bytes(last)));
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

    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }
}

impl Map {
    /// Maps a file.
    pub(super) fn of_file(file: impl memmap2::MmapAsRawDesc, bytes: u64) -> std::io::Result<Self> {
        if bytes == 0 {
            return Ok(Self::copy_of(&[]));
        }
        let bytes = usize::try_from(bytes).map_err(std::io::Error::other)?;
        // SAFETY: the map is private to us and read-only. Writers never change a file of a database in place: they write new
        // files, and append only to files that are not mapped. Another program that changes a mapped file can make checksums
        // fail, or end this process with SIGBUS by truncating the file, as with every program that maps files. All values read are
        // plain integers and floats, for which every bit pattern is valid, and are checked before they are used as positions.
        let map = unsafe { memmap2::MmapOptions::new().len(bytes).map(file)? };
        Ok(Self { bytes: Arc::new(MapBytes::Mapped(map)), range: 0..bytes })
    }

    /// A copy of bytes that are not in a mappable file.
    pub(crate) fn copy_of(bytes: &[u8]) -> Self {
        let mut words = Words::default();
        words.put(bytes, 0);
        Self::of_words(Arc::new(words))
    }

    /// Shares bytes in memory.
    pub(super) fn of_words(words: Arc<Words>) -> Self {
        let range = 0..words.bytes;
        Self { bytes: Arc::new(MapBytes::InMemory(words)), range }
    }

    /// A part of the bytes; `None` if `range` exceeds them.
    pub(crate) fn part(&self, range: Range<usize>) -> Option<Self> {
        let within = range.start <= range.end && range.end <= self.range.len();
        let (bytes, first) = (Arc::clone(&self.bytes), self.range.start);
        within.then(|| Self { bytes, range: first + range.start..first + range.end })
    }

    /// Offset of the bytes in the file.
    pub(crate) fn start(&self) -> usize {
        self.range.start
    }

    /// Hint: the range will be read soon, so the system can fetch it in few large reads.
    pub(crate) fn will_need(&self, range: Range<usize>) {
        if let MapBytes::Mapped(map) = &*self.bytes {
            let start = self.range.start + range.start;
            let _ = map.advise_range(memmap2::Advice::WillNeed, start, range.len());
        }
    }

    /// Hint: unmaps the bytes' pages from the process. The next access maps them again from the page cache, which keeps them as long as
    /// the system decides.
    pub fn release(&self) {
        if let MapBytes::Mapped(map) = &*self.bytes {
            // SAFETY: the map is of a file and was never written to, so later accesses read the same bytes. Existing slices
            // of it keep their contents.
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

    fn deref(&self) -> &[u8] {
        let whole: &[u8] = match &*self.bytes {
            MapBytes::Mapped(map) => map,
            MapBytes::InMemory(words) => words,
        };
        &whole[self.range.clone()]
    }
}
