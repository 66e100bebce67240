//! Verifies weakly connected components.

use esker_graph::{VertexId, Weight, vertex};

use crate::check::components::forest::DisjointSets;
use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `labels` gives each vertex the least vertex connected to it by edges of `out` in either
/// direction.
///
/// # Errors
/// The first violated property.
pub fn wcc<'a, W: Weight>(out: impl Into<WatchedRows<'a, W>>, labels: &[VertexId]) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(labels.len() == n, || format!("{} labels for {n} vertices", labels.len()))?;
    let mut sets = DisjointSets::new(n);
    for u in (0..n).map(vertex) {
        for &v in out.list(u)?.0 {
            sets.unite(u, v);
        }
    }
    for (v, &label) in labels.iter().enumerate() {
        let least = sets.root(vertex(v));
        out.ensure(label as usize == least, || {
            format!("vertex {v} is labelled {label} but should be {least}")
        })?;
    }
    Ok(())
}
