//! Verifies closeness centrality.

use esker_graph::{VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `scores` are the closeness of each vertex to `sources`, up to rounding. If r of the s sources
/// other than the vertex reach it, at a mean distance of d, its closeness is r / (s d). Searches serially
/// from each source.
///
/// # Errors
/// The first violated property.
pub fn closeness<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    sources: &[VertexId],
    scores: &[f64],
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(scores.len() == n, || format!("{} scores for {n} vertices", scores.len()))?;
    let (mut others, mut reached, mut total) = (vec![0u64; n], vec![0u64; n], vec![0u64; n]);
    for &source in sources {
        out.ensure((source as usize) < n, || format!("source {source} is not one of {n} vertices"))?;
        for (v, depth) in depths(out, source as usize)?.into_iter().enumerate() {
            others[v] += u64::from(v != source as usize);
            if let Some(depth) = depth.filter(|&depth| depth > 0) {
                reached[v] += 1;
                total[v] += depth;
            }
        }
    }
    for (v, &score) in scores.iter().enumerate() {
        let mean = total[v] as f64 / reached[v] as f64;
        let wanted = if reached[v] == 0 { 0.0 } else { reached[v] as f64 / others[v] as f64 / mean };
        let close = (score - wanted).abs() <= 1e-12 * wanted;
        out.ensure(close, || format!("vertex {v} has score {score} but should have {wanted}"))?;
    }
    Ok(())
}

/// The steps from `source` to each vertex.
fn depths<W: Weight>(out: WatchedRows<'_, W>, source: usize) -> Result<Vec<Option<u64>>, Rejection> {
    let mut depths = vec![None; out.num_vertices()];
    depths[source] = Some(0);
    let mut level = vec![source];
    for depth in 1.. {
        let mut next = Vec::new();
        for &u in &level {
            for &v in out.list(vertex(u))?.0 {
                if depths[v as usize].is_none() {
                    depths[v as usize] = Some(depth);
                    next.push(v as usize);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    Ok(depths)
}
