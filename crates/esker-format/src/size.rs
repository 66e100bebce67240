//! Constants shared by all files.

/// The format version that this code writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 12;
/// The oldest format version that it reads. Version 4 added the compressed encoding; version 5, the secret of ids, marks of the log in
/// MANIFEST, and summaries and marks of MANIFEST in the log; version 6, the times of versions and the rule for duplicate edges; version 7,
/// truth values, dates and timestamps, and what merging keeps; version 8, the options of a database; version 9, heads
/// chosen by degree; version 10, declared streams; version 11, ids of renumbered
/// vertices in layers, heads of compressed lists, and tiles instead of lists; version 12, tiles in files of several layers, and how many
/// arcs of a layer are not copies.
pub(super) const FORMAT_VERSION_MIN: u32 = 3;
/// Size of the header before a column's data: a page, so that mapped data is aligned to pages.
pub const PAGE_BYTES: usize = 4096;
/// Bytes of data under one checksum.
pub const BLOCK_BYTES: usize = 64 << 10;
