//! Concurrent union-find without locks: trees in which every vertex points at itself or at a lower vertex of its set.
//!
//! Linking follows Afforest [1], after Shiloach and Vishkin: one compare-and-swap makes the higher of two roots point
//! at the lower. So the root of a set is always its least vertex, whatever the order of links.
//!
//! [1] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling",
//!     IPDPS 2018.

use esker_graph::{NONE, Run, Stop, VertexId, vertex};

use super::array::VertexArray;
use super::vertex_map::{each_vertex, vertex_count};

/// Disjoint sets of vertices. Memory: one id per vertex.
pub(crate) struct UnionFind(VertexArray);

impl UnionFind {
    /// Every vertex of `0..n` in its own set.
    pub(crate) fn new(run: &Run, n: usize) -> Self {
        Self(VertexArray::from_fn(run, n, vertex))
    }

    /// The parent of `v`: the root of its set after [`UnionFind::flatten`].
    #[inline(always)]
    pub(crate) fn above(&self, v: VertexId) -> VertexId {
        self.0.get(v)
    }

    /// Unites the sets of `u` and `v`. Returns whether this call did; the edges for which it did form a spanning
    /// forest.
    #[inline(always)]
    pub(crate) fn link(&self, u: VertexId, v: VertexId) -> bool {
        let (mut p, mut q) = (self.0.get(u), self.0.get(v));
        while p != q {
            let (high, low) = if p > q { (p, q) } else { (q, p) };
            let above = self.0.get(high);
            if above == low {
                return false;
            }
            if above == high && self.0.claim(high, high, low) {
                return true;
            }
            p = self.0.get(above);
            q = self.0.get(low);
        }
        false
    }

    /// Makes `v`, unless it is a root, point at its grandparent. This shortens later finds.
    #[inline(always)]
    pub(crate) fn shorten(&self, v: VertexId) {
        let above = self.0.get(v);
        // A root must stay unchanged: another thread may be about to link it.
        if above != v {
            self.0.set(v, self.0.get(above));
        }
    }

    /// Makes every vertex point at its root.
    pub(crate) fn flatten(&self, run: &Run) -> Result<(), Stop> {
        each_vertex(run, self.0.len(), |v| {
            let first = self.0.get(v);
            let mut root = first;
            loop {
                let above = self.0.get(root);
                if above == root {
                    break;
                }
                root = above;
            }
            if root != first {
                self.0.set(v, root);
            }
        })
    }

    /// The most frequent root among `count` evenly spaced vertices; [`NONE`] if there are no vertices.
    pub(crate) fn frequent_root(&self, count: usize) -> VertexId {
        frequent(self.0.len(), count, |v| self.0.get(v))
    }

    /// Number of sets.
    pub(crate) fn count(&self, run: &Run) -> Result<usize, Stop> {
        vertex_count(run, self.0.len(), |v| self.0.get(v) == v)
    }

    /// The parent of each vertex.
    pub(crate) fn into_vec(self) -> Vec<VertexId> {
        self.0.into_vec()
    }
}

/// The most frequent value among `count` evenly spaced vertices of `n`; [`NONE`] if there are no vertices.
pub(crate) fn frequent(n: usize, count: usize, value: impl Fn(VertexId) -> VertexId) -> VertexId {
    let mut values: Vec<_> = (0..count.min(n))
        .map(|i| value(vertex((i as u128 * n as u128 / count.min(n) as u128) as usize)))
        .collect();
    values.sort_unstable();
    let most = values.chunk_by(|a, b| a == b).max_by_key(|same| same.len());
    most.map_or(NONE, |same| same[0])
}
