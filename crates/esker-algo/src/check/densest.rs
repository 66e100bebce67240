//! Checks an approximately densest subgraph.

use esker_graph::{Rows, Weight, vertex};

use super::wrong::{Wrong, ensure};

/// Checks that the `members` have `density` edges a vertex among them, and by the `levels` at which vertices went that no
/// part has more than `bound`.
///
/// Each vertex has no more than `bound` neighbours of its own level or a later one. The edges of any part lead from some of its
/// vertices to such neighbours, so there are no more than `bound` for each. Edges count both ways, loops not at all.
///
/// # Errors
/// The first breach.
pub fn densest<W: Weight>(
    out: &Rows<'_, W>,
    directed: bool,
    members: &[bool],
    density: f64,
    levels: &[u32],
    bound: f64,
) -> Result<(), Wrong> {
    let n = out.num_vertices();
    ensure(members.len() == n && levels.len() == n, || format!("{} marks for {n} vertices", members.len()))?;
    let (mut edges, mut later) = (0u64, vec![0u64; n]);
    for u in 0..n {
        for v in out.list(vertex(u)).0.iter().map(|&v| v as usize).filter(|&v| v != u) {
            edges += u64::from(members[u] && members[v]);
            later[u] += u64::from(levels[v] >= levels[u]);
            later[v] += u64::from(directed && levels[u] >= levels[v]);
        }
    }
    let size = members.iter().filter(|is| **is).count();
    let edges = edges as f64 / if directed { 1.0 } else { 2.0 };
    ensure((edges - density * size as f64).abs() <= 1e-9 * edges, || {
        format!("{edges} edges among {size} members are not {density} each")
    })?;
    let most = later.iter().max().copied().unwrap_or(0);
    ensure(most as f64 <= bound * (1.0 + 1e-9), || format!("{most} neighbours went later, more than {bound}"))
}
