//! Verifies reciprocity.

use std::collections::BTreeSet;

use esker_graph::{VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks the share of mutual neighbours of each vertex, and that of all arcs, by the set of all arcs.
///
/// # Errors
/// The first violated property.
pub fn reciprocity<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    shares: &[f64],
    overall: f64,
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(shares.len() == n, || format!("{} shares for {n} vertices", shares.len()))?;
    let mut arcs: BTreeSet<(VertexId, VertexId)> = BTreeSet::new();
    for u in (0..n).map(vertex) {
        arcs.extend(out.list(u)?.0.iter().filter(|&&v| v != u).map(|&v| (u, v)));
    }
    let (mut ends, mut mutual) = (vec![0_u64; n], vec![0_u64; n]);
    for &(u, v) in &arcs {
        let both = u64::from(arcs.contains(&(v, u)));
        for end in [u, v] {
            ends[end as usize] += 1;
            mutual[end as usize] += both;
        }
    }
    for (v, &share) in shares.iter().enumerate() {
        let expected = if ends[v] == 0 { f64::NAN } else { mutual[v] as f64 / ends[v] as f64 };
        let is_same = share.is_nan() && expected.is_nan() || (share - expected).abs() <= 1e-12;
        out.ensure(is_same, || format!("the reciprocity of vertex {v} is {share}, not {expected}"))?;
    }
    // Each arc has two ends.
    let expected = mutual.iter().sum::<u64>() as f64 / 2.0 / arcs.len().max(1) as f64;
    out.ensure((overall - expected).abs() <= 1e-12, || {
        format!("the reciprocity of the graph is {overall}, not {expected}")
    })
}
