//! Numbers that all files share.

/// The version of the format that this code writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 4;
/// The oldest that it reads: it lacks the compressed encoding, and is else the same.
pub(super) const FORMAT_VERSION_MIN: u32 = 3;
/// Data of a column begins after a header of this size, so that maps are aligned to pages.
pub const PAGE_BYTES: usize = 4096;
/// Data under one checksum.
pub const BLOCK_BYTES: usize = 64 << 10;
