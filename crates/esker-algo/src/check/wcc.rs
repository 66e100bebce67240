//! Verifies weakly connected components.

use esker_graph::{Rows, VertexId, Weight, vertex};

use super::forest::DisjointSets;
use super::wrong::{Wrong, ensure};

/// Checks that `labels` gives each vertex the least vertex connected to it by edges of `out` in either direction.
///
/// # Errors
/// The first violated property.
pub fn wcc<W: Weight>(out: &Rows<'_, W>, labels: &[VertexId]) -> Result<(), Wrong> {
    let n = out.num_vertices();
    ensure(labels.len() == n, || format!("{} labels for {n} vertices", labels.len()))?;
    let mut sets = DisjointSets::new(n);
    for u in (0..n).map(vertex) {
        out.list(u).0.iter().for_each(|&v| {
            sets.unite(u, v);
        });
    }
    for (v, &label) in labels.iter().enumerate() {
        let least = sets.root(vertex(v));
        ensure(label as usize == least, || format!("vertex {v} is labelled {label} but should be {least}"))?;
    }
    Ok(())
}
