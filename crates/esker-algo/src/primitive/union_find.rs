//! Concurrent union-find without locks: trees in which every vertex points at itself or at a lower vertex of
//! its set.
//!
//! Linking follows Afforest [1], after Shiloach and Vishkin: one compare-and-swap makes the higher of two
//! roots point at the lower. So the root of a set is always its least vertex, whatever the order of links.
//!
//! [1] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph
//!     Sampling", IPDPS 2018.

use esker_graph::{NONE, Run, Stop, VertexId, vertex};

use super::array::VertexArray;
use super::vertex_map::vertex_count;

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

    /// Unites the sets of `u` and `v`. Returns whether this call did; the edges for which it did form a
    /// spanning forest.
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

    /// Unites the sets of `v`, whose parent is `above`, and `other`, without a locked instruction. If two
    /// threads link one root at the same moment, one of the two links is lost, so only edges that are linked
    /// again later may be linked in this way. Returns the parent of `v`.
    #[inline(always)]
    pub(crate) fn lean(&self, v: VertexId, above: VertexId, other: VertexId) -> VertexId {
        let low = self.0.get(other);
        if low == above {
            return above;
        }
        if above == v && low < v {
            // Point one step further up, which shortens later walks to the root.
            let lower = self.0.get(low);
            self.0.set(v, lower);
            return lower;
        }
        self.lean_roots(above, low);
        self.shorten(v);
        self.0.get(v)
    }

    /// Makes the higher of the roots above `p` and `q` point at a lower vertex of the other set, as
    /// [`UnionFind::lean`] does.
    fn lean_roots(&self, mut p: VertexId, mut q: VertexId) {
        while p != q {
            let (high, low) = if p > q { (p, q) } else { (q, p) };
            let above = self.0.get(high);
            if above == high {
                self.0.set(high, low);
            }
            if above == high || above == low {
                return;
            }
            p = self.0.get(above);
            q = self.0.get(low);
        }
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

    /// The root of the set of `v`.
    #[inline(always)]
    pub(crate) fn root(&self, v: VertexId) -> VertexId {
        let mut root = v;
        loop {
            let above = self.0.get(root);
            if above == root {
                return root;
            }
            root = above;
        }
    }

    /// Makes `v` point at its root, or at `end` if that is on the way; returns which.
    #[inline(always)]
    pub(crate) fn settle(&self, v: VertexId, end: VertexId) -> VertexId {
        let first = self.0.get(v);
        let mut at = first;
        while at != end {
            let above = self.0.get(at);
            if above == at {
                break;
            }
            at = above;
        }
        if at != first {
            self.0.set(v, at);
        }
        at
    }

    /// Makes every vertex point at its root; returns the number of roots.
    pub(crate) fn flatten(&self, run: &Run) -> Result<usize, Stop> {
        vertex_count(run, self.0.len(), |v| self.settle(v, NONE) == v)
    }

    /// The most frequent root among `count` evenly spaced vertices; [`NONE`] if there are no vertices.
    pub(crate) fn frequent_root(&self, count: usize) -> VertexId {
        frequent(self.0.len(), count, |v| self.root(v))
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
