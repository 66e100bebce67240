//! Tables of tiles. `tiles/mod.rs` explains how they work together.

use crate::file::field::{codes, layout};
use crate::file::header::Stamp;

codes! {
    /// The encoding of the positions in a chunk of a tile; the code is the chunk's first byte.
    pub enum TileCoding: u8 {
        /// Row and column, two bytes each.
        Pairs = 1,
        /// The differences of successive positions, starting from 0: seven bits a byte, lowest first; the
        /// highest bit of a byte is set if more bytes follow.
        Bytes = 2,
        /// The first position, four bytes. Then the differences in blocks of 32, the last block maybe
        /// shorter: one byte with a width, then each difference in that many bits, lowest first, padded to a
        /// whole byte.
        Packed = 3,
        /// For each row: difference from the previous row, number of edges, first column, differences of
        /// columns; all as in `Bytes`.
        Runs = 4,
        /// First row, first column divided by 64, and words per row, two bytes each. Then for each row from
        /// the first on, that many words of 64 bits, one bit for each cell.
        Bitmap = 5,
    }
}

layout! {
    /// The tiles of a layer, a second form of its lists, stored in `layers/<number>/` as `tiles.data`,
    /// `tiles.columns` and `tiles/`.
    pub struct TilesRecord {
        /// Number of the layer, which must be complete.
        layer: u32,
        /// The number in the headers of their files.
        stamp: Stamp,
        /// Number of edges; an undirected one counts once.
        num_edges: u64,
        /// The files of chunks that earlier layers wrote and that the tiles share,
        /// `layers/<number>/tiles.data.<earlier number>`.
        shared: Vec<SharedTiles>,
    }
}

layout! {
    /// A file of chunks that an earlier layer wrote.
    #[derive(Copy)]
    pub struct SharedTiles {
        /// Number of the layer that wrote it.
        layer: u32,
        /// The number in its header: that of the tiles of that layer.
        stamp: Stamp,
    }
}

layout! {
    /// The second forms that merging gives the lists of the complete layer.
    #[derive(Copy, Default)]
    pub struct KeptForms {
        /// Rows and columns of tiles in a group; 0: no tiles.
        tile_group: u32,
        /// Neighbours of each vertex in its stored head, at most; 0: no heads.
        head_len: u64,
    }
}
