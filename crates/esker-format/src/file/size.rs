//! Constants shared by all files.

/// The format version that this code writes and reads: that of the first release. Until then the format
/// changes without a new number.
pub const FORMAT_VERSION: u32 = 1;
/// Size of the header before a column's data: a page, so that mapped data is aligned to pages.
pub const PAGE_BYTES: usize = 4096;
/// Bytes of data under one checksum.
pub const BLOCK_BYTES: usize = 64 << 10;
