//! A graph for tests: the same lists, in the most awkward pieces that the waist allows.

use crate::csr::CsrGraph;
use crate::graph::{Direction, Graph, Lists, Piece, Select, Visitor, Weight};
use crate::id::{VertexId, vertex};
use crate::random::Random;
use crate::run::Run;
use crate::stop::Stop;

/// Vertices that are entered together.
const RANGE_LEN: usize = 64;

/// Hands out the lists of a [`CsrGraph`] in pieces of one to three neighbours, those of all vertices shuffled
/// together, never exclusive, from all threads of the run, and sends every piece although enough was had.
/// With an odd seed, scans of all vertices or of a set shuffle the pieces of 64 vertices at a time, which one
/// thread enters, is handed exclusively, and leaves.
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

    /// All pieces of the selected lists, as (vertex, first entry, end), shuffled, in groups that are handed
    /// over together.
    fn pieces(&self, direction: Direction, select: Select<'_>) -> Vec<Vec<(VertexId, usize, usize)>> {
        let mut random = Random::new(self.seed);
        let mut pieces = Vec::new();
        let mut cut = |v: VertexId| {
            let degree = self.inner.degree(direction, v);
            let mut first = 0;
            while first < degree {
                let end = (first + 1 + random.index(3)).min(degree);
                pieces.push((v, first, end));
                first = end;
            }
        };
        match select {
            Select::All => (0..self.num_vertices()).for_each(|v| cut(vertex(v))),
            Select::List(list) => list.iter().for_each(|&v| cut(v)),
            Select::Bits(bits) => bits.iter().for_each(cut),
        }
        random.shuffle(&mut pieces);
        if !self.is_ranged(select) {
            return pieces.into_iter().map(|piece| vec![piece]).collect();
        }
        let mut groups = vec![Vec::new(); self.num_vertices().div_ceil(RANGE_LEN)];
        pieces.into_iter().for_each(|piece| groups[piece.0 as usize / RANGE_LEN].push(piece));
        groups
    }

    /// Whether pieces come by ranges of vertices, each range to one worker.
    fn is_ranged(&self, select: Select<'_>) -> bool {
        self.seed % 2 == 1 && !matches!(select, Select::List(_))
    }
}

impl<W: Weight> Graph for Fragmented<'_, W> {
    type Weight = W;
    type Error = Stop;

    fn num_vertices(&self) -> usize {
        self.inner.num_vertices()
    }

    fn is_at_hand(&self) -> bool {
        true
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
            return Err(Stop::unsuitable("the graph is stored without its in-edges".to_owned()));
        };
        let groups = self.pieces(direction, select);
        let ranged = self.is_ranged(select);
        run.share(
            groups.len(),
            || visitor.new_state(),
            |state, group| {
                for &(v, first, end) in groups[group].iter().filter(|(v, ..)| visitor.wants(*v)) {
                    let (targets, weights) = rows.list(v);
                    let (targets, weights) = (&targets[first..end], &weights[first..end]);
                    visitor.visit(state, v, Piece { targets, weights, exclusive: ranged });
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
