//! The size of tiles.

/// Binary logarithm of the number of rows of a tile.
pub(super) const STRIP_BITS: u32 = 16;
/// Number of rows, and of columns, of a tile.
pub(super) const STRIP_LEN: usize = 1 << STRIP_BITS;
