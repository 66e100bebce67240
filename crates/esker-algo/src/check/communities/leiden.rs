//! Verifies communities.

use std::collections::BTreeMap;

use esker_graph::{NONE, VertexId, vertex};

use crate::check::watched::{Rejection, WatchedRows};
use crate::primitive::Ranked;

/// What is claimed of communities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommunityClaim<'a> {
    /// The name of each vertex's community.
    pub labels: &'a [VertexId],
    /// Whether the quality is that of the constant Potts model, and not modularity.
    pub is_cpm: bool,
    /// The resolution of the quality.
    pub resolution: f64,
    /// The quality.
    pub quality: f64,
    /// Whether each community is connected.
    pub is_connected: bool,
    /// Whether no move of a single vertex gains.
    pub is_settled: bool,
}

/// Numbers may differ by this share.
const TOLERANCE: f64 = 1e-9;

/// Checks that each community is called by its first member of the longest list, that the quality is that of
/// the edges and labels, and, as far as it is claimed, that edges of positive weight connect each community,
/// and that no vertex gains by a move to the community of a neighbour or to one of its own.
///
/// # Errors
/// The first violated property.
pub fn communities<'a, W: Ranked>(
    out: impl Into<WatchedRows<'a, W>>,
    claim: &CommunityClaim<'_>,
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(claim.labels.len() == n, || format!("{} labels for {n} vertices", claim.labels.len()))?;
    names(out, claim.labels)?;
    if claim.is_connected {
        connected(out, claim.labels)?;
    }
    let sums = Sums::new(out, claim)?;
    sums.check_quality(out, claim)?;
    if claim.is_settled { sums.check_moves(out, claim) } else { Ok(()) }
}

/// Checks that each label is a member that no other has a longer list than, nor as long a list and a lesser
/// number.
fn names<W: Ranked>(out: WatchedRows<'_, W>, labels: &[VertexId]) -> Result<(), Rejection> {
    for (v, &label) in labels.iter().enumerate() {
        let is_member = (label as usize) < labels.len() && labels[label as usize] == label;
        out.ensure(is_member, || format!("vertex {v} is in community {label}, which is not in itself"))?;
        let (len, named) = (out.list(vertex(v))?.0.len(), out.list(label)?.0.len());
        let is_first = len < named || len == named && label as usize <= v;
        out.ensure(is_first, || format!("community {label} should be called by its member {v}, or another"))?;
    }
    Ok(())
}

fn connected<W: Ranked>(out: WatchedRows<'_, W>, labels: &[VertexId]) -> Result<(), Rejection> {
    let mut seen = vec![false; labels.len()];
    for v in (0..labels.len()).map(vertex).filter(|&v| labels[v as usize] == v) {
        seen[v as usize] = true;
        let mut stack = vec![v];
        while let Some(u) = stack.pop() {
            let (list, weights) = out.list(u)?;
            for (&w, weight) in list.iter().zip(weights) {
                let is_near = labels[w as usize] == v && weight.as_f64() > 0.0;
                if is_near && !std::mem::replace(&mut seen[w as usize], true) {
                    stack.push(w);
                }
            }
        }
    }
    match seen.iter().position(|&is_seen| !is_seen) {
        None => Ok(()),
        Some(v) => Err(Rejection::Wrong(format!("no path in community {} leads to {v}", labels[v]))),
    }
}

/// Sums of weights, each a fraction of the largest.
struct Sums {
    /// The largest weight.
    largest: f64,
    /// What a vertex counts in the mass of its community: its strength, or 1.
    mass: Vec<f64>,
    /// The masses of communities by name.
    total: Vec<f64>,
    /// The sum of all strengths.
    all: f64,
    factor: f64,
}

