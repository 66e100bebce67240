//! Bytes of a file in memory: mapped, or (for a disk that is not real) shared with it or copied.
#![allow(unsafe_code)] // Mapping a file is unsafe in Rust because another process may change it; see `Map::of_file`.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// Read-only bytes of a file or of a part of it, aligned to at least 8 bytes at the start of the file (to a page when mapped). Clones
/// and parts share the bytes.
#[derive(Debug, Clone)]
pub struct Map {
    bytes: Arc<Bytes>,
    /// The part, in the file.
    range: Range<usize>,
}

#[derive(Debug)]
enum Bytes {
    Mapped(memmap2::Mmap),
    InMemory(Arc<Words>),
}

/// Bytes in memory; words for the alignment. Bytes of the last word that do not count are zero.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    words: Vec<u64>,
    bytes: usize,
}

impl Words {
    /// Writes at `offset`, after zeros where there was nothing. The end is in memory's range.
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
        // What is appended to whole words is written once, not zeroed before.
        let words = bytes[now..].chunks_exact(8);
        let mut last = [0; 8];
        last[..words.remainder().len()].copy_from_slice(words.remainder());
        let has_last = !words.remainder().is_empty();
        self.words.extend(words.map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default())));
        self.words.extend(has_last.then_some(u64::from_ne_bytes(last)));
        self.bytes = self.bytes.max(end);
    }

    /// Cuts, or fills up with zeros.
    pub(super) fn set_len(&mut self, bytes: usize) {
        self.words.resize(bytes.div_ceil(8), 0);
        if bytes < self.bytes {
            bytemuck::cast_slice_mut::<u64, u8>(&mut self.words)[bytes..].fill(0);
        }
        self.bytes = bytes;
    }

    /// Gives back memory that was kept for growth.
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
        // SAFETY: the map is private to us and read-only. Files of a database are never changed in place after
        // they have got their name: writers write new files and append to those that are not mapped. Somebody who
        // changes them behind our back can make checksums fail, or (by truncating) end the process with SIGBUS, as
        // with every program that maps files; all values read are plain integers and floats for which each bit
        // pattern is valid, and are checked before they are used as positions.
        let map = unsafe { memmap2::MmapOptions::new().len(bytes).map(file)? };
        Ok(Self { bytes: Arc::new(Bytes::Mapped(map)), range: 0..bytes })
    }

    /// Copies bytes that are not in a mappable file.
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut words = Words::default();
        words.put(bytes, 0);
        Self::of_words(Arc::new(words))
    }

    /// Shares bytes that are in memory.
    pub(super) fn of_words(words: Arc<Words>) -> Self {
        let range = 0..words.bytes;
        Self { bytes: Arc::new(Bytes::InMemory(words)), range }
    }

    /// A part of the bytes; `None` if it is not within them.
    pub fn part(&self, range: Range<usize>) -> Option<Self> {
        let within = range.start <= range.end && range.end <= self.range.len();
        let (bytes, first) = (Arc::clone(&self.bytes), self.range.start);
        within.then(|| Self { bytes, range: first + range.start..first + range.end })
    }

    /// Where in the file the bytes begin.
    pub fn start(&self) -> usize {
        self.range.start
    }

    /// Says that a range of bytes is about to be read, so that the system fetches it in few large pieces. A hint.
    pub fn will_need(&self, range: Range<usize>) {
        if let Bytes::Mapped(map) = &*self.bytes {
            let start = self.range.start + range.start;
            let _ = map.advise_range(memmap2::Advice::WillNeed, start, range.len());
        }
    }

    /// Gives the pages up that the process holds of the bytes: whoever reads them next gets them from the page cache again, where they stay
    /// as long as the system likes. A hint.
    pub fn release(&self) {
        if let Bytes::Mapped(map) = &*self.bytes {
            // SAFETY: the map is of a file, and nothing was ever written to it: what is read again is what was there. So
            // slices of it that others hold stay as they are.
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
            Bytes::Mapped(map) => map,
            Bytes::InMemory(words) => words,
        };
        &whole[self.range.clone()]
    }
}
