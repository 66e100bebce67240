//! Verifies betweenness centrality.

use esker_graph::{Rows, VertexId, Weight, vertex};

use super::wrong::{Wrong, ensure};

/// Checks that `scores` are `factor` times the dependencies of `sources` on each vertex, up to a relative error of
/// `tolerance`. Recomputes the dependency of s on v for each source s: the sum over t of the fraction of shortest s-t
/// paths that pass through v.
///
/// # Errors
/// The first violated property.
pub fn betweenness<W: Weight>(
    out: &Rows<'_, W>,
    sources: &[VertexId],
    factor: f64,
    scores: &[f64],
    tolerance: f64,
) -> Result<(), Wrong> {
    let n = out.num_vertices();
    ensure(scores.len() == n, || format!("{} scores for {n} vertices", scores.len()))?;
    let mut totals = vec![0.0; n];
    for &source in sources {
        ensure((source as usize) < n, || format!("source {source} is not one of {n} vertices"))?;
        add_dependencies(out, source as usize, &mut totals);
    }
    for (v, (&score, total)) in scores.iter().zip(totals).enumerate() {
        let wanted = total * factor;
        let close = (score - wanted).abs() <= tolerance * wanted.abs().max(f64::MIN_POSITIVE);
        ensure(close, || format!("vertex {v} has score {score} but should have {wanted}"))?;
    }
    Ok(())
}

/// Adds the dependency of `source` on each vertex to `totals`, as in Brandes' paper.
fn add_dependencies<W: Weight>(out: &Rows<'_, W>, source: usize, totals: &mut [f64]) {
    let n = totals.len();
    let (mut depth, mut paths) = (vec![usize::MAX; n], vec![0.0; n]);
    (depth[source], paths[source]) = (0, 1.0);
    let mut order = vec![source];
    let mut next = 0;
    while next < order.len() {
        let u = order[next];
        next += 1;
        for &v in out.list(vertex(u)).0 {
            let v = v as usize;
            if depth[v] == usize::MAX {
                depth[v] = depth[u] + 1;
                order.push(v);
            }
            if depth[v] == depth[u] + 1 {
                paths[v] += paths[u];
            }
        }
    }
    let mut dependency = vec![0.0; n];
    for &u in order[1..].iter().rev() {
        for &v in out.list(vertex(u)).0 {
            let v = v as usize;
            if depth[v] == depth[u] + 1 {
                dependency[u] += paths[u] / paths[v] * (1.0 + dependency[v]);
            }
        }
        totals[u] += dependency[u];
    }
}
