//! Breadth-first searches from up to 64 sources together: a bit of a word tells which of them reached a
//! vertex, so a list that several searches need in one round is read once (M. Then et al., "The More the
//! Merrier: Efficient Multi-Source Graph Traversal", VLDB 2014).

use esker_graph::{Graph, Run, VertexId, Weight};

use super::array::VertexValues;
use super::edge_map::{EdgeOp, edge_map};
use super::frontier::Frontier;
use super::vertex_map::{each_vertex, vertex_map};

/// Searches that share a word.
pub(crate) const SEARCHES_MAX: usize = u64::BITS as usize;

/// Which searches of a batch reached which vertices.
pub(crate) struct ManySearches {
    /// The searches of the batch.
    all: u64,
    /// The searches that reached a vertex in an earlier round or before this one.
    seen: VertexValues<u64>,
    /// The searches that reached a vertex in the last round; zero outside the frontier.
    current: VertexValues<u64>,
    /// The searches that reach a vertex in this round; zero between rounds.
    next: VertexValues<u64>,
}

impl ManySearches {
    pub(crate) fn new(run: &Run, n: usize) -> Self {
        let zeros = || VertexValues::filled(run, n, 0);
        Self { all: 0, seen: zeros(), current: zeros(), next: zeros() }
    }

    /// The most bytes of searches among `num_vertices` vertices, with their frontiers.
    pub(crate) fn bytes(num_vertices: u64) -> u64 {
        let id_bytes = size_of::<VertexId>() as u64;
        // Growing lists may have capacity for twice their length.
        num_vertices * (24 + 4 * id_bytes) + num_vertices.div_ceil(64) * 8 * 3
    }

    /// Searches from `starts`, pairs of a vertex and the number of a search below 64; a search may begin at
    /// several vertices. Calls `reach` once for each vertex and distance above 0 with the searches that first
    /// reach the vertex at that distance. Distances ascend.
    ///
    /// # Errors
    /// The first list that cannot be read; cancellation.
    pub(crate) fn search<G: Graph>(
        &mut self,
        graph: &G,
        run: &Run,
        starts: &[(VertexId, usize)],
        reach: impl Fn(VertexId, u64, u64) + Sync,
    ) -> Result<(), G::Error> {
        each_vertex(run, self.seen.len(), |v| self.seen.set(v, 0))?;
        self.all = starts.iter().fold(0, |all, &(_, number)| all | 1 << number);
        for &(v, number) in starts {
            self.seen.unite(v, 1 << number);
            self.current.unite(v, 1 << number);
        }
        let mut list: Vec<_> = starts.iter().map(|start| start.0).collect();
        list.sort_unstable();
        list.dedup();
        let mut level = Frontier::from_list(graph, list);
        let mut distance = 0;
        while !level.is_empty() {
            run.round(level.len())?;
            distance += 1;
            let next = edge_map(graph, run, &level, &*self)?;
            vertex_map(run, &level, |v| self.current.set(v, 0))?;
            vertex_map(run, &next, |v| {
                let bits = self.next.get(v);
                self.next.set(v, 0);
                self.current.set(v, bits);
                self.seen.set(v, self.seen.get(v) | bits);
                reach(v, bits, distance);
            })?;
            level = next;
        }
        Ok(())
    }

    /// The searches that come along an edge and have not been at its target.
    #[inline(always)]
    fn arriving(&self, src: VertexId, dst: VertexId) -> u64 {
        self.current.get(src) & !self.seen.get(dst)
    }
}

impl<W: Weight> EdgeOp<W> for ManySearches {
    const BOXED: bool = true;

    #[inline(always)]
    fn wants(&self, dst: VertexId) -> bool {
        self.seen.get(dst) | self.next.get(dst) != self.all
    }

    #[inline(always)]
    fn push(&self, src: VertexId, dst: VertexId, _: W) -> bool {
        let bits = self.arriving(src, dst);
        bits != 0 && self.next.unite(dst, bits) == 0
    }

    #[inline(always)]
    fn push_alone(&self, src: VertexId, dst: VertexId, _: W) -> bool {
        let (bits, before) = (self.arriving(src, dst), self.next.get(dst));
        self.next.set(dst, before | bits);
        bits != 0 && before == 0
    }

    #[inline(always)]
    fn pull(&self, dst: VertexId, src: VertexId, _: W) -> bool {
        let bits = self.arriving(src, dst);
        self.next.set(dst, self.next.get(dst) | bits);
        bits != 0
    }
}
