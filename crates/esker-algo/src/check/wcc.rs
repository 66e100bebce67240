//! Checks weakly connected components.

use esker_graph::{Rows, VertexId, Weight, vertex};

use super::wrong::{Wrong, ensure};

/// Checks that `labels` gives each vertex the smallest vertex that is connected with it when edges of `out` are
/// followed both ways.
///
/// # Errors
/// The first breach.
pub fn wcc<W: Weight>(out: &Rows<'_, W>, labels: &[VertexId]) -> Result<(), Wrong> {
    let n = out.num_vertices();
    ensure(labels.len() == n, || format!("{} labels for {n} vertices", labels.len()))?;
    let mut above: Vec<usize> = (0..n).collect();
    for u in 0..n {
        for &v in out.list(vertex(u)).0 {
            let (p, q) = (root(&mut above, u), root(&mut above, v as usize));
            above[p.max(q)] = p.min(q);
        }
    }
    for (v, &label) in labels.iter().enumerate() {
        let least = root(&mut above, v);
        ensure(label as usize == least, || format!("{v} is labelled {label} but its component has {least}"))?;
    }
    Ok(())
}

/// The vertex above `v` that points at itself; shortens the way to it.
fn root(above: &mut [usize], mut v: usize) -> usize {
    while above[v] != v {
        above[v] = above[above[v]];
        v = above[v];
    }
    v
}
