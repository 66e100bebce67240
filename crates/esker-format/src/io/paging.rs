//! A heap whose large pieces can lie in a scratch file, to which the system pages them out.
//!
//! A program makes [`PagedHeap`] its allocator. As long as a [`Paging`] exists, pieces of at least 256 KiB
//! that any thread allocates lie in an unnamed file, mapped as one region: the address of a piece is its
//! place in the file. Others, and all at other times, come from the system's allocator. So work that grows
//! vectors beyond the memory goes on, at the speed of the disk, without types of its own.
//!
//! Disk space is allocated before a piece is used, for all that the page cache may hold together with it, so
//! a full disk is no signal (SIGBUS) later. Where there is no space, the piece comes from the system's
//! allocator, and [`Paging::lacks_space`] says so. File systems that write each page to a new place, as btrfs
//! does, do not promise that. Freed pieces give their pages and their space back at once. Nothing reads the
//! file after the process. A forked process does not have the region: what lies there is lost to it, and
//! reading it ends it.
#![allow(unsafe_code)] // An allocator is unsafe code, and it hands out parts of a map.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)] // Part of the disk access module.

use parking_lot::Mutex;
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use rustix::process::{Pid, Resource, getpid, getrlimit};

use super::unnamed::{PART_BYTES, allocate_space, free_space, unnamed_file, zero_space};
use crate::error::{Error, Result};

/// The least piece that may lie in the file.
const PIECE_BYTES_MIN: usize = 1 << 18;
/// Addresses of the region, and the length of the file, which has holes where no piece lies.
const REGION_BYTES: u64 = 1 << 40;
/// The most that the page cache holds in one piece (a large folio). A write to a page of it needs disk space
/// for all of it.
const FOLIO_BYTES: u64 = 1 << 21;
/// File systems in memory: tmpfs and ramfs.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// The number of [`Paging`]s.
static USERS: AtomicUsize = AtomicUsize::new(0);
/// Whether this allocator was ever asked for a large piece.
static IS_INSTALLED: AtomicBool = AtomicBool::new(false);
/// The number of large pieces that a scratch file had no space for.
static NUM_REFUSED: AtomicU64 = AtomicU64::new(0);
/// Made once for the process, in the first directory where that is possible.
static REGION: OnceLock<Region> = OnceLock::new();

/// An allocator for `#[global_allocator]`: the system's, but for large pieces while a [`Paging`] exists.
#[derive(Debug)]
pub struct PagedHeap;

/// Large pieces that are allocated lie in the scratch file as long as this exists; they stay there until they
/// are freed.
#[derive(Debug)]
pub struct Paging {
    /// [`NUM_REFUSED`] when it began.
    refused_before: u64,
}

struct Region {
    map: MmapRaw,
    file: File,
    /// The process that made it.
    process: Pid,
    taken: Mutex<Taken>,
    /// [`Taken::end`], for a forked process, which must not lock: the lock may be held in the copy for ever.
    end: AtomicU64,
}

/// The pieces in a region.
struct Taken {
    /// The end of the last piece.
    end: u64,
    /// The space between pieces: where it begins, and its length. No two touch. Its nodes are too small to
    /// lie in the region.
    gaps: BTreeMap<u64, u64>,
    /// Whether freed space cannot be given back, so that no more is taken.
    is_broken: bool,
}

impl Paging {
    /// Begins; the first call makes the file, in `directory`. `None` if the program has another allocator, or
    /// there the system cannot page: the file system is in memory or has no sparse files.
    pub(super) fn begin(directory: &Path) -> Option<Self> {
        drop(std::hint::black_box(Vec::<u8>::with_capacity(PIECE_BYTES_MIN)));
        if !IS_INSTALLED.load(Ordering::Relaxed) {
            return None;
        }
        if REGION.get().is_none() {
            // Another thread may have made one meanwhile.
            let _ = REGION.set(Region::create(directory).ok()?);
        }
        USERS.fetch_add(1, Ordering::Relaxed);
        Some(Self { refused_before: NUM_REFUSED.load(Ordering::Relaxed) })
    }

    /// Whether large pieces, of any thread, were put on the heap since it began, because the disk is full or
    /// does not take freed space back.
    pub fn lacks_space(&self) -> bool {
        NUM_REFUSED.load(Ordering::Relaxed) != self.refused_before
    }
}

