//! Tiles as a file that a pool caches. A unit is a chunk; no chunk crosses a block.

use std::ops::Range;
use std::sync::Arc;

use esker_format::Result;
use esker_format::io::File;
use esker_graph::Tile;

use super::files::{Directory, Tiles};
use crate::pool::PagedFile;

/// The data of tiles, and the directory of the chunks.
#[derive(Debug)]
pub(super) struct TilePages<'a> {
    pub(super) tiles: &'a Tiles,
    pub(super) directory: Directory<'a>,
}

impl PagedFile for TilePages<'_> {
    const OVERLAP_BLOCKS: usize = 0;

    fn file(&self) -> Result<Arc<dyn File>> {
        self.tiles.data().open_direct(self.tiles.disk())
    }

    fn data(&self) -> Range<u64> {
        let data = self.tiles.data();
        let first = if data.is_one() { data.first_byte() } else { 0 };
        first..first + self.tiles.data_bytes()
    }

    fn verify(&self, block: usize, bytes: &[u8]) -> Result<()> {
        self.tiles.data().verify_copy(block, bytes)
    }

    fn units(&self, _extent: usize, blocks: Range<usize>) -> Range<usize> {
        self.directory.in_blocks(blocks)
    }

    fn strips(&self, chunk: usize) -> (u32, u32) {
        let Tile { row, column } = self.directory.tile(chunk);
        (row, column)
    }

    fn num_strips(&self) -> usize {
        self.tiles.num_strips()
    }
}
