//! Verifies strengths.

use esker_graph::{Direction, vertex};

use crate::check::watched::{Rejection, WatchedRows};
use crate::primitive::Ranked;

/// Checks that the sum, mean, least and greatest weight of each vertex are those of its weights in some
/// directions, up to rounding.
/// Collects the entries of all out-lists at their sources, at their targets, or at both.
///
/// # Errors
/// The first violated property.
pub fn strength<'a, W: Ranked>(
    out: impl Into<WatchedRows<'a, W>>,
    directions: &[Direction],
    columns: [&[f64]; 4],
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    let mut weights = vec![Vec::new(); n];
    for u in 0..n {
        let (list, beside) = out.list(vertex(u))?;
        for (&v, weight) in list.iter().zip(beside) {
            if directions.contains(&Direction::Out) {
                weights[u].push(weight.as_f64());
            }
            if directions.contains(&Direction::In) {
                weights[v as usize].push(weight.as_f64());
            }
        }
    }
    let is_whole = columns.iter().all(|column| column.len() == n);
    out.ensure(is_whole, || format!("not a figure for each of {n} vertices"))?;
    for (v, weights) in weights.iter().enumerate() {
        let found = columns.map(|column| column[v]);
        let expected = match weights.len() {
            0 => [0.0, f64::NAN, f64::NAN, f64::NAN],
            len => {
                let (largest, len) = (weights.iter().fold(0.0_f64, |a, b| a.max(b.abs())), len as f64);
                // In shares of the largest, so that no sum is too large.
                let share: f64 =
                    weights.iter().map(|weight| if largest > 0.0 { weight / largest } else { 0.0 }).sum();
                let of = |pick: fn(f64, f64) -> f64| weights.iter().copied().fold(weights[0], pick);
                [share * largest, share / len * largest, of(f64::min), of(f64::max)]
            }
        };
        // The rounding of sums is that of their largest parts.
        let scale = weights.iter().fold(0.0_f64, |a, b| a.max(b.abs())) * weights.len() as f64;
        for (found, expected) in found.iter().zip(expected) {
            let is_same = found.is_nan() && expected.is_nan()
                || found == &expected
                || (found - expected).abs() <= 1e-12 * scale;
            out.ensure(is_same, || format!("vertex {v} has {found} but should have {expected}"))?;
        }
    }
    Ok(())
}
