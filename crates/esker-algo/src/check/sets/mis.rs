//! Verifies a maximal independent set.

use esker_graph::{Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that no edge joins two members, and that every other vertex has a member as a neighbour, in either
/// direction. Self-loops do not count.
///
/// # Errors
/// The first violated property.
pub fn mis<'a, W: Weight>(out: impl Into<WatchedRows<'a, W>>, members: &[bool]) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(members.len() == n, || format!("{} marks for {n} vertices", members.len()))?;
    let mut covered = members.to_vec();
    for u in 0..n {
        for v in out.list(vertex(u))?.0.iter().map(|&v| v as usize).filter(|&v| v != u) {
            out.ensure(!(members[u] && members[v]), || format!("the members {u} and {v} are neighbours"))?;
            covered[u] |= members[v];
            covered[v] |= members[u];
        }
    }
    match covered.iter().position(|covered| !covered) {
        Some(v) => Err(Rejection::Wrong(format!("vertex {v} could be added"))),
        None => Ok(()),
    }
}
