//! Verifies a maximal matching.

use esker_graph::{NONE, VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `mates` pairs neighbours of the undirected graph `out`, in `edges` pairs, and that no two
/// neighbours are both free.
///
/// # Errors
/// The first violated property.
pub fn matching<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    mates: &[VertexId],
    edges: usize,
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(mates.len() == n, || format!("{} mates for {n} vertices", mates.len()))?;
    for v in (0..n).map(vertex) {
        let (mate, list) = (mates[v as usize], out.list(v)?.0);
        if mate == NONE {
            let free = list.iter().find(|&&u| u != v && mates[u as usize] == NONE);
            if let Some(other) = free {
                return Err(Rejection::Wrong(format!("the neighbours {v} and {other} are both free")));
            }
            continue;
        }
        let neighbour = mate != v && list.binary_search(&mate).is_ok();
        out.ensure(neighbour, || format!("vertex {v} is matched with {mate}, which is not a neighbour"))?;
        let back = mates[mate as usize];
        out.ensure(back == v, || format!("vertex {v} is matched with {mate}, which is matched with {back}"))?;
    }
    let matched = mates.iter().filter(|&&mate| mate != NONE).count();
    out.ensure(matched == 2 * edges, || format!("{matched} vertices are matched by {edges} edges"))
}
