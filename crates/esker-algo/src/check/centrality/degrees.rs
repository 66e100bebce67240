//! Verifies degrees.

use esker_graph::{Direction, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `degrees` are the lengths of the lists of some directions together. Counts the entries of all
/// out-lists, at their sources, at their targets, or at both.
///
/// # Errors
/// The first violated property.
pub fn degrees<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    directions: &[Direction],
    degrees: &[u64],
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(degrees.len() == n, || format!("{} degrees for {n} vertices", degrees.len()))?;
    let mut counts = vec![0u64; n];
    for u in 0..n {
        for &v in out.list(vertex(u))?.0 {
            counts[u] += u64::from(directions.contains(&Direction::Out));
            counts[v as usize] += u64::from(directions.contains(&Direction::In));
        }
    }
    for (v, (&degree, &count)) in degrees.iter().zip(&counts).enumerate() {
        out.ensure(degree == count, || format!("vertex {v} has {count} edges, but its degree is {degree}"))?;
    }
    Ok(())
}
