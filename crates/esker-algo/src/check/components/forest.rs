//! Verifies a spanning forest.

use esker_graph::{VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `edges` are edges of the undirected graph `out`, form no cycle, and connect all vertices that
/// the graph connects; and that `trees` is the number of trees they form.
///
/// # Errors
/// The first violated property.
pub fn forest<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    edges: &[(VertexId, VertexId)],
    trees: usize,
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    let mut sets = DisjointSets::new(n);
    for &(u, v) in edges {
        out.ensure((u.max(v) as usize) < n, || {
            format!("edge {u} - {v} has an end that is not one of {n} vertices")
        })?;
        let is_edge = out.list(u)?.0.binary_search(&v).is_ok();
        out.ensure(is_edge, || format!("{u} - {v} is not an edge of the graph"))?;
        out.ensure(sets.unite(u, v), || format!("edge {u} - {v} closes a cycle"))?;
    }
    for u in (0..n).map(vertex) {
        for &v in out.list(u)?.0 {
            out.ensure(!sets.unite(u, v), || format!("edge {u} - {v} of the graph connects two trees"))?;
        }
    }
    let left = n - edges.len();
    out.ensure(trees == left, || format!("there are {left} trees, not {trees}"))
}

/// Disjoint sets of vertices.
pub(crate) struct DisjointSets(Vec<usize>);

impl DisjointSets {
    pub(crate) fn new(n: usize) -> Self {
        Self((0..n).collect())
    }

    /// The representative of the set of `v`.
    pub(crate) fn root(&mut self, v: VertexId) -> usize {
        let mut v = v as usize;
        while self.0[v] != v {
            self.0[v] = self.0[self.0[v]];
            v = self.0[v];
        }
        v
    }

    /// Unites the sets of `u` and `v`. Returns whether they were disjoint.
    pub(crate) fn unite(&mut self, u: VertexId, v: VertexId) -> bool {
        let (p, q) = (self.root(u), self.root(v));
        self.0[p.max(q)] = p.min(q);
        p != q
    }
}