impl Drop for Paging {
    fn drop(&mut self) {
        USERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether large pieces lie in the scratch file now.
pub(super) fn is_paging() -> bool {
    USERS.load(Ordering::Relaxed) > 0
}

impl Region {
    fn create(directory: &Path) -> Result<Self> {
        let (file, path) = unnamed_file(directory)?;
        let kind = rustix::fs::fstatfs(&file).map_err(|error| Error::io("inspect", &path)(error.into()))?;
        if IN_MEMORY.contains(&(kind.f_type as u64 & 0xffff_ffff)) {
            return Err(Error::invalid(format!("{} is in memory", directory.display())));
        }
        // A longer file would be a signal that ends the process.
        if getrlimit(Resource::Fsize).current.is_some_and(|longest| longest < REGION_BYTES) {
            return Err(Error::invalid("this process may not write so long a file".to_owned()));
        }
        file.set_len(REGION_BYTES).map_err(Error::io("extend", &path))?;
        let length = usize::try_from(REGION_BYTES);
        let length = length.map_err(|_| Error::invalid("there are too few addresses".to_owned()))?;
        let map = MmapOptions::new().len(length).map_raw(&file).map_err(Error::io("map", &path))?;
        #[cfg(target_os = "linux")]
        map.advise(memmap2::Advice::DontFork).map_err(Error::io("map", &path))?;
        let taken = Mutex::new(Taken { end: 0, gaps: BTreeMap::new(), is_broken: false });
        let region = Self { map, file, process: getpid(), taken, end: AtomicU64::new(0) };
        // Space can be had and given back.
        allocate_space(&region.file, 0, PART_BYTES).map_err(Error::io("allocate space in", &path))?;
        free_space(&region.file, 0, PART_BYTES).map_err(Error::io("free space in", &path))?;
        Ok(region)
    }

    fn contains(&self, piece: *const u8) -> bool {
        (piece.addr().wrapping_sub(self.map.as_ptr().addr()) as u64) < REGION_BYTES
    }

    /// Whether a piece is one of its own. In a forked process the addresses are free: there, pieces behind
    /// the last one are of the system's allocator, which maps from the end of free addresses on.
    fn has(&self, piece: *const u8) -> bool {
        let offset = piece.addr().wrapping_sub(self.map.as_ptr().addr()) as u64;
        self.contains(piece) && (getpid() == self.process || offset < self.end.load(Ordering::Relaxed))
    }

    /// A piece of zeros; `None` if the disk is full.
    fn take(&self, bytes: usize) -> Option<*mut u8> {
        let length = (bytes as u64).checked_next_multiple_of(PART_BYTES)?;
        let mut taken = self.taken.lock();
        let offset = taken.place(length)?;
        let start = offset / FOLIO_BYTES * FOLIO_BYTES;
        let end = (offset + length).next_multiple_of(FOLIO_BYTES);
        // What has space already, such as that of other pieces, stays as it is.
        if allocate_space(&self.file, start, end - start).is_err() {
            taken.free(&self.file, offset, length);
            return None;
        }
        self.end.store(taken.end, Ordering::Relaxed);
        // In the region, as `end` is.
        Some(self.map.as_mut_ptr().wrapping_add(offset as usize))
    }

    fn give(&self, piece: *const u8, bytes: usize) {
        // A forked process has no part in it.
        if getpid() != self.process {
            return;
        }
        let offset = (piece.addr() - self.map.as_ptr().addr()) as u64;
        let length = (bytes as u64).next_multiple_of(PART_BYTES);
        let mut taken = self.taken.lock();
        taken.free(&self.file, offset, length);
        self.end.store(taken.end, Ordering::Relaxed);
    }
}

impl Taken {
    /// The beginning of a new piece: in the first gap that is large enough, or at the end.
    fn place(&mut self, length: u64) -> Option<u64> {
        if self.is_broken {
            return None;
        }
        let Some((&offset, &gap)) = self.gaps.iter().find(|(_, gap)| **gap >= length) else {
            let offset = self.end;
            self.end = offset.checked_add(length).filter(|&end| end <= REGION_BYTES)?;
            return Some(offset);
        };
        self.gaps.remove(&offset);
        if gap > length {
            self.gaps.insert(offset + length, gap - length);
        }
        Some(offset)
    }

    /// Gives the space of a piece back to the disk, and its place to later pieces.
    fn free(&mut self, file: &File, offset: u64, length: u64) {
        let piece = offset..offset + length;
        let mut gap = piece.clone();
        gap.end += self.gaps.remove(&gap.end).unwrap_or(0);
        if let Some((&before, &length)) = self.gaps.range(..gap.start).next_back()
            && before + length == gap.start
        {
            self.gaps.remove(&before);
            gap.start = before;
        }
        let is_last = gap.end == self.end;
        // Folios that other pieces share keep their space.
        let last =
            if is_last { gap.end.next_multiple_of(FOLIO_BYTES) } else { gap.end / FOLIO_BYTES * FOLIO_BYTES };
        let first = gap.start.next_multiple_of(FOLIO_BYTES).max(piece.start / FOLIO_BYTES * FOLIO_BYTES);
        let last = last.min(piece.end.next_multiple_of(FOLIO_BYTES)).max(first);
        self.is_broken |= first < last && free_space(file, first, last - first).is_err();
        for kept in [piece.start..piece.end.min(first), piece.start.max(last)..piece.end] {
            let length = kept.end.saturating_sub(kept.start);
            let clear =
                || zero_space(file, kept.start, length).or_else(|_| free_space(file, kept.start, length));
            self.is_broken |= length > 0 && clear().is_err();
        }
        if is_last {
            self.end = gap.start;
        } else {
            self.gaps.insert(gap.start, gap.end - gap.start);
        }
    }
}

/// A piece of the file for a layout; `None`: the system's allocator has it.
fn paged(layout: Layout) -> Option<*mut u8> {
    if layout.size() < PIECE_BYTES_MIN || layout.align() as u64 > PART_BYTES {
        return None;
    }
    if !IS_INSTALLED.load(Ordering::Relaxed) {
        IS_INSTALLED.store(true, Ordering::Relaxed);
    }
    if !is_paging() {
        return None;
    }
    // A forked process does not have the region, and the file is that of its parent.
    let piece = REGION.get().filter(|region| region.process == getpid())?.take(layout.size());
    if piece.is_none() {
        NUM_REFUSED.fetch_add(1, Ordering::Relaxed);
    }
    piece
}

/// The region, if a piece of this layout lies in it.
fn region_of(piece: *const u8, layout: Layout) -> Option<&'static Region> {
    if layout.size() < PIECE_BYTES_MIN {
        return None;
    }
    REGION.get().filter(|region| region.has(piece))
}

// SAFETY: pieces of the region are mapped, readable and writable, as long as the process lives. No two
// overlap: each lies in a gap between others, or behind them. They are aligned to a page, and no larger
// alignment is served. All others are the system allocator's, which gets back only what it gave: a piece is
// in the region or not, by its address. Nothing here unwinds, and what it allocates is too small for the
// region.
unsafe impl GlobalAlloc for PagedHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as asked of the caller.
        paged(layout).unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as asked of the caller. New space of the file reads as zeros.
        paged(layout).unwrap_or_else(|| unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        match region_of(piece, layout) {
            Some(region) => region.give(piece, layout.size()),
            // SAFETY: as asked of the caller; the system's allocator gave the piece.
            None => unsafe { System.dealloc(piece, layout) },
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        let region = region_of(piece, layout);
        if region.is_some_and(|region| region.process != getpid()) {
            // Its content is not here. The caller says that memory ran out, and ends the process.
            return std::ptr::null_mut();
        }
        let in_file = region.is_some();
        if !in_file && (bytes < PIECE_BYTES_MIN || !is_paging()) {
            // SAFETY: as asked of the caller; the system's allocator gave the piece.
            return unsafe { System.realloc(piece, layout, bytes) };
        }
        // SAFETY: the caller promises that `bytes` is a valid size for this alignment, and that the piece is
        // of `layout`. The new piece does not overlap it.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(bytes, layout.align()));
            if !new.is_null() {
                std::ptr::copy_nonoverlapping(piece, new, layout.size().min(bytes));
                self.dealloc(piece, layout);
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use esker_graph::random::Random;

    use super::*;

    /// This program has another allocator, so the pieces are asked for by hand.
    #[test]
    fn large_pieces_lie_in_the_file_while_it_is_asked_for() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        assert!(Paging::begin(directory.path()).is_none(), "another allocator");
        IS_INSTALLED.store(true, Ordering::Relaxed);
        assert!(Paging::begin(Path::new("/nowhere/at/all")).is_none());
        let is_paged = |piece: *mut u8| REGION.get().is_some_and(|region| region.contains(piece));
        let layout = Layout::from_size_align(300_001, 8).unwrap();
        // SAFETY: pieces are used within their layouts, and freed once.
        unsafe {
            let before = PagedHeap.alloc(layout);
            assert!(!is_paged(before));
            let paging = Paging::begin(directory.path()).unwrap();
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "the file has no name");
            let [first, second] = [PagedHeap.alloc(layout), PagedHeap.alloc_zeroed(layout)];
            assert!(is_paged(first) && is_paged(second));
            assert!(std::slice::from_raw_parts(second, 300_001).iter().all(|&byte| byte == 0));
            first.write_bytes(7, 300_001);
            second.write_bytes(9, 300_001);
            before.write_bytes(5, 300_001);
            let before = PagedHeap.realloc(before, layout, 500_000);
            assert!(is_paged(before) && *before.add(300_000) == 5, "it moves as it grows");
            let small = PagedHeap.alloc(Layout::new::<u64>());
            assert!(!is_paged(small));
            drop(paging);
            assert!(!is_paged(PagedHeap.alloc(Layout::new::<u64>())));
            let first = PagedHeap.realloc(first, layout, 10);
            assert!(!is_paged(first) && *first.add(9) == 7, "it moves back");
            let second = PagedHeap.realloc(second, layout, 600_000);
            assert!(!is_paged(second) && *second.add(300_000) == 9);
            PagedHeap.dealloc(first, Layout::from_size_align(10, 8).unwrap());
            PagedHeap.dealloc(second, Layout::from_size_align(600_000, 8).unwrap());
            PagedHeap.dealloc(before, Layout::from_size_align(500_000, 8).unwrap());
            PagedHeap.dealloc(small, Layout::new::<u64>());
            let taken = REGION.get().unwrap().taken.lock();
            assert_eq!((taken.end, taken.gaps.len(), taken.is_broken), (0, 0, false));
            drop(taken);
            let paging = Paging::begin(directory.path()).unwrap();
            let again = PagedHeap.alloc_zeroed(layout);
            assert!(
                is_paged(again) && std::slice::from_raw_parts(again, 300_001).iter().all(|&byte| byte == 0)
            );
            PagedHeap.dealloc(again, layout);
            assert!(!paging.lacks_space());
            REGION.get().unwrap().taken.lock().is_broken = true;
            let refused = PagedHeap.alloc(layout);
            assert!(!is_paged(refused) && paging.lacks_space());
            PagedHeap.dealloc(refused, layout);
        }
    }

    #[test]
    fn there_is_no_paging_to_a_disk_in_memory() {
        let shared = Path::new("/dev/shm");
        if shared.exists() {
            let refused = Region::create(shared).map(drop).unwrap_err().to_string();
            assert!(refused.contains("/dev/shm is in memory"), "{refused}");
        }
        Region::create(Path::new("/nowhere/at/all")).map(drop).unwrap_err();
    }

    /// A long-lived piece must not make the region grow for ever.
    #[test]
    fn gaps_between_pieces_are_used_again_and_take_no_space() {
        use std::os::unix::fs::MetadataExt;
        let region = Region::create(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let mut random = Random::new(1);
        let mut pieces: Vec<(*mut u8, usize, u8)> = Vec::new();
        let is_filled = |&(piece, bytes, value): &(*mut u8, usize, u8)| {
            // SAFETY: the piece is mapped, and nobody else has it.
            unsafe { std::slice::from_raw_parts(piece, bytes) }.iter().all(|&byte| byte == value)
        };
        let mut longest = 0;
        for step in 0..400 {
            if pieces.len() == 12 || (!pieces.is_empty() && random.below(2) == 0) {
                let piece = pieces.swap_remove(random.index(pieces.len()));
                assert!(is_filled(&piece), "no other piece overlaps it");
                region.give(piece.0, piece.1);
            } else {
                let bytes = 1 + random.index(FOLIO_BYTES as usize * 3 / 2);
                let piece = region.take(bytes).unwrap();
                assert!(is_filled(&(piece, bytes, 0)), "new pieces are zeros");
                let value = step as u8 | 1;
                // SAFETY: as above.
                unsafe { piece.write_bytes(value, bytes) };
                pieces.push((piece, bytes, value));
            }
            let taken = region.taken.lock();
            longest = longest.max(taken.end);
            let lengths = pieces.iter().map(|piece| (piece.1 as u64).next_multiple_of(PART_BYTES));
            assert_eq!(lengths.sum::<u64>() + taken.gaps.values().sum::<u64>(), taken.end);
            // Beside the pieces, what they share folios with, and what the file system needs for itself.
            let folios = 2 * pieces.len() as u64 * FOLIO_BYTES + taken.end - taken.gaps.values().sum::<u64>();
            assert!(region.file.metadata().unwrap().blocks() * 512 <= folios + (1 << 20));
        }
        assert!(longest < 3 * 12 * 2 * FOLIO_BYTES, "{longest}");
        pieces.drain(..).for_each(|(piece, bytes, _)| region.give(piece, bytes));
        let taken = region.taken.lock();
        assert_eq!((taken.end, taken.gaps.len(), taken.is_broken), (0, 0, false));
        assert!(region.file.metadata().unwrap().blocks() * 512 <= 1 << 20, "all space is given back");
    }
}
