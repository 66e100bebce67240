//! Verifies eigenvector, Katz and HITS scores.

use esker_graph::vertex;

use crate::check::watched::{Rejection, WatchedRows};
use crate::primitive::Ranked;

/// What is claimed of eigenvector or Katz scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpectralClaim<'a> {
    /// The score of each vertex.
    pub scores: &'a [f64],
    /// Of Katz scores, how much of the scores of neighbours counts, and what each vertex has by itself.
    pub katz: Option<(f64, f64)>,
    /// Whether the length of the scores is 1.
    pub is_normal: bool,
    /// The change of all scores in the last round, if that was within the tolerance.
    pub error: Option<f64>,
}

/// What is claimed of hubs and authorities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HitsClaim<'a> {
    /// The score of each vertex as a hub.
    pub hubs: &'a [f64],
    /// The score of each vertex as an authority.
    pub authorities: &'a [f64],
    /// The change of all hub scores in the last round, if that was within the tolerance.
    pub error: Option<f64>,
}

/// The rounding of a round, as a share of the largest number in it.
const ROUNDING: f64 = 1e-9;

/// The sum at each vertex of the values at the other ends of its arcs, times their weights.
fn sums<W: Ranked>(out: WatchedRows<'_, W>, values: &[f64], is_in: bool) -> Result<Vec<f64>, Rejection> {
    let mut sums = vec![0.0; values.len()];
    for u in 0..values.len() {
        let (list, weights) = out.list(vertex(u))?;
        for (&v, weight) in list.iter().zip(weights) {
            let v = v as usize;
            if is_in {
                sums[v] += values[u] * weight.as_f64();
            } else {
                sums[u] += values[v] * weight.as_f64();
            }
        }
    }
    Ok(sums)
}

/// The mean weight of all arcs; 1 where none weighs anything.
fn mean_weight<W: Ranked>(out: WatchedRows<'_, W>) -> Result<f64, Rejection> {
    let (mut mean, mut count) = (0.0, 0.0);
    for u in 0..out.num_vertices() {
        for weight in out.list(vertex(u))?.1 {
            count += 1.0;
            mean += (weight.as_f64() - mean) / count;
        }
    }
    Ok(if mean > 0.0 { mean } else { 1.0 })
}

/// Checks that two lists of numbers differ by at most `most` in total, up to rounding. Numbers too large for
/// a double claim nothing.
fn ensure_near<W: Ranked>(out: WatchedRows<'_, W>, a: &[f64], b: &[f64], most: f64) -> Result<(), Rejection> {
    if a.iter().chain(b).any(|number| !number.is_finite()) {
        return Ok(());
    }
    let scale = a.iter().map(|number| number.abs()).sum::<f64>();
    let change: f64 = a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum();
    out.ensure(change <= most + ROUNDING * scale, || {
        format!("one more round changes the scores by {change}, not {most} at most")
    })
}

/// Checks that one more round changes the scores by no more than the last one did: the power method of a
/// matrix without negative entries comes nearer in each round once it has converged. Scores that did not
/// converge claim nothing but their number, and for eigenvectors their length.
///
/// # Errors
/// The first violated property.
pub fn spectral<'a, W: Ranked>(
    out: impl Into<WatchedRows<'a, W>>,
    claim: &SpectralClaim<'_>,
) -> Result<(), Rejection> {
    let out = out.into();
    let (n, scores) = (out.num_vertices(), claim.scores);
    out.ensure(scores.len() == n, || format!("{} scores for {n} vertices", scores.len()))?;
    let length = |scores: &[f64]| scores.iter().map(|score| score * score).sum::<f64>().sqrt();
    let own = length(scores);
    let is_right = !claim.is_normal || !own.is_finite() || own == 0.0 || (own - 1.0).abs() <= ROUNDING;
    out.ensure(is_right, || format!("the length of the scores is {own}"))?;
    let Some(error) = claim.error else { return Ok(()) };
    match claim.katz {
        None => {
            // Scores are divided by the mean weight before they are added up, so that no sum is too large.
            let mean = mean_weight(out)?;
            let shares: Vec<f64> = scores.iter().map(|score| score / mean).collect();
            let sums = sums(out, &shares, true)?;
            let next: Vec<f64> = scores.iter().zip(sums).map(|(score, sum)| score + sum).collect();
            let by = length(&next);
            let next: Vec<f64> = next.iter().map(|next| if by == 0.0 { 0.0 } else { next / by }).collect();
            ensure_near(out, scores, &next, 2.0 * error)
        }
        Some((alpha, beta)) => {
            let sums = sums(out, scores, true)?;
            // What each vertex has by itself, divided as the scores are: the same for all.
            let own: Vec<f64> = scores.iter().zip(&sums).map(|(score, sum)| score - alpha * sum).collect();
            let mean = own.iter().sum::<f64>() / n.max(1) as f64;
            let by = if claim.is_normal && beta != 0.0 { mean / beta } else { 1.0 };
            let expected = if claim.is_normal { mean } else { beta };
            ensure_near(out, &own, &vec![expected; n], 2.0 * error * by.abs())
        }
    }
}

/// Checks that authorities follow from hubs, and that hubs which follow from these differ by no more than in
/// the last round, where it converged.
///
/// # Errors
/// The first violated property.
pub fn hits<'a, W: Ranked>(
    out: impl Into<WatchedRows<'a, W>>,
    claim: &HitsClaim<'_>,
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    let is_whole = claim.hubs.len() == n && claim.authorities.len() == n;
    out.ensure(is_whole, || format!("not two scores for each of {n} vertices"))?;
    let share = |sums: Vec<f64>| -> Vec<f64> {
        let total: f64 = sums.iter().sum();
        sums.iter().map(|sum| if total == 0.0 { *sum } else { sum / total }).collect()
    };
    let hubs = share(sums(out, claim.authorities, false)?);
    ensure_near(out, claim.hubs, &hubs, 0.0)?;
    let Some(error) = claim.error else { return Ok(()) };
    let authorities = share(sums(out, &hubs, true)?);
    let next = share(sums(out, &authorities, false)?);
    ensure_near(out, &hubs, &next, 2.0 * error)
}
