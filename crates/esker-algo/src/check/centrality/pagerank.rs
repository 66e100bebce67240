//! Verifies PageRank.

use esker_graph::{Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};
use crate::primitive::Ranked;

/// Checks that `scores` differ from the exact ones by at most `error` in total (L1 norm), up to rounding of
/// doubles. Two properties show it: the scores add up to 1 within `error`, and one more iteration along `out`
/// changes them by at most (1 - damping) `error` in total, because an iteration shrinks the distance to the
/// exact scores by the factor `damping`. An infinite error, of a run without a bound, claims nothing.
///
/// `teleport` adds up to 1; `None` means uniform. The score of a vertex passes along its arcs in equal parts,
/// whatever their weights.
///
/// # Errors
/// The first violated property.
pub fn pagerank<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    damping: f64,
    teleport: Option<&[f64]>,
    scores: &[f64],
    error: f64,
) -> Result<(), Rejection> {
    ranks(out.into(), |_| 1.0, damping, teleport, scores, error)
}

/// Tolerance for the rounding of doubles in this check.
const ROUNDING: f64 = 1e-12;
/// How far rounding in all rounds of a run may take the sum of the scores from 1, however large their error.
const SUM_ERROR_MAX: f64 = 1e-4;

/// As [`pagerank`], but the score of a vertex passes along its arcs in proportion to their weights.
///
/// # Errors
/// The first violated property.
pub fn pagerank_weighted<'a, W: Ranked>(
    out: impl Into<WatchedRows<'a, W>>,
    damping: f64,
    teleport: Option<&[f64]>,
    scores: &[f64],
    error: f64,
) -> Result<(), Rejection> {
    ranks(out.into(), Ranked::as_f64, damping, teleport, scores, error)
}

fn ranks<W: Weight>(
    out: WatchedRows<'_, W>,
    part: impl Fn(W) -> f64,
    damping: f64,
    teleport: Option<&[f64]>,
    scores: &[f64],
    error: f64,
) -> Result<(), Rejection> {
    let n = out.num_vertices();
    out.ensure(scores.len() == n, || format!("{} scores for {n} vertices", scores.len()))?;
    if n == 0 {
        return Ok(());
    }
    let total: f64 = scores.iter().sum();
    out.ensure((total - 1.0).abs() <= error.min(SUM_ERROR_MAX) + ROUNDING, || {
        format!("the scores add up to {total}")
    })?;
    let jump = |v: usize| teleport.map_or(1.0 / n as f64, |shares| shares[v]);
    let mut next: Vec<f64> = (0..n).map(|v| (1.0 - damping) * jump(v)).collect();
    let mut dangling = 0.0;
    for (u, &score) in scores.iter().enumerate() {
        let (list, weights) = out.list(vertex(u))?;
        let strength: f64 = weights.iter().map(|&weight| part(weight)).sum();
        if strength == 0.0 {
            dangling += score;
            continue;
        }
        for (&v, &weight) in list.iter().zip(weights) {
            next[v as usize] += damping * score * (part(weight) / strength);
        }
    }
    let change: f64 = (0..n).map(|v| (next[v] + damping * dangling * jump(v) - scores[v]).abs()).sum();
    // With a damping of 1, the change says nothing about the distance to the exact scores.
    let change_max = if damping < 1.0 { (1.0 - damping) * error } else { f64::INFINITY };
    out.ensure(change <= change_max + ROUNDING, || {
        format!(
            "one more iteration changes the scores by {change}, more than {change_max} of an error of {error}"
        )
    })
}
