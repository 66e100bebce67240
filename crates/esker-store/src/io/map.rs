//! Bytes of a file in memory: mapped, or (for a disk that is not real) copied.
#![allow(unsafe_code)] // Mapping a file is unsafe in Rust because another process may change it; see `Map::of_file`.

use std::ops::{Deref, Range};

/// Read-only bytes of a whole file, aligned to at least 8 bytes at their start (to a page when mapped).
#[derive(Debug)]
pub struct Map(Bytes);

#[derive(Debug)]
enum Bytes {
    Mapped(memmap2::Mmap),
    /// Words for the alignment, and the number of bytes that count.
    Copied(Vec<u64>, usize),
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
        Ok(Self(Bytes::Mapped(map)))
    }

    /// Copies bytes that are not in a mappable file.
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Self(Bytes::Copied(words, bytes.len()))
    }

    /// Says that a range of bytes is about to be read, so that the system fetches it in few large pieces. A hint.
    pub fn will_need(&self, range: Range<usize>) {
        if let Bytes::Mapped(map) = &self.0 {
            let _ = map.advise_range(memmap2::Advice::WillNeed, range.start, range.len());
        }
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Mapped(map) => map,
            Bytes::Copied(words, bytes) => &bytemuck::cast_slice(words)[..*bytes],
        }
    }
}
