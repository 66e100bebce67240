//! Verifies closeness and harmonic centrality.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use esker_graph::{VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};
use crate::primitive::Ranked;

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
    verify(out, sources, false, 1.0, scores, |source| depths(out, source))
}

/// As [`closeness`], or the sum of inverse distances, times `factor`, by steps.
///
/// # Errors
/// The first violated property.
pub fn closeness_by_steps<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    sources: &[VertexId],
    is_harmonic: bool,
    factor: f64,
    scores: &[f64],
) -> Result<(), Rejection> {
    let out = out.into();
    verify(out, sources, is_harmonic, factor, scores, |source| depths(out, source))
}

/// As [`closeness_by_steps`], by the weights of edges.
///
/// # Errors
/// The first violated property.
pub fn closeness_by_weight<'a, W: Ranked>(
    out: impl Into<WatchedRows<'a, W>>,
    sources: &[VertexId],
    is_harmonic: bool,
    factor: f64,
    scores: &[f64],
) -> Result<(), Rejection> {
    let out = out.into();
    verify(out, sources, is_harmonic, factor, scores, |source| lengths(out, source))
}

fn verify<W: Weight>(
    out: WatchedRows<'_, W>,
    sources: &[VertexId],
    is_harmonic: bool,
    factor: f64,
    scores: &[f64],
    distances: impl Fn(usize) -> Result<Vec<Option<f64>>, Rejection>,
) -> Result<(), Rejection> {
    let n = out.num_vertices();
    out.ensure(scores.len() == n, || format!("{} scores for {n} vertices", scores.len()))?;
    let (mut others, mut reached) = (vec![0_u64; n], vec![0_u64; n]);
    let (mut total, mut inverses) = (vec![0.0; n], vec![0.0; n]);
    for &source in sources {
        out.ensure((source as usize) < n, || format!("source {source} is not one of {n} vertices"))?;
        for (v, distance) in distances(source as usize)?.into_iter().enumerate() {
            others[v] += u64::from(v != source as usize);
            if let Some(distance) = distance.filter(|_| v != source as usize) {
                reached[v] += 1;
                total[v] += distance;
                inverses[v] += if distance > 0.0 { 1.0 / distance } else { 0.0 };
            }
        }
    }
    for (v, &score) in scores.iter().enumerate() {
        let mean = total[v] / reached[v] as f64;
        let wanted = factor
            * match is_harmonic {
                true => inverses[v],
                false if reached[v] == 0 || mean == 0.0 => 0.0,
                false => reached[v] as f64 / others[v] as f64 / mean,
            };
        let close = (score - wanted).abs() <= 1e-9 * wanted || score == wanted;
        out.ensure(close, || format!("vertex {v} has score {score} but should have {wanted}"))?;
    }
    Ok(())
}

/// The steps from `source` to each vertex.
fn depths<W: Weight>(out: WatchedRows<'_, W>, source: usize) -> Result<Vec<Option<f64>>, Rejection> {
    let mut depths = vec![None; out.num_vertices()];
    depths[source] = Some(0.0);
    let (mut level, mut depth) = (vec![source], 0.0);
    while !level.is_empty() {
        let mut next = Vec::new();
        depth += 1.0;
        for &u in &level {
            for &v in out.list(vertex(u))?.0 {
                if depths[v as usize].is_none() {
                    depths[v as usize] = Some(depth);
                    next.push(v as usize);
                }
            }
        }
        level = next;
    }
    Ok(depths)
}

/// The lengths of shortest paths from `source` to each vertex (Dijkstra).
fn lengths<W: Ranked>(out: WatchedRows<'_, W>, source: usize) -> Result<Vec<Option<f64>>, Rejection> {
    let mut lengths = vec![None; out.num_vertices()];
    // Lengths are not negative, so they are in the order of their bits.
    let mut heap = BinaryHeap::from([Reverse((0.0_f64.to_bits(), source))]);
    while let Some(Reverse((length, u))) = heap.pop() {
        if lengths[u].is_some() {
            continue;
        }
        let length = f64::from_bits(length);
        lengths[u] = Some(length);
        let (list, weights) = out.list(vertex(u))?;
        for (&v, weight) in list.iter().zip(weights) {
            if lengths[v as usize].is_none() {
                heap.push(Reverse(((length + weight.as_f64() + 0.0).to_bits(), v as usize)));
            }
        }
    }
    Ok(lengths)
}
