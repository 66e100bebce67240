//! Verifies eccentricities.

use esker_graph::{VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that each vertex has as its eccentricity the steps to the farthest vertex that it reaches, and that
/// the greatest and the least are the diameter and the radius. Searches serially from each vertex.
///
/// # Errors
/// The first violated property.
pub fn eccentricity<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    eccentricities: &[VertexId],
    diameter: u64,
    radius: u64,
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(eccentricities.len() == n, || {
        format!("{} eccentricities for {n} vertices", eccentricities.len())
    })?;
    // The last source from which each vertex was reached.
    let mut reached_from = vec![n; n];
    for (source, &told) in eccentricities.iter().enumerate() {
        let (mut level, mut steps) = (vec![source], 0);
        reached_from[source] = source;
        loop {
            let mut next = Vec::new();
            for &u in &level {
                for &v in out.list(vertex(u))?.0 {
                    if reached_from[v as usize] != source {
                        reached_from[v as usize] = source;
                        next.push(v as usize);
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            (level, steps) = (next, steps + 1);
        }
        out.ensure(told == steps, || format!("vertex {source} has eccentricity {told}, not {steps}"))?;
    }
    let ends = eccentricities.iter().map(|&steps| u64::from(steps));
    let (greatest, least) = (ends.clone().max().unwrap_or(0), ends.min().unwrap_or(0));
    out.ensure(diameter == greatest, || format!("the diameter is {greatest}, not {diameter}"))?;
    out.ensure(radius == least, || format!("the radius is {least}, not {radius}"))
}
