//! Verifies a maximum matching of a bipartite graph.

use esker_graph::{NONE, VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// What is claimed of a matching.
#[derive(Debug, Clone, Copy)]
pub struct BipartiteClaim<'a> {
    /// The matched neighbour of each vertex; [`NONE`] if it is free.
    pub mates: &'a [VertexId],
    /// Number of edges.
    pub edges: usize,
    /// Whether each vertex is on the right side.
    pub right: &'a [bool],
    /// A vertex cover with as many vertices.
    pub cover: &'a [bool],
}

/// Checks that mates are neighbours of each other in the undirected graph `out`, in `edges` pairs, that every
/// edge joins the two sides, and that the cover has an end of each edge. It has as many vertices as there are
/// pairs: by König, no matching is larger, since each of its edges needs a vertex of the cover of its own.
///
/// # Errors
/// The first violated property.
pub fn hopcroft_karp<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    claim: &BipartiteClaim<'_>,
) -> Result<(), Rejection> {
    let out = out.into();
    let (n, BipartiteClaim { mates, edges, right, cover }) = (out.num_vertices(), *claim);
    let lengths = [mates.len(), right.len(), cover.len()];
    out.ensure(lengths == [n; 3], || format!("columns of {lengths:?} values for {n} vertices"))?;
    for v in (0..n).map(vertex) {
        let (mate, list) = (mates[v as usize], out.list(v)?.0);
        for &u in list {
            let (is_crossing, is_covered) =
                (right[u as usize] != right[v as usize], cover[u as usize] || cover[v as usize]);
            out.ensure(is_crossing, || format!("the neighbours {v} and {u} are on the same side"))?;
            out.ensure(is_covered, || format!("the cover has no end of the edge between {v} and {u}"))?;
        }
        if mate == NONE {
            continue;
        }
        let is_neighbour = list.binary_search(&mate).is_ok();
        out.ensure(is_neighbour, || format!("vertex {v} is matched with {mate}, which is not a neighbour"))?;
        let back = mates[mate as usize];
        out.ensure(back == v, || format!("vertex {v} is matched with {mate}, which is matched with {back}"))?;
    }
    let matched = mates.iter().filter(|&&mate| mate != NONE).count();
    out.ensure(matched == 2 * edges, || format!("{matched} vertices are matched by {edges} edges"))?;
    let covering = cover.iter().filter(|&&covers| covers).count();
    out.ensure(covering == edges, || format!("{covering} vertices cover all edges, but {edges} are matched"))
}
