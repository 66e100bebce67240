//! Tables of tiles. What they mean together is told in `tiles/mod.rs`.

use super::field::{codes, layout};

codes! {
    /// How the positions of a chunk of a tile are kept; the code is its first byte.
    pub enum TileCoding: u8 {
        /// Row and column, two bytes each.
        Pairs = 1,
        /// The differences of successive positions, the first from 0: seven bits a byte, lowest first; the highest bit of a byte says that more follow.
        Bytes = 2,
        /// The first position, four bytes. The differences that follow in blocks of 32, the last maybe of fewer: a byte with a width, then each difference in so many bits, lowest first, up to a whole byte.
        Packed = 3,
        /// For each row: difference from the row before, number of edges, first column, differences of columns; all as in `Bytes`.
        Runs = 4,
        /// First row, first column divided by 64, words a row, each two bytes; then for each row from the first on so many words of 64 bits, a bit for each cell.
        Bitmap = 5,
    }
}

layout! {
    /// Tiles of a layer, a second form of its lists. They lie in `layers/<number>/`: `tiles.data`, `tiles.columns` and `tiles/`.
    #[derive(Copy)]
    pub struct TilesRecord {
        /// Number of the layer, which is complete.
        layer: u32,
        /// Edges that are kept: an undirected one once.
        num_edges: u64,
    }
}
