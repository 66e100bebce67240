//! The size of a pool and its cache policy. [1] is the paper that the module cites.

use esker_format::BLOCK_BYTES;

/// Least number of extents in memory.
pub(super) const FRAMES_MIN: usize = 4;

/// The extents that stay in memory, and the order in which a scan reads the file. `Rewind` is the policy of
/// [1]; [1] compares it with the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CachePolicy {
    /// Slide, cache, rewind: extents that the next scan needs stay, and it begins with them.
    #[default]
    Rewind,
    /// The extents used last stay, as in the page cache. Scans keep the order of the file.
    Lru,
    /// Nothing stays. The memory is two segments: one is read while the scan computes on the other.
    Segments,
}

/// The memory of a pool, and how it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolOptions {
    /// Bytes of memory, including the segments.
    pub bytes: u64,
    /// Bytes read ahead while the scan computes on as many.
    pub segment_bytes: u64,
    /// Blocks per read.
    pub extent_blocks: usize,
    /// Whether threads read even if io_uring is available.
    pub by_threads: bool,
    /// The rule for the extents that stay in memory.
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
    /// The default for lists: longer reads, because neighbouring extents share a block.
    pub fn of_lists() -> Self {
        Self { extent_blocks: 16, ..Self::default() }
    }

    /// The least memory for a pool.
    pub fn bytes_min(&self) -> u64 {
        (FRAMES_MIN * self.extent_bytes()) as u64
    }

    /// Bytes per read.
    pub(super) fn extent_bytes(&self) -> usize {
        self.extent_blocks.clamp(1, 32) * BLOCK_BYTES
    }
}
