//! Verifies maximum flows.

use std::collections::{BTreeMap, VecDeque};

use esker_graph::{VertexId, vertex};

use crate::check::watched::{Rejection, WatchedRows};
use crate::primitive::Ranked;

/// Flows may differ by this share of all weights.
const TOLERANCE: f64 = 1e-9;

/// Checks that the arcs from the side of the source to the other let `value` through, and that as much can
/// flow, by a flow of its own along shortest paths.
///
/// # Errors
/// The first violated property.
pub fn max_flow<'a, W: Ranked>(
    out: impl Into<WatchedRows<'a, W>>,
    source: VertexId,
    target: VertexId,
    value: f64,
    side: &[bool],
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(side.len() == n, || format!("{} sides for {n} vertices", side.len()))?;
    let is_apart = side[source as usize] && (source == target || !side[target as usize]);
    out.ensure(is_apart, || "source and target are not on sides of their own".to_owned())?;
    let mut left: Vec<BTreeMap<VertexId, f64>> = vec![BTreeMap::new(); n];
    let (mut cut, mut all) = (0.0, 0.0);
    for u in (0..n).map(vertex) {
        let (list, weights) = out.list(u)?;
        for (&v, weight) in list.iter().zip(weights).filter(|(v, _)| **v != u) {
            let weight = weight.as_f64();
            *left[u as usize].entry(v).or_insert(0.0) += weight;
            left[v as usize].entry(u).or_insert(0.0);
            all += weight;
            if side[u as usize] && !side[v as usize] && source != target {
                cut += weight;
            }
        }
    }
    let is_near = |a: f64, b: f64| (a - b).abs() <= TOLERANCE * all || a == b;
    out.ensure(is_near(cut, value), || format!("{cut} crosses the cut, not {value}"))?;
    let mut flows = 0.0;
    while let Some(path) = path(out, &left, source, target, TOLERANCE / 10.0 * all)? {
        let amount = path.iter().map(|(u, v)| left[*u as usize][v]).fold(f64::INFINITY, f64::min);
        for (u, v) in path {
            *left[u as usize].entry(v).or_insert(0.0) -= amount;
            *left[v as usize].entry(u).or_insert(0.0) += amount;
        }
        flows += amount;
    }
    // What less than the least share of a path lets through adds up to no more than the tolerance of a few.
    let is_near = (flows - value).abs() <= n as f64 * TOLERANCE * all;
    out.ensure(is_near, || format!("{flows} can flow, not {value}"))
}

/// The arcs of a shortest path that lets more than `least` through.
fn path<W: Ranked>(
    out: WatchedRows<'_, W>,
    left: &[BTreeMap<VertexId, f64>],
    source: VertexId,
    target: VertexId,
    least: f64,
) -> Result<Option<Vec<(VertexId, VertexId)>>, Rejection> {
    let mut before = vec![None; left.len()];
    let mut queue = VecDeque::from([source]);
    while let Some(u) = queue.pop_front().filter(|_| source != target) {
        out.check()?;
        for (&v, _) in left[u as usize].iter().filter(|(_, left)| **left > least) {
            if v != source && before[v as usize].is_none() {
                before[v as usize] = Some(u);
                queue.push_back(v);
            }
        }
    }
    let (mut path, mut v) = (Vec::new(), target);
    while let Some(u) = before[v as usize] {
        path.push((u, v));
        v = u;
    }
    Ok(if path.is_empty() { None } else { Some(path) })
}
