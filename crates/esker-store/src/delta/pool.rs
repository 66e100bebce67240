//! A pool of memory chunks in size classes, named by 32-bit handles.
//!
//! There are two classes per doubling, from 16 bytes up. Freed chunks of a class form a linked list, stored
//! in the chunks themselves, and are reused. A large chunk has its own allocation, which is freed with it.

use esker_format::io::{Scratch, ScratchMemory};
use esker_format::memory::no_memory;
use esker_format::{Error, Result};

/// Number of classes; the largest is 64 GiB.
pub(super) const CLASSES: usize = 64;
/// Alignment of chunks.
const GRANULE_BYTES: usize = 16;
/// Bits of a handle that give the granule within a segment; the others give the segment.
const GRANULE_BITS: u32 = 18;
/// Maximum size of a segment that several chunks share.
const SEGMENT_BYTES_MAX: usize = GRANULE_BYTES << GRANULE_BITS;
const SEGMENT_BYTES_MIN: usize = 1 << 12;
const SEGMENTS_MAX: usize = 1 << (32 - GRANULE_BITS);
/// Chunks larger than this have their own segment.
const SHARED_BYTES_MAX: usize = SEGMENT_BYTES_MAX / 16;
/// No chunk. As a handle, it would be the last granule of the last segment, where no chunk begins.
const NO_CHUNK: u32 = u32::MAX;

/// Size in bytes of a chunk of `class`.
pub(super) const fn class_bytes(class: usize) -> usize {
    match class {
        0 => 16,
        odd if odd % 2 == 1 => 32 << (odd / 2),
        even => 48 << (even / 2 - 1),
    }
}

/// Allocates chunks from segments of scratch memory.
#[derive(Debug)]
pub(super) struct ChunkPool {
    scratch: Scratch,
    segments: Vec<Option<ScratchMemory>>,
    /// Numbers of freed segments.
    vacant: Vec<u32>,
    /// The segment from which chunks are allocated, and its unused part.
    open: u32,
    open_from: usize,
    open_end: usize,
    /// The first free chunk of each class.
    free: [u32; CLASSES],
    bytes: usize,
}

impl ChunkPool {
    pub(super) fn new(scratch: &Scratch) -> Self {
        Self {
            scratch: scratch.clone(),
            segments: Vec::new(),
            vacant: Vec::new(),
            open: 0,
            open_from: 0,
            open_end: 0,
            free: [NO_CHUNK; CLASSES],
            bytes: 0,
        }
    }

    /// Allocated bytes, free chunks included.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Hint: most chunks will be read soon.
    pub(super) fn will_need(&self) {
        self.segments.iter().flatten().for_each(ScratchMemory::will_need);
    }

    /// A chunk of `class` with unspecified contents.
    ///
    /// # Errors
    /// If there is no memory, or if there are too many large chunks.
    pub(super) fn allocate(&mut self, class: usize) -> Result<u32> {
        let free = self.free[class];
        if free != NO_CHUNK {
            self.free[class] = self.next_free(free);
            return Ok(free);
        }
        let bytes = class_bytes(class);
        if bytes > SHARED_BYTES_MAX {
            return Ok(self.segment(bytes)? << GRANULE_BITS);
        }
        if self.open_from + bytes > self.open_end {
            if let Some(chunk) = self.split_larger(class) {
                return Ok(chunk);
            }
            self.open_segment(bytes)?;
        }
        let chunk = self.open << GRANULE_BITS | granules(self.open_from);
        self.open_from += bytes;
        Ok(chunk)
    }

    /// A chunk of `class`, split off from a larger free one.
    #[cold]
    fn split_larger(&mut self, class: usize) -> Option<u32> {
        let larger = (class + 1..CLASSES).find(|&larger| self.free[larger] != NO_CHUNK)?;
        let chunk = self.free[larger];
        self.free[larger] = self.next_free(chunk);
        let bytes = class_bytes(class);
        self.free_range(chunk + granules(bytes), class_bytes(larger) - bytes);
        Some(chunk)
    }

    /// Splits a range of a segment into free chunks, the largest first.
    fn free_range(&mut self, mut from: u32, mut bytes: usize) {
        for class in (0..CLASSES).rev().filter(|&class| class_bytes(class) <= SHARED_BYTES_MAX) {
            while class_bytes(class) <= bytes {
                self.free(from, class);
                from += granules(class_bytes(class));
                bytes -= class_bytes(class);
            }
        }
    }

    /// Opens a segment for chunks of up to `bytes`; the rest of the previous one becomes free chunks.
    #[cold]
    fn open_segment(&mut self, bytes: usize) -> Result<()> {
        let wanted = (self.bytes / 8).next_power_of_two().clamp(SEGMENT_BYTES_MIN, SEGMENT_BYTES_MAX);
        let length = wanted.max(bytes.next_power_of_two());
        let opened = self.segment(length)?;
        self.free_range(self.open << GRANULE_BITS | granules(self.open_from), self.open_end - self.open_from);
        (self.open, self.open_from, self.open_end) = (opened, 0, length);
        Ok(())
    }

