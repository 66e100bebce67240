//! A graph for tests: the same lists, in the most awkward pieces that the waist allows.

use crate::csr::CsrGraph;
use crate::graph::{Direction, Graph, Lists, Piece, Select, Visitor, Weight};
use crate::id::{VertexId, vertex};
use crate::run::{Run, Stop};

/// Hands out the lists of a [`CsrGraph`] in pieces of one to three neighbours, those of all vertices shuffled
/// together, never exclusive, from all threads of the run, and sends every piece although enough was had.
///
/// Every algorithm must give on it the answer that it gives on the graph inside.
#[derive(Debug, Clone, Copy)]
pub struct Fragmented<'a, W> {
    inner: CsrGraph<'a, W>,
    seed: u64,
}

impl<'a, W: Weight> Fragmented<'a, W> {
    /// Wraps a graph. Cuts and order follow from `seed`.
    pub fn new(inner: CsrGraph<'a, W>, seed: u64) -> Self {
        Self { inner, seed }
    }

    /// All pieces of the selected lists, as (vertex, first entry, end), shuffled.
    fn pieces(&self, direction: Direction, select: Select<'_>) -> Vec<(VertexId, usize, usize)> {
        let mut random = self.seed;
        let mut pieces = Vec::new();
        let mut cut = |v: VertexId| {
            let degree = self.inner.degree(direction, v);
            let mut first = 0;
            while first < degree {
                let end = (first + 1 + next_random(&mut random) as usize % 3).min(degree);
                pieces.push((v, first, end));
                first = end;
            }
        };
        match select {
            Select::All => (0..self.num_vertices()).for_each(|v| cut(vertex(v))),
            Select::List(list) => list.iter().for_each(|&v| cut(v)),
            Select::Bits(bits) => bits.iter().for_each(cut),
        }
        for i in (1..pieces.len()).rev() {
            pieces.swap(i, next_random(&mut random) as usize % (i + 1));
        }
        pieces
    }
}

impl<W: Weight> Graph for Fragmented<'_, W> {
    type Weight = W;
    type Error = Stop;

    fn num_vertices(&self) -> usize {
        self.inner.num_vertices()
    }

    fn num_arcs(&self) -> u64 {
        self.inner.num_arcs()
    }

    fn is_directed(&self) -> bool {
        self.inner.is_directed()
    }

    fn has(&self, direction: Direction) -> bool {
        self.inner.has(direction)
    }

    fn degree(&self, direction: Direction, v: VertexId) -> usize {
        self.inner.degree(direction, v)
    }

    fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>, Stop> {
        let Some(rows) = self.inner.rows(direction) else {
            return Err(Stop::Unsuitable("the graph is stored without its in-edges".to_owned()));
        };
        let pieces = self.pieces(direction, select);
        run.share(
            pieces.len(),
            || visitor.new_state(),
            |state, i| {
                let (v, first, end) = pieces[i];
                if visitor.wants(v) {
                    let (targets, weights) = rows.list(v);
                    let (targets, weights) = (&targets[first..end], &weights[first..end]);
                    visitor.visit(state, v, Piece { targets, weights, exclusive: false });
                }
                Ok(())
            },
        )
    }
}

/// Whole lists are those of the graph inside.
impl<W: Weight> Lists for Fragmented<'_, W> {
    fn with_list<R>(
        &self,
        direction: Direction,
        v: VertexId,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R, Stop> {
        self.inner.with_list(direction, v, f)
    }
}

/// The next number of a SplitMix64 sequence (S. Vigna).
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
