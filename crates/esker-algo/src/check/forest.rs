//! Checks a spanning forest.

use esker_graph::{Rows, VertexId, Weight, vertex};

use super::wrong::{Wrong, ensure};

/// Checks that `edges` are edges of the undirected graph `out`, form no cycle, and leave no two vertices apart between
/// which the graph has a path; and that `trees` is the number of trees that they form.
///
/// # Errors
/// The first breach.
pub fn forest<W: Weight>(
    out: &Rows<'_, W>,
    edges: &[(VertexId, VertexId)],
    trees: usize,
) -> Result<(), Wrong> {
    let n = out.num_vertices();
    let mut sets = Sets::new(n);
    for &(u, v) in edges {
        ensure((u.max(v) as usize) < n, || format!("an edge {u} - {v} among {n} vertices"))?;
        ensure(out.list(u).0.binary_search(&v).is_ok(), || format!("{u} - {v} is not an edge of the graph"))?;
        ensure(sets.unite(u, v), || format!("{u} - {v} closes a cycle"))?;
    }
    for u in (0..n).map(vertex) {
        for &v in out.list(u).0 {
            ensure(!sets.unite(u, v), || format!("the edge {u} - {v} connects two trees"))?;
        }
    }
    let left = n - edges.len();
    ensure(trees == left, || format!("there are {left} trees, not {trees}"))
}

/// Disjoint sets of vertices.
pub(super) struct Sets(Vec<usize>);

impl Sets {
    pub(super) fn new(n: usize) -> Self {
        Self((0..n).collect())
    }

    /// The vertex that stands for the set of `v`.
    pub(super) fn root(&mut self, v: VertexId) -> usize {
        let mut v = v as usize;
        while self.0[v] != v {
            self.0[v] = self.0[self.0[v]];
            v = self.0[v];
        }
        v
    }

    /// Unites the sets of `u` and `v`; whether they were apart.
    pub(super) fn unite(&mut self, u: VertexId, v: VertexId) -> bool {
        let (p, q) = (self.root(u), self.root(v));
        self.0[p.max(q)] = p.min(q);
        p != q
    }
}
