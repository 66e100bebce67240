//! The size of tiles, and where an edge lies among them.

use esker_graph::{Tile, VertexId};

/// Binary logarithm of the number of rows of a tile.
pub(super) const STRIP_BITS: u32 = 16;
/// Number of rows, and of columns, of a tile.
pub(super) const STRIP_LEN: usize = 1 << STRIP_BITS;

/// The strip of a vertex.
pub(crate) const fn strip_of(v: VertexId) -> u32 {
    (v as usize / STRIP_LEN) as u32
}

/// The tile of an edge.
pub(crate) const fn tile_of(row: VertexId, column: VertexId) -> Tile {
    Tile { row: strip_of(row), column: strip_of(column) }
}

/// Row and column of an edge in their tile.
pub(crate) const fn place(row: VertexId, column: VertexId) -> u32 {
    (((row as usize % STRIP_LEN) << STRIP_BITS) | (column as usize % STRIP_LEN)) as u32
}