    /// Allocates a segment; returns its number.
    fn segment(&mut self, bytes: usize) -> Result<u32> {
        if self.vacant.is_empty() {
            if self.segments.len() == SEGMENTS_MAX - 1 {
                return Err(Error::invalid(format!(
                    "a shard of a dynamic graph holds at most {SEGMENTS_MAX} large lists: use more shards"
                )));
            }
            self.segments.try_reserve(1).map_err(no_memory)?;
            // Reserve capacity so that freeing a segment never allocates.
            self.vacant.try_reserve(self.segments.len() + 1).map_err(no_memory)?;
            self.vacant.push(self.segments.len() as u32);
            self.segments.push(None);
        }
        let memory = self.scratch.allocate(bytes)?;
        let Some(number) = self.vacant.pop() else { unreachable!("a vacant number exists") };
        self.bytes += memory.len();
        self.segments[number as usize] = Some(memory);
        Ok(number)
    }

    /// Frees a chunk of `class`.
    pub(super) fn free(&mut self, chunk: u32, class: usize) {
        if class_bytes(class) > SHARED_BYTES_MAX {
            let number = chunk >> GRANULE_BITS;
            if let Some(memory) = self.segments[number as usize].take() {
                self.bytes -= memory.len();
            }
            self.vacant.push(number);
        } else {
            let next = self.free[class];
            self.bytes_mut(chunk)[..4].copy_from_slice(&next.to_ne_bytes());
            self.free[class] = chunk;
        }
    }

    fn next_free(&self, chunk: u32) -> u32 {
        let bytes = self.bytes_of(chunk);
        u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    /// The bytes from the start of a chunk to the end of its segment.
    #[inline(always)]
    pub(super) fn bytes_of(&self, chunk: u32) -> &[u8] {
        let Some(memory) = &self.segments[segment_of(chunk)] else { unreachable!("the chunk is in use") };
        &memory[offset_of(chunk)..]
    }

    /// As [`ChunkPool::bytes_of`], mutable.
    #[inline(always)]
    pub(super) fn bytes_mut(&mut self, chunk: u32) -> &mut [u8] {
        let Some(memory) = &mut self.segments[segment_of(chunk)] else { unreachable!("the chunk is in use") };
        &mut memory[offset_of(chunk)..]
    }

    /// The bytes of one chunk for reading and of another for writing. Each slice extends to the other chunk
    /// or to the end of its segment.
    pub(super) fn pair(&mut self, from: u32, to: u32) -> (&[u8], &mut [u8]) {
        let (from_at, to_at) = (offset_of(from), offset_of(to));
        if segment_of(from) == segment_of(to) {
            let bytes = &mut **match &mut self.segments[segment_of(from)] {
                Some(memory) => memory,
                None => unreachable!("the chunk is in use"),
            };
            let (low, high) = bytes.split_at_mut(from_at.max(to_at));
            return if from_at < to_at { (&low[from_at..], high) } else { (high, &mut low[to_at..]) };
        }
        match self.segments.get_disjoint_mut([segment_of(from), segment_of(to)]) {
            Ok([Some(from), Some(to)]) => (&from[from_at..], &mut to[to_at..]),
            _ => unreachable!("both chunks are in use"),
        }
    }
}

/// Converts bytes to granules.
fn granules(bytes: usize) -> u32 {
    (bytes / GRANULE_BYTES) as u32
}

#[inline(always)]
fn segment_of(chunk: u32) -> usize {
    (chunk >> GRANULE_BITS) as usize
}

#[inline(always)]
fn offset_of(chunk: u32) -> usize {
    (chunk & ((1 << GRANULE_BITS) - 1)) as usize * GRANULE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_is_at_most_twice_the_previous_one() {
        for class in 1..CLASSES {
            let (before, bytes) = (class_bytes(class - 1), class_bytes(class));
            assert!(before < bytes && bytes <= before * 2 && bytes % GRANULE_BYTES == 0);
        }
        assert_eq!(class_bytes(CLASSES - 1), 64 << 30);
    }

    #[test]
    fn chunks_do_not_overlap_and_are_reused() {
        let mut pool = ChunkPool::new(&Scratch::heap());
        let mut chunks = Vec::new();
        for i in 0..2000_usize {
            let class = i * 7 % 32;
            let chunk = pool.allocate(class).unwrap();
            pool.bytes_mut(chunk)[..class_bytes(class)].fill(i as u8);
            chunks.push((chunk, class, i as u8));
        }
        let held = pool.bytes();
        for round in 0..3 {
            for &(chunk, class, mark) in &chunks {
                assert!(pool.bytes_of(chunk)[..class_bytes(class)].iter().all(|&byte| byte == mark));
            }
            for (chunk, class, mark) in chunks.iter_mut().skip(round).step_by(3) {
                pool.free(*chunk, *class);
                *chunk = pool.allocate(*class).unwrap();
                pool.bytes_mut(*chunk)[..class_bytes(*class)].fill(*mark);
            }
        }
        assert_eq!(pool.bytes(), held);
        for (from, to) in [(3, 4), (4, 3), (3, 31), (31, 3)] {
            let ((a, _, mark), (b, class, other)) = (chunks[from], chunks[to]);
            let (from, to) = pool.pair(a, b);
            assert_eq!((from[0], to[0], to[class_bytes(class) - 1]), (mark, other, other));
        }
    }
}
