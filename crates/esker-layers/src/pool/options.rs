//! How much memory there is, and what stays in it. [1] is the paper of the module.

use esker_format::BLOCK_BYTES;

/// Extents in memory, at least.
pub(super) const FRAMES_MIN: usize = 4;

/// What stays in memory, and in which order a scan goes over the file. The others are what [1] compares with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CachePolicy {
    /// Slide, cache, rewind: what will be needed stays, and comes first.
    #[default]
    Rewind,
    /// What was used last stays, as in the page cache; in order of the file.
    Lru,
    /// Nothing: all memory is two segments, one of which is read while the other is computed on.
    Segments,
}

/// How much memory parts of a graph get, and how it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolOptions {
    /// Memory for them, segments included.
    pub bytes: u64,
    /// Bytes that are read ahead; and computed on meanwhile.
    pub segment_bytes: u64,
    /// Blocks that are read together.
    pub extent_blocks: usize,
    /// Whether reads are left to threads, though the system may have io_uring.
    pub by_threads: bool,
    /// What stays in memory.
    pub policy: CachePolicy,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            bytes: 256 << 20,
            segment_bytes: 8 << 20,
            extent_blocks: 4,
            by_threads: false,
            policy: CachePolicy::default(),
        }
    }
}

impl PoolOptions {
    /// The default for lists: longer reads, for two extents have a block in common.
    pub fn of_lists() -> Self {
        Self { extent_blocks: 16, ..Self::default() }
    }

    /// The least memory that is of use.
    pub fn bytes_min(&self) -> u64 {
        (FRAMES_MIN * self.extent_bytes()) as u64
    }

    /// Bytes that are read together.
    pub(super) fn extent_bytes(&self) -> usize {
        self.extent_blocks.clamp(1, 32) * BLOCK_BYTES
    }
}
