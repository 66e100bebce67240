//! Verifies a colouring.

use esker_graph::{VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that no edge other than a self-loop joins two vertices of one colour, and that no vertex could take
/// a lesser colour: it has a neighbour of each. First-fit ensures that in any order of the vertices.
///
/// # Errors
/// The first violated property.
pub fn colouring<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    directed: bool,
    colours: &[VertexId],
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(colours.len() == n, || format!("{} colours for {n} vertices", colours.len()))?;
    let mut lesser = vec![Vec::new(); n];
    for u in 0..n {
        for v in out.list(vertex(u))?.0.iter().map(|&v| v as usize).filter(|&v| v != u) {
            out.ensure(colours[u] != colours[v], || {
                format!("the neighbours {u} and {v} both have colour {}", colours[u])
            })?;
            let ends = if directed { &[(u, v), (v, u)][..] } else { &[(u, v)] };
            for &(a, b) in ends {
                if colours[b] < colours[a] {
                    lesser[a].push(colours[b]);
                }
            }
        }
    }
    for (v, seen) in lesser.iter_mut().enumerate() {
        seen.sort_unstable();
        seen.dedup();
        out.ensure(seen.len() as u64 == u64::from(colours[v]), || {
            format!(
                "vertex {v} has colour {} but neighbours of only {} lesser colours",
                colours[v],
                seen.len()
            )
        })?;
    }
    Ok(())
}
