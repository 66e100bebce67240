//! Batches of decoded edges.

use std::ops::Range;

use esker_graph::{Bitmap, End, Patch, Tile, VertexId, Weight, vertex};

use super::codings::batch_mask::BatchMask;
use super::codings::codec::{BATCH_LEN, ChunkDecoder};
use super::codings::rows::{ROWS_ROOM, find_rows};
use super::files::TileChunk;
use super::matrix::Matrix;
use super::schedule::EdgeEnds;
use super::strip::STRIP_BITS;

const COLUMN_MASK: u32 = (1 << STRIP_BITS) - 1;

/// A batch of decoded edges of a chunk. Memory: about 32 KiB with 32-bit ids and no weights.
#[derive(Debug)]
pub(super) struct DecodedBatch<W> {
    positions: Vec<u32>,
    /// The rows: their positions in the strip, their vertices, and where each ends in `columns`.
    row_numbers: Vec<u32>,
    rows: Vec<VertexId>,
    ends: Vec<u32>,
    /// All columns, row by row.
    pub(super) columns: Vec<VertexId>,
    /// If not all columns receive the edges: where those of each row that do end in the next array.
    back_ends: Vec<u32>,
    /// The columns that receive the edges.
    back: Vec<VertexId>,
    back_weights: Vec<W>,
    /// Whether some columns do not receive all edges.
    pub(super) is_filtered: bool,
    num_rows: usize,
    no_weights: Vec<W>,
    /// The weights of the remaining edges, if edges were left out.
    remaining_weights: Vec<W>,
    mask: BatchMask,
}

/// Positions of a chunk, from the next batch on.
#[derive(Debug)]
enum Positions<'a> {
    Coded(ChunkDecoder<'a>),
    Plain(&'a [u32]),
}

impl Positions<'_> {
    /// Replaces `batch` by the next positions; by none at the end. `None` if the bytes are damaged.
    fn next(&mut self, batch: &mut Vec<u32>) -> Option<()> {
        match self {
            Self::Coded(decoder) => decoder.next(batch),
            Self::Plain(rest) => {
                let (now, later) = rest.split_at(rest.len().min(BATCH_LEN));
                batch.clear();
                batch.extend_from_slice(now);
                *rest = later;
                Some(())
            }
        }
    }
}

/// A chunk being decoded.
#[derive(Debug)]
pub(super) struct Decoding<'a, W> {
    positions: Positions<'a>,
    first_row: usize,
    first_column: usize,
    num_vertices: usize,
    /// The weights of the edges that are still to be decoded.
    weights: Option<&'a [W]>,
    weights_now: Option<&'a [W]>,
    /// The edges of the tile that are left out, from the next batch on.
    left_out: &'a [u32],
    /// Whether some edges of this batch were left out.
    has_removed: bool,
    pub(super) bits: Option<&'a Bitmap>,
    sides: EdgeEnds,
    is_diagonal: bool,
}

impl<'a, W: Weight> Decoding<'a, W> {
    /// Begins a chunk; `None` if the bytes are not a chunk. `weights` are those of its edges. `bits` are the
    /// vertices whose lists are wanted; `None` means all. `left_out` are the edges of the tile that are not.
    /// A tile on the diagonal of a symmetric graph holds each self-loop only once.
    pub(super) fn new(
        chunk: &TileChunk,
        bytes: &'a [u8],
        matrix: Matrix,
        weights: Option<&'a [W]>,
        left_out: &'a [u32],
        bits: Option<&'a Bitmap>,
        sides: EdgeEnds,
    ) -> Option<Self> {
        let len = (chunk.edges.end - chunk.edges.start) as usize;
        let positions = Positions::Coded(ChunkDecoder::new(bytes, len)?);
        Some(Self::begin(chunk.tile, positions, matrix, weights, left_out, bits, sides))
    }

    /// Positions that are not coded, with their weights.
    pub(super) fn plain(
        tile: Tile,
        matrix: Matrix,
        positions: &'a [u32],
        weights: &'a [W],
        bits: Option<&'a Bitmap>,
        sides: EdgeEnds,
    ) -> Self {
        Self::begin(tile, Positions::Plain(positions), matrix, Some(weights), &[], bits, sides)
    }

    fn begin(
        tile: Tile,
        positions: Positions<'a>,
        matrix: Matrix,
        weights: Option<&'a [W]>,
        left_out: &'a [u32],
        bits: Option<&'a Bitmap>,
        sides: EdgeEnds,
    ) -> Self {
        Self {
            positions,
            first_row: (tile.row as usize) << STRIP_BITS,
            first_column: (tile.column as usize) << STRIP_BITS,
            num_vertices: matrix.num_vertices,
            weights,
            weights_now: None,
            left_out,
            has_removed: false,
            bits,
            sides,
            is_diagonal: !matrix.directed && tile.row == tile.column,
        }
    }
}

impl<W: Weight> DecodedBatch<W> {
    pub(super) fn new() -> Self {
        Self {
            positions: Vec::with_capacity(BATCH_LEN),
            row_numbers: vec![0; BATCH_LEN + ROWS_ROOM],
            rows: Vec::with_capacity(BATCH_LEN),
            ends: vec![0; BATCH_LEN + ROWS_ROOM],
            columns: Vec::with_capacity(BATCH_LEN),
            back_ends: Vec::new(),
            back: Vec::new(),
            back_weights: Vec::new(),
            is_filtered: false,
            num_rows: 0,
            no_weights: vec![W::default(); BATCH_LEN],
            remaining_weights: Vec::new(),
            mask: BatchMask::default(),
        }
    }

