//! Constants shared by all files.

/// The format version that this code writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 13;
/// The oldest format version that it reads. Older ones were never released.
pub(super) const FORMAT_VERSION_MIN: u32 = 13;
/// Size of the header before a column's data: a page, so that mapped data is aligned to pages.
pub const PAGE_BYTES: usize = 4096;
/// Bytes of data under one checksum.
pub const BLOCK_BYTES: usize = 64 << 10;
