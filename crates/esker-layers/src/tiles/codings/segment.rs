//! Codes successive edges of the file into blocks, independently of what lies before them.
//!
//! The edges between two copied groups are cut into *segments* of [`SEGMENT_LEN`], whatever the memory and
//! the number of threads. Each segment begins a block unless all of it fits the last one, so threads code
//! segments side by side. That costs half a block for each segment: about 2 % of the space.

use esker_format::memory::{push, reserve};
use esker_format::{BLOCK_BYTES, Result};
use esker_graph::Tile;

use crate::tiles::codings::codec::{CHUNK_LEN_MAX, encode};

/// Edges of a segment. Few in tests, so that there are several.
pub(crate) const SEGMENT_LEN: usize = if cfg!(test) { 1 << 14 } else { 1 << 20 };
/// No chunk begins in the last bytes of a block if fewer than this are left.
pub(crate) const ROOM_MIN: usize = 64;

/// A chunk of a segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CodedChunk {
    pub(crate) tile: Tile,
    /// Where it begins in the bytes of the segment.
    pub(crate) start: usize,
    /// Its edges.
    pub(crate) len: usize,
}

/// A segment being coded. Memory: its bytes, at most four for each edge, and up to [`CHUNK_LEN_MAX`] edges.
#[derive(Debug, Default)]
pub(crate) struct TileSegment {
    /// Whole blocks, and a last one that may be shorter.
    bytes: Vec<u8>,
    chunks: Vec<CodedChunk>,
    /// Edges of the current tile that are not coded yet.
    pending: Vec<u32>,
    tile: Tile,
    len: usize,
    num_loops: u64,
}

impl TileSegment {
    /// Edges that still belong to it.
    pub(crate) fn room(&self) -> usize {
        SEGMENT_LEN - self.len
    }

    /// Whether it has no edges.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends edges of a tile, in ascending order of position, no more than there is room for. A tile's
    /// edges may come in several calls, one after another.
    pub(crate) fn append(&mut self, tile: Tile, mut positions: &[u32]) -> Result<()> {
        if self.tile != tile {
            self.end_tile()?;
            self.tile = tile;
        }
        self.len += positions.len();
        if tile.row == tile.column {
            self.num_loops += positions.iter().filter(|&&at| at >> 16 == at & 0xFFFF).count() as u64;
        }
        while self.pending.len() + positions.len() >= CHUNK_LEN_MAX {
            if self.pending.is_empty() {
                let len = self.code(positions)?;
                positions = &positions[len..];
            } else {
                let (first, rest) = positions.split_at(CHUNK_LEN_MAX - self.pending.len());
                reserve(&mut self.pending, first.len())?;
                self.pending.extend_from_slice(first);
                positions = rest;
                let mut pending = std::mem::take(&mut self.pending);
                let len = self.code(&pending)?;
                pending.drain(..len);
                self.pending = pending;
            }
        }
        reserve(&mut self.pending, positions.len())?;
        self.pending.extend_from_slice(positions);
        Ok(())
    }

    /// Codes what was appended.
    pub(crate) fn end_tile(&mut self) -> Result<()> {
        let mut pending = std::mem::take(&mut self.pending);
        let mut rest = pending.as_slice();
        while !rest.is_empty() {
            rest = &rest[self.code(rest)?..];
        }
        pending.clear();
        self.pending = pending;
        Ok(())
    }

    /// Codes a chunk of the first edges of the current tile. Returns how many.
    fn code(&mut self, positions: &[u32]) -> Result<usize> {
        loop {
            let start = self.bytes.len();
            let room = BLOCK_BYTES - start % BLOCK_BYTES;
            reserve(&mut self.bytes, room)?;
            let len = if room < ROOM_MIN { 0 } else { encode(positions, room, &mut self.bytes) };
            if len > 0 {
                push(&mut self.chunks, CodedChunk { tile: self.tile, start, len })?;
                if len < positions.len().min(CHUNK_LEN_MAX) {
                    // The rest of the block would hold only some tens of edges.
                    self.bytes.resize(start + room, 0);
                }
                return Ok(len);
            }
            self.bytes.resize(start + room, 0);
        }
    }

    /// The bytes of the chunks, with unused ones at the ends of blocks. Everything must be coded.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The chunks.
    pub(crate) fn chunks(&self) -> &[CodedChunk] {
        &self.chunks
    }

    /// Edges from a vertex to itself.
    pub(crate) fn num_loops(&self) -> u64 {
        self.num_loops
    }
}
