//! Verifies PageRank.

use esker_graph::{Rows, Weight, vertex};

use super::wrong::{Wrong, ensure};
use crate::primitive::Ranked;

/// From this tolerance on, PageRank may compute in single precision.
const SINGLE_TOLERANCE_MIN: f64 = 1e-6;

/// Checks that `scores` add up to 1 and that one more iteration along `out` changes them by at most `tolerance` in
/// total (L1 norm), up to rounding: in single precision, each round may change a value by 3 * 2^-24 of itself, of which
/// `damping` passes to the next round, so the sum by damping / (1 - damping) times that. `teleport` adds up to 1;
/// `None` means uniform. The score of a vertex passes along its arcs in equal parts, whatever their weights.
///
/// # Errors
/// The first violated property.
pub fn pagerank<W: Weight>(
    out: &Rows<'_, W>,
    damping: f64,
    teleport: Option<&[f64]>,
    scores: &[f64],
    tolerance: f64,
) -> Result<(), Wrong> {
    ranks(out, |_| 1.0, (damping, teleport), scores, tolerance)
}

/// As [`pagerank`], but the score of a vertex passes along its arcs in proportion to their weights.
///
/// # Errors
/// The first violated property.
pub fn pagerank_weighted<W: Ranked>(
    out: &Rows<'_, W>,
    damping: f64,
    teleport: Option<&[f64]>,
    scores: &[f64],
    tolerance: f64,
) -> Result<(), Wrong> {
    ranks(out, Ranked::as_f64, (damping, teleport), scores, tolerance)
}

fn ranks<W: Weight>(
    out: &Rows<'_, W>,
    part: impl Fn(W) -> f64,
    (damping, teleport): (f64, Option<&[f64]>),
    scores: &[f64],
    tolerance: f64,
) -> Result<(), Wrong> {
    let n = out.num_vertices();
    ensure(scores.len() == n, || format!("{} scores for {n} vertices", scores.len()))?;
    if n == 0 {
        return Ok(());
    }
    let total: f64 = scores.iter().sum();
    let of_a_round = if tolerance >= SINGLE_TOLERANCE_MIN { 3.0 * damping / f64::from(1 << 24) } else { 0.0 };
    let of_all = (of_a_round / (1.0 - damping)).min(tolerance);
    ensure((total - 1.0).abs() < of_all.max((tolerance / 10.0).clamp(1e-9, 1e-7)), || {
        format!("the scores add up to {total}")
    })?;
    let jump = |v: usize| teleport.map_or(1.0 / n as f64, |shares| shares[v]);
    let mut next: Vec<f64> = (0..n).map(|v| (1.0 - damping) * jump(v)).collect();
    let mut dangling = 0.0;
    for (u, &score) in scores.iter().enumerate() {
        let (list, weights) = out.list(vertex(u));
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
    ensure(change <= tolerance + of_a_round + 1e-12, || {
        format!("one more iteration changes the scores by {change}")
    })
}
