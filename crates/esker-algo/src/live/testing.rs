//! A graph that changes at random, for the oracles of live answers: recomputation at every version.

use esker_graph::random::Random;
use esker_graph::{Csr, VertexId, Weight, vertex};

use super::graph::ChangedEdges;

/// A multigraph with self-loops, of which edges come and go, and whose vertices grow in number.
pub(super) struct EdgeChurn<W> {
    pub(super) num_vertices: usize,
    pub(super) directed: bool,
    edges: Vec<(VertexId, VertexId, W)>,
    random: Random,
    weight: fn(u64) -> W,
}

impl<W: Weight> EdgeChurn<W> {
    /// About two edges a vertex.
    pub(super) fn new(seed: u64, num_vertices: usize, directed: bool, weight: fn(u64) -> W) -> Self {
        let mut stream =
            Self { num_vertices, directed, edges: Vec::new(), random: Random::new(seed), weight };
        for _ in 0..num_vertices {
            stream.edge();
        }
        stream
    }

    /// Adds edges.
    pub(super) fn grow(&mut self, count: usize) {
        for _ in 0..count {
            self.edge();
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.index(bound)
    }

    fn edge(&mut self) -> (VertexId, VertexId, W) {
        // Small ends are likelier, so that some vertices have many edges.
        let n = self.num_vertices;
        let (a, b, other) = (self.below(n), self.below(n), self.below(n));
        let weight = (self.weight)(self.below(1 << 20) as u64);
        self.edges.push((vertex(a.min(other)), vertex(b), weight));
        self.edges[self.edges.len() - 1]
    }

    /// The next version: about half of the changes are removals.
    pub(super) fn step(&mut self, count: usize) -> ChangedEdges<W> {
        let mut changes = ChangedEdges::default();
        if self.below(4) == 0 {
            let first = self.num_vertices;
            self.num_vertices += 1 + self.below(2);
            changes.came = (first..self.num_vertices).map(vertex).collect();
        }
        for _ in 0..count {
            if self.below(2) == 0 && !self.edges.is_empty() {
                let index = self.below(self.edges.len());
                changes.removed.push(self.edges.swap_remove(index));
            }
        }
        for _ in 0..count {
            if self.below(2) == 0 {
                let added = self.edge();
                changes.added.push(added);
            }
        }
        changes
    }

    /// The newest version, with in-lists.
    pub(super) fn graph(&self) -> Csr<W> {
        let build = if self.directed { Csr::directed } else { Csr::undirected };
        build(self.num_vertices, &self.edges).unwrap()
    }
}