impl Sums {
    fn new<W: Ranked>(out: WatchedRows<'_, W>, claim: &CommunityClaim<'_>) -> Result<Self, Rejection> {
        let n = claim.labels.len();
        let mut largest = 0.0_f64;
        for v in (0..n).map(vertex) {
            largest = out.list(v)?.1.iter().fold(largest, |largest, weight| largest.max(weight.as_f64()));
        }
        let mut sums = Self { largest, mass: vec![1.0; n], total: vec![0.0; n], all: 0.0, factor: 0.0 };
        for v in 0..n {
            let strength = sums.entries(out, vertex(v))?.iter().map(|&(_, weight)| weight).sum::<f64>();
            sums.all += strength;
            if !claim.is_cpm {
                sums.mass[v] = strength;
            }
            sums.total[claim.labels[v] as usize] += sums.mass[v];
        }
        sums.factor = match claim.is_cpm {
            _ if sums.all == 0.0 => 0.0,
            // A pair that costs more than all weights may cost anything.
            true => (claim.resolution / largest).min(1e30),
            false => claim.resolution / sums.all,
        };
        Ok(sums)
    }

    /// The neighbours of a vertex and their weights; a self-loop counts twice.
    fn entries<W: Ranked>(
        &self,
        out: WatchedRows<'_, W>,
        v: VertexId,
    ) -> Result<Vec<(VertexId, f64)>, Rejection> {
        let (list, weights) = out.list(v)?;
        let share = |weight: &W| if self.largest == 0.0 { 0.0 } else { weight.as_f64() / self.largest };
        let twice = |u: VertexId, share: f64| if u == v { 2.0 * share } else { share };
        Ok(list.iter().zip(weights).map(|(&u, weight)| (u, twice(u, share(weight)))).collect())
    }

    fn check_quality<W: Ranked>(
        &self,
        out: WatchedRows<'_, W>,
        claim: &CommunityClaim<'_>,
    ) -> Result<(), Rejection> {
        let mut inside = 0.0;
        for (v, label) in claim.labels.iter().enumerate() {
            let own = |(u, _): &&(VertexId, f64)| claim.labels[*u as usize] == *label;
            inside +=
                self.entries(out, vertex(v))?.iter().filter(own).map(|&(_, weight)| weight).sum::<f64>();
        }
        let (first, second) = if claim.is_cpm {
            let pairs = self.total.iter().map(|len| len * (len - 1.0) / 2.0).sum::<f64>();
            (inside / 2.0 * self.largest, claim.resolution * pairs)
        } else if self.all == 0.0 {
            (0.0, 0.0)
        } else {
            let chance = self.total.iter().map(|total| (total / self.all).powi(2)).sum::<f64>();
            (inside / self.all, claim.resolution * chance)
        };
        let (quality, found) = (first - second, claim.quality);
        out.ensure((quality - found).abs() <= TOLERANCE * (first + second).max(1e-3), || {
            format!("the quality is {quality}, not {found}")
        })
    }

    fn check_moves<W: Ranked>(
        &self,
        out: WatchedRows<'_, W>,
        claim: &CommunityClaim<'_>,
    ) -> Result<(), Rejection> {
        for (v, &label) in claim.labels.iter().enumerate() {
            let (mut by_label, mut sum) = (BTreeMap::from([(label, 0.0)]), 0.0);
            for (u, weight) in self.entries(out, vertex(v))?.into_iter().filter(|&(u, _)| u as usize != v) {
                *by_label.entry(claim.labels[u as usize]).or_insert(0.0) += weight;
                sum += weight;
            }
            let gain = |(&other, &weight): (&VertexId, &f64)| {
                let own = if other == label { self.mass[v] } else { 0.0 };
                (weight - self.factor * self.mass[v] * (self.total[other as usize] - own), other)
            };
            let stay = gain((&label, &by_label[&label])).0;
            let best = by_label.iter().map(gain).fold((0.0, NONE), |a, b| if b.0 > a.0 { b } else { a });
            out.ensure(best.0 - stay <= TOLERANCE * sum + 1e-12 * self.all, || {
                let to = if best.1 == NONE { "one of its own".to_owned() } else { best.1.to_string() };
                format!("vertex {v} gains by a move from community {label} to {to}")
            })?;
        }
        Ok(())
    }
}
