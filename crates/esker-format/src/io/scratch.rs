//! Memory for tables that may exceed the machine's memory: from the heap, or from a scratch file that the
//! system pages.
//!
//! Nothing reads a scratch file after a restart: its name is removed when it is created, and its space is
//! freed with the process. Disk space is allocated before a part is mapped, so a full disk is an error here
//! and not a signal (SIGBUS) later.
// Mapping a file is unsafe in Rust because others may change it; see `ScratchFile::map`.
#![allow(unsafe_code)]
#![allow(clippy::disallowed_types, clippy::disallowed_methods)] // Part of the disk access module.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use esker_graph::Stop;

use super::paging::is_paging;
use super::unnamed::{PART_BYTES, allocate_space, free_space, unnamed_file};
use crate::error::{Error, Result};

/// Heap memory up to this size comes from the allocator; larger pieces are mapped from the system, in huge
/// pages if available.
const WORDS_BYTES_MAX: usize = 1 << 16;

/// A source of memory with a limit. Clones share both.
#[derive(Debug, Clone)]
pub struct Scratch(Arc<ScratchSource>);

#[derive(Debug)]
struct ScratchSource {
    file: Option<ScratchFile>,
    used_bytes: AtomicU64,
    bytes_max: u64,
}

#[derive(Debug)]
struct ScratchFile {
    file: std::fs::File,
    path: PathBuf,
    end: AtomicU64,
}

impl Scratch {
    /// Heap memory.
    pub fn heap() -> Self {
        Self::of(None)
    }

    /// Memory in a new, unnamed file in `directory`.
    pub(super) fn in_file(directory: &Path) -> Result<Self> {
        let (file, path) = unnamed_file(directory)?;
        Ok(Self::of(Some(ScratchFile { file, path, end: AtomicU64::new(0) })))
    }

    fn of(file: Option<ScratchFile>) -> Self {
        Self(Arc::new(ScratchSource { file, used_bytes: AtomicU64::new(0), bytes_max: u64::MAX }))
    }

    /// Limits the source to `bytes_max` at a time. Only for an unused source.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the source is in use.
    pub fn limited(self, bytes_max: u64) -> Result<Self> {
        let source = Arc::try_unwrap(self.0).map_err(|_| {
            Error::invalid("the scratch memory is in use: limit it before first use".to_owned())
        })?;
        Ok(Self(Arc::new(ScratchSource { bytes_max, ..source })))
    }

    /// Whether a file backs the memory.
    pub(crate) fn is_file(&self) -> bool {
        self.0.file.is_some()
    }

    /// Allocated bytes.
    #[cfg(any(test, feature = "testing"))]
    pub fn used_bytes(&self) -> u64 {
        self.0.used_bytes.load(Ordering::Relaxed)
    }

    /// Allocates `bytes` zeros, freed on drop.
    ///
    /// # Errors
    /// [`Stop::OverBudget`] beyond the limit; [`Error::Io`] if the disk is full; [`Error::Invalid`] if the
    /// system has no memory.
    pub fn allocate(&self, bytes: usize) -> Result<ScratchMemory> {
        let taken = self.0.used_bytes.fetch_add(bytes as u64, Ordering::Relaxed).saturating_add(bytes as u64);
        // From here on, the drop of `memory` subtracts the bytes again, also after an error.
        let mut memory = ScratchMemory { backing: Backing::Words(Vec::new()), bytes, source: self.clone() };
        if taken > self.0.bytes_max {
            return Err(Error::Stop(Stop::OverBudget {
                what: "the hash tables of a dynamic graph".to_owned(),
                needed_bytes: taken,
                budget_bytes: self.0.bytes_max,
            }));
        }
        memory.backing = match &self.0.file {
            _ if bytes == 0 => Backing::Words(Vec::new()),
            Some(file) => file.map(bytes)?,
            None => heap(bytes).map_err(|reason| {
                Error::invalid(format!(
                    "the system has no {bytes} bytes of memory left ({reason}): free some, or use a scratch file"
                ))
            })?,
        };
        Ok(memory)
    }
}

fn heap(bytes: usize) -> std::result::Result<Backing, String> {
    if bytes <= WORDS_BYTES_MAX || is_paging() {
        let mut words = Vec::new();
        words.try_reserve_exact(bytes.div_ceil(8)).map_err(|e| e.to_string())?;
        words.resize(bytes.div_ceil(8), 0);
        return Ok(Backing::Words(words));
    }
    let map = memmap2::MmapMut::map_anon(bytes).map_err(|e| e.to_string())?;
    #[cfg(target_os = "linux")]
    // Hint: tables are read at random, and huge pages save TLB misses.
    let _ = map.advise(memmap2::Advice::HugePage);
    Ok(Backing::Map { map, offset: 0 })
}

