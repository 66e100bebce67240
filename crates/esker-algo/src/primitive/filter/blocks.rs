//! The bits of one direction of a filter.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use esker_graph::{Direction, Graph, Run, Stop, VertexId, vertex};
use rayon::prelude::*;

use super::super::array::VertexArray;
use super::super::vertex_map::each_vertex;

/// Edges per block.
pub(super) const BLOCK_LEN: usize = 64;
/// Blocks of a vertex are compacted once more than one in this many is empty.
const EMPTY_SHARE: usize = 2;

/// Per vertex, its blocks: one bit for each of 64 consecutive entries of its list, and their position in the
/// list.
///
/// All operations take `&self`. The blocks of a vertex must be changed by one thread at a time.
pub(super) struct FilterBlocks {
    /// The first block of each vertex, and the end of the last one.
    starts: Vec<u64>,
    /// Blocks that each vertex still has.
    counts: VertexArray,
    /// Active edges of each vertex.
    degrees: VertexArray,
    /// For each block: which of its edges are active.
    bits: Vec<AtomicU64>,
    /// For each block: its position in the list (lower half) and the number of active edges before it (upper
    /// half).
    headers: Vec<AtomicU64>,
}

/// A block with at least one active edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct FilterBlock {
    /// One bit per active edge.
    pub(super) bits: u64,
    /// The list index of its first entry.
    pub(super) first: usize,
}

impl FilterBlocks {
    /// The most bytes that the blocks of `n` vertices with `arcs` edges take.
    pub(super) fn memory_bytes(n: u64, arcs: u64) -> u64 {
        (arcs / BLOCK_LEN as u64 + n) * 16 + (n + 1) * 8 + n * 2 * size_of::<VertexId>() as u64
    }

    /// All edges of the vertices for which `wanted` is true.
    pub(super) fn new<G: Graph>(
        graph: &G,
        run: &Run,
        direction: Direction,
        wanted: impl Fn(VertexId) -> bool + Sync,
    ) -> Result<Self, Stop> {
        let n = graph.num_vertices();
        let degree = |v: usize| if wanted(vertex(v)) { graph.degree(direction, vertex(v)) } else { 0 };
        let mut starts = Vec::with_capacity(n + 1);
        starts.push(0);
        let mut sum = 0;
        for v in 0..n {
            let degree = degree(v);
            if degree > u32::MAX as usize {
                return Err(Stop::unsuitable(format!(
                    "cannot filter the graph: vertex {v} has {degree} edges, and a filter takes at most {} per vertex",
                    u32::MAX
                )));
            }
            sum += degree.div_ceil(BLOCK_LEN) as u64;
            starts.push(sum);
        }
        let words = |value: u64| -> Vec<AtomicU64> {
            let fill = || (0..sum as usize).into_par_iter().with_min_len(1 << 14);
            run.install(|| fill().map(|_| AtomicU64::new(value)).collect())
        };
        let degrees = VertexArray::from_fn(run, n, |v| vertex(degree(v)));
        let counts = VertexArray::from_fn(run, n, |v| vertex((starts[v + 1] - starts[v]) as usize));
        let blocks = Self { starts, counts, degrees, bits: words(u64::MAX), headers: words(0) };
        each_vertex(run, n, |v| blocks.fill(v))?;
        Ok(blocks)
    }

    /// Sets the positions of the blocks of `v` and clears the bits past the end of its list.
    fn fill(&self, v: VertexId) {
        let (degree, first) = (self.degrees.get(v) as usize, self.starts[v as usize] as usize);
        for i in 1..degree.div_ceil(BLOCK_LEN) {
            self.headers[first + i].store(header(i as u64, (i * BLOCK_LEN) as u64), Relaxed);
        }
        if !degree.is_multiple_of(BLOCK_LEN) {
            self.bits[first + degree / BLOCK_LEN]
                .store(u64::MAX >> (BLOCK_LEN - degree % BLOCK_LEN), Relaxed);
        }
    }

