//! Rows of the adjacency matrix for the first vertices, which in degree order are the hubs.
//!
//! The row of hub `u` has one bit for each vertex before `u`, set if they are neighbours. Intersecting two
//! lists with hundreds of hubs becomes an AND over a few kilobytes at 512 bits an instruction, and testing
//! whether two hubs are neighbours takes one load.

use esker_graph::{Run, VertexId, vertex};
use rayon::prelude::*;

use super::earlier::EarlierNeighbours;

/// Bits per line.
pub(crate) const LINE_BITS: usize = 512;

/// One cache line of bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct BitLine(pub(crate) [u64; 8]);

/// Whether bit `w` of a row is set.
#[inline(always)]
pub(crate) fn bit(row: &[BitLine], w: VertexId) -> u64 {
    let w = w as usize;
    row[w / LINE_BITS].0[w / 64 % 8] >> (w % 64) & 1
}

/// Sets bit `w` of a row.
#[inline(always)]
pub(crate) fn set_bit(row: &mut [BitLine], w: VertexId) {
    let w = w as usize;
    row[w / LINE_BITS].0[w / 64 % 8] |= 1 << (w % 64);
}

/// Clears the 64-bit word that contains bit `w` of a row.
#[inline(always)]
pub(crate) fn clear_word(row: &mut [BitLine], w: VertexId) {
    let w = w as usize;
    row[w / LINE_BITS].0[w / 64 % 8] = 0;
}

/// The rows of the vertices `0..len`. Memory: len²/16 bytes, plus 32 bytes per hub.
pub(crate) struct HubAdjacency {
    lines: Vec<BitLine>,
    len: usize,
}

/// The number of lines before the row of `u`. All rows within a block of 512 vertices have the same length.
#[inline(always)]
fn first_line(u: usize) -> usize {
    let block = u / LINE_BITS;
    LINE_BITS * (block * (block + 1) / 2) + u % LINE_BITS * (block + 1)
}

impl HubAdjacency {
    /// No rows.
    pub(crate) fn none() -> Self {
        Self { lines: Vec::new(), len: 0 }
    }

    /// The most hubs whose rows fit in `bytes`.
    pub(crate) fn len_within(bytes: u64) -> usize {
        let mut block = 0;
        while (first_line((block + 1) * LINE_BITS) * size_of::<BitLine>()) as u64 <= bytes {
            block += 1;
        }
        block * LINE_BITS
    }

    /// The rows of the first `len` vertices. If `mutual`, a bit is set only for edges in both directions.
    pub(crate) fn new<E: EarlierNeighbours>(
        lists: &E,
        run: &Run,
        len: usize,
        mutual: bool,
    ) -> Result<Self, E::Error> {
        let mut lines = Vec::new();
        run.install(|| {
            lines.par_extend(rayon::iter::repeat_n(BitLine::default(), first_line(len)));
        });
        let mut blocks = Vec::new();
        let mut rest = lines.as_mut_slice();
        for first in (0..len).step_by(LINE_BITS) {
            let end = (first + LINE_BITS).min(len);
            let (block, others) = rest.split_at_mut(first_line(end) - first_line(first));
            blocks.push((first, block));
            rest = others;
        }
        let fill = |(first, block): (usize, &mut [BitLine])| -> Result<(), E::Error> {
            let width = first / LINE_BITS + 1;
            for (i, row) in block.chunks_exact_mut(width).enumerate() {
                run.check()?;
                lists.with_earlier(vertex(first + i), |list, both| {
                    for (k, &w) in list.iter().enumerate() {
                        if !mutual || both[k] != 0 {
                            set_bit(row, w);
                        }
                    }
                })?;
            }
            Ok(())
        };
        run.install(|| blocks.into_par_iter().with_max_len(1).try_for_each(fill))?;
        Ok(Self { lines, len })
    }

    /// Number of rows.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The row of hub `u`.
    #[inline(always)]
    pub(crate) fn row(&self, u: VertexId) -> &[BitLine] {
        let first = first_line(u as usize);
        &self.lines[first..=first + u as usize / LINE_BITS]
    }
}