impl ScratchFile {
    fn map(&self, bytes: usize) -> Result<Backing> {
        let length = (bytes as u64).next_multiple_of(PART_BYTES);
        let offset = self.end.fetch_add(length, Ordering::Relaxed);
        if let Err(error) = allocate_space(&self.file, offset, length) {
            // Part of the space may have been allocated. The next part may begin here, unless another thread
            // added one meanwhile.
            self.give_back(offset, bytes);
            let _ = self.end.compare_exchange(offset + length, offset, Ordering::Relaxed, Ordering::Relaxed);
            return Err(Error::io("allocate space in", &self.path)(error));
        }
        // SAFETY: no other allocation has this part: `end` moves back only over a part that was never mapped.
        // The part lies within the file, which has no name, so no other program opens it. All bit patterns
        // are valid bytes. Its disk space is allocated, so writes through the map do not run out of it.
        let map = unsafe { memmap2::MmapOptions::new().offset(offset).len(bytes).map_mut(&self.file) };
        let map = map.map_err(Error::io("map", &self.path))?;
        #[cfg(unix)]
        let _ = map.advise(memmap2::Advice::Random); // Hint: accesses to neighbouring pages are unrelated.
        Ok(Backing::Map { map, offset })
    }

    /// Frees disk space. If that fails, the space stays in use until the process ends.
    fn give_back(&self, offset: u64, bytes: usize) {
        let _ = free_space(&self.file, offset, (bytes as u64).next_multiple_of(PART_BYTES));
    }
}

/// Bytes of a [`Scratch`], aligned to at least 8.
#[derive(Debug)]
pub struct ScratchMemory {
    backing: Backing,
    bytes: usize,
    source: Scratch,
}

impl ScratchMemory {
    /// Hint: most of the memory will be read soon, so the system can page it in with large reads.
    pub fn will_need(&self) {
        if let (Backing::Map { map, .. }, true) = (&self.backing, self.source.is_file()) {
            let _ = map.advise(memmap2::Advice::WillNeed);
        }
    }
}

#[derive(Debug)]
enum Backing {
    Words(Vec<u64>),
    Map { map: memmap2::MmapMut, offset: u64 },
}

impl Deref for ScratchMemory {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        match &self.backing {
            Backing::Map { map, .. } => map,
            Backing::Words(words) => bytemuck::cast_slice(words),
        }
    }
}

impl DerefMut for ScratchMemory {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.backing {
            Backing::Map { map, .. } => map,
            Backing::Words(words) => bytemuck::cast_slice_mut(words),
        }
    }
}

impl Drop for ScratchMemory {
    fn drop(&mut self) {
        if let (Backing::Map { offset, .. }, Some(file)) = (&self.backing, &self.source.0.file) {
            file.give_back(*offset, self.bytes);
        }
        self.source.0.used_bytes.fetch_sub(self.bytes as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exercise(scratch: &Scratch) {
        let mut small = scratch.allocate(100).unwrap();
        let mut large = scratch.allocate(300_000).unwrap();
        assert!(small.len() >= 100 && large.len() >= 300_000);
        assert!(small.iter().chain(large.iter()).all(|&byte| byte == 0));
        small[99] = 7;
        large[299_999] = 9;
        assert_eq!(scratch.used_bytes(), 300_100);
        drop(large);
        let again = scratch.allocate(300_000).unwrap();
        assert!(again.iter().all(|&byte| byte == 0));
        assert_eq!(small[99], 7);
        drop((small, again));
        assert_eq!(scratch.used_bytes(), 0);
    }

    #[test]
    fn memory_is_zeroed_and_counted() {
        exercise(&Scratch::heap());
        let directory = tempfile::tempdir().unwrap();
        let scratch = Scratch::in_file(directory.path()).unwrap();
        exercise(&scratch);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "the scratch file has a name");
    }

    /// More than any disk or memory has.
    #[test]
    fn a_failed_allocation_is_an_error_and_not_counted() {
        let directory = tempfile::tempdir().unwrap();
        let scratch = Scratch::in_file(directory.path()).unwrap();
        let error = scratch.allocate(1 << 55).unwrap_err().to_string();
        assert!(error.starts_with("cannot allocate space in "), "{error}");
        assert_eq!(scratch.used_bytes(), 0);
        assert_eq!(scratch.allocate(5000).unwrap().len(), 5000);
        let scratch = Scratch::heap();
        let error = scratch.allocate(1 << 55).unwrap_err().to_string();
        assert!(error.contains("use a scratch file"), "{error}");
        assert_eq!(scratch.used_bytes(), 0);
    }

    #[test]
    fn allocations_beyond_the_limit_fail_and_freed_bytes_count_no_more() {
        let scratch = Scratch::heap().limited(1000).unwrap();
        let first = scratch.allocate(600).unwrap();
        let error = scratch.allocate(600).unwrap_err().to_string();
        assert!(error.contains("1200") && error.contains("1000"), "{error}");
        drop(first);
        assert_eq!(scratch.allocate(1000).unwrap().len(), 1000);
        assert_eq!(scratch.used_bytes(), 0);
        let error = Scratch::in_file(Path::new("/nowhere/at/all")).unwrap_err().to_string();
        assert!(error.contains("cannot create /nowhere"), "{error}");
    }
}