    #[inline(always)]
    pub(super) fn degree(&self, v: VertexId) -> usize {
        self.degrees.get(v) as usize
    }

    /// The original first block of each vertex, for dividing work evenly.
    pub(super) fn starts(&self) -> &[u64] {
        &self.starts
    }

    fn range(&self, v: VertexId) -> std::ops::Range<usize> {
        let first = self.starts[v as usize] as usize;
        first..first + self.counts.get(v) as usize
    }

    /// The blocks of `v` with active edges, in order.
    #[inline(always)]
    pub(super) fn of(&self, v: VertexId) -> impl Iterator<Item = FilterBlock> + '_ {
        self.range(v).filter_map(|at| {
            let bits = self.bits[at].load(Relaxed);
            let first = (self.headers[at].load(Relaxed) as u32) as usize * BLOCK_LEN;
            (bits != 0).then_some(FilterBlock { bits, first })
        })
    }

    /// The list index of active edge number `index` (from 0) of `v`. Takes O(log(blocks of `v`)).
    pub(super) fn position(&self, v: VertexId, index: usize) -> Option<usize> {
        if index >= self.degree(v) {
            return None;
        }
        let blocks = self.range(v);
        let before = |at: usize| (self.headers[at].load(Relaxed) >> 32) as usize;
        // Among blocks with equal counts before them, all but the last are empty.
        let (mut low, mut high) = (blocks.start, blocks.end);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if before(middle) <= index { low = middle } else { high = middle }
        }
        let mut bits = self.bits[low].load(Relaxed);
        for _ in before(low)..index {
            bits &= bits - 1;
        }
        let first = (self.headers[low].load(Relaxed) as u32) as usize * BLOCK_LEN;
        Some(first + bits.trailing_zeros() as usize)
    }

    /// Removes the active edges of `v` for whose list index `keep` is false, and compacts the blocks if many
    /// are empty. Returns the number of edges removed.
    #[inline(always)]
    pub(super) fn retain(&self, v: VertexId, mut keep: impl FnMut(usize) -> bool) -> usize {
        let blocks = self.range(v);
        let (mut active, mut filled) = (0, 0);
        for at in blocks.clone() {
            let before = self.bits[at].load(Relaxed);
            let number = u64::from(self.headers[at].load(Relaxed) as u32);
            let (mut bits, mut rest) = (before, before);
            while rest != 0 {
                if !keep(number as usize * BLOCK_LEN + rest.trailing_zeros() as usize) {
                    bits &= !(rest & rest.wrapping_neg());
                }
                rest &= rest - 1;
            }
            if bits != before {
                self.bits[at].store(bits, Relaxed);
            }
            self.headers[at].store(header(number, active), Relaxed);
            active += u64::from(bits.count_ones());
            filled += usize::from(bits != 0);
        }
        let removed = self.degree(v) - active as usize;
        if removed > 0 {
            self.degrees.set(v, vertex(active as usize));
            if filled * EMPTY_SHARE < blocks.len() {
                self.compact(v);
            }
        }
        removed
    }

    /// Compacts the blocks of `v` that have active edges.
    fn compact(&self, v: VertexId) {
        let blocks = self.range(v);
        let mut next = blocks.start;
        for at in blocks.clone() {
            let bits = self.bits[at].load(Relaxed);
            if bits != 0 {
                self.bits[next].store(bits, Relaxed);
                self.headers[next].store(self.headers[at].load(Relaxed), Relaxed);
                next += 1;
            }
        }
        self.counts.set(v, vertex(next - blocks.start));
    }

    /// Blocks that `v` still has, empty ones included.
    #[cfg(test)]
    pub(super) fn len(&self, v: VertexId) -> usize {
        self.range(v).len()
    }
}

const fn header(number: u64, before: u64) -> u64 {
    before << 32 | number
}
