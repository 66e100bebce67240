//! Verifies an approximate densest subgraph.

use esker_graph::{Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that the `members` have `density` edges per vertex among them, and, from the `levels` at which
/// vertices were removed, that no subgraph has more than `bound`.
///
/// Each vertex has at most `bound` neighbours at its own or a later level. Every edge of a subgraph leads
/// from one of its vertices to such a neighbour, so there are at most `bound` edges per vertex. Edges count
/// in both directions; self-loops do not count.
///
/// # Errors
/// The first violated property.
pub fn densest<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    directed: bool,
    members: &[bool],
    density: f64,
    levels: &[u32],
    bound: f64,
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(members.len() == n && levels.len() == n, || {
        format!("{} marks for {n} vertices", members.len())
    })?;
    let (mut edges, mut later) = (0u64, vec![0u64; n]);
    for u in 0..n {
        for v in out.list(vertex(u))?.0.iter().map(|&v| v as usize).filter(|&v| v != u) {
            edges += u64::from(members[u] && members[v]);
            later[u] += u64::from(levels[v] >= levels[u]);
            later[v] += u64::from(directed && levels[u] >= levels[v]);
        }
    }
    let size = members.iter().filter(|is| **is).count();
    let edges = edges as f64 / if directed { 1.0 } else { 2.0 };
    out.ensure((edges - density * size as f64).abs() <= 1e-9 * edges, || {
        format!("{edges} edges among {size} members are not a density of {density}")
    })?;
    let most = later.iter().max().copied().unwrap_or(0);
    out.ensure(most as f64 <= bound * (1.0 + 1e-9), || {
        format!("a vertex has {most} later neighbours, more than {bound}")
    })
}
