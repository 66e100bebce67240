//! How large tiles are.

/// Logarithm of the rows of a tile.
pub(super) const STRIP_BITS: u32 = 16;
/// Rows of a tile, and columns.
pub(super) const STRIP_LEN: usize = 1 << STRIP_BITS;