    /// Decodes the next batch. Returns false at the end, and `None` if the bytes are damaged.
    pub(super) fn fill(&mut self, decoding: &mut Decoding<'_, W>) -> Option<bool> {
        let last = loop {
            decoding.positions.next(&mut self.positions)?;
            if self.positions.is_empty() {
                return Some(false);
            }
            if let Some(weights) = decoding.weights {
                let (now, later) = weights.split_at_checked(self.positions.len())?;
                (decoding.weights_now, decoding.weights) = (Some(now), Some(later));
            }
            decoding.has_removed = self.leave_out(decoding);
            // All edges of a batch may be left out.
            if let Some(&last) = self.positions.last() {
                break last;
            }
        };
        self.columns.clear();
        let column = |&position: &u32| vertex(decoding.first_column + (position & COLUMN_MASK) as usize);
        self.columns.extend(self.positions.iter().map(column));
        self.num_rows = find_rows(&self.positions, &mut self.row_numbers, &mut self.ends);
        let numbers = self.row_numbers.iter().take(self.num_rows);
        self.rows.clear();
        self.rows.extend(numbers.map(|&number| vertex(decoding.first_row + number as usize)));
        // Positions ascend, so the last row is the largest. Columns can be too large only in the last strip.
        let (last_row, end) =
            (decoding.first_row + (last >> STRIP_BITS) as usize, decoding.first_column + (1 << STRIP_BITS));
        let beyond = |column: &VertexId| *column as usize >= decoding.num_vertices;
        if last_row >= decoding.num_vertices || end > decoding.num_vertices && self.columns.iter().any(beyond)
        {
            return None;
        }
        self.is_filtered =
            decoding.sides.columns && (decoding.bits.is_some() || decoding.is_diagonal && self.has_loops());
        if self.is_filtered {
            self.filter(decoding);
        }
        Some(true)
    }

    /// Leaves out the edges that are not wanted. Returns whether there were any.
    fn leave_out(&mut self, decoding: &mut Decoding<'_, W>) -> bool {
        if decoding.left_out.is_empty() || !self.mask.leave_out(&self.positions, &mut decoding.left_out) {
            return false;
        }
        if let Some(weights) = decoding.weights_now {
            self.remaining_weights.clear();
            self.remaining_weights.extend_from_slice(weights);
            self.mask.retain(&mut self.remaining_weights);
        }
        self.mask.retain_positions(&mut self.positions);
        true
    }

    fn has_loops(&self) -> bool {
        // Without an early exit, the compiler does sixteen at a time.
        let is_loop = |position: u32| position >> STRIP_BITS == position & COLUMN_MASK;
        self.positions.iter().fold(false, |any, &position| any | is_loop(position))
    }

    /// Keeps the columns whose lists are wanted.
    fn filter(&mut self, decoding: &Decoding<'_, W>) {
        let weights = match decoding.weights_now {
            Some(_) if decoding.has_removed => &self.remaining_weights,
            Some(weights) => weights,
            None => &self.no_weights,
        };
        self.back.clear();
        self.back_weights.clear();
        self.back_ends.clear();
        let mut at = 0;
        for (&row, &end) in self.rows.iter().zip(&self.ends[..self.num_rows]) {
            let range = at..end as usize;
            for (&column, &weight) in self.columns[range.clone()].iter().zip(&weights[range]) {
                let is_loop = decoding.is_diagonal && column == row;
                if !is_loop && decoding.bits.is_none_or(|bits| bits.get(column)) {
                    self.back.push(column);
                    self.back_weights.push(weight);
                }
            }
            at = end as usize;
            self.back_ends.push(self.back.len() as u32);
        }
    }

    /// Each row: its vertex, its range of columns, and its range of the columns that receive the edges.
    #[inline(always)]
    pub(super) fn rows(&self) -> impl Iterator<Item = (VertexId, Range<usize>, Range<usize>)> + '_ {
        let (mut at, mut back_at) = (0, 0);
        let back_ends = if self.is_filtered { &self.back_ends } else { &self.ends };
        let ends = self.ends[..self.num_rows].iter().zip(back_ends);
        self.rows.iter().zip(ends).map(move |(&row, (&end, &back_end))| {
            let ranges = (at..end as usize, back_at..back_end as usize);
            (at, back_at) = (ranges.0.end, ranges.1.end);
            (row, ranges.0, ranges.1)
        })
    }

    /// The whole batch as a patch, if all columns receive the edges.
    pub(super) fn patch<'b>(
        &'b self,
        decoding: &Decoding<'b, W>,
        to_rows: End,
        to_columns: End,
    ) -> Patch<'b, W> {
        let (rows, ends) = (&self.rows, &self.ends[..self.num_rows]);
        let weights = &self.weights(decoding)[..self.columns.len()];
        Patch { rows, ends, columns: &self.columns, weights, to_rows, to_columns }
    }

    /// The weights, parallel to the columns.
    pub(super) fn weights<'b>(&'b self, decoding: &Decoding<'b, W>) -> &'b [W] {
        match decoding.weights_now {
            Some(_) if decoding.has_removed => &self.remaining_weights,
            Some(weights) => weights,
            None => &self.no_weights,
        }
    }

    /// The columns that receive the edges, and the weights.
    pub(super) fn back<'b>(&'b self, decoding: &Decoding<'b, W>) -> (&'b [VertexId], &'b [W]) {
        if self.is_filtered {
            (&self.back, &self.back_weights)
        } else {
            (&self.columns, self.weights(decoding))
        }
    }
}
