//! Verifies the quality of groups.

use esker_graph::{VertexId, vertex};

use crate::check::watched::{Rejection, WatchedRows};
use crate::primitive::Ranked;

/// What is claimed of groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QualityClaim<'a> {
    /// The group of each vertex.
    pub groups: &'a [VertexId],
    /// The resolution of modularity.
    pub resolution: f64,
    /// The modularity.
    pub modularity: f64,
    /// The share of the weight that is inside groups.
    pub coverage: f64,
    /// The mean conductance of the groups that have one.
    pub conductance: f64,
    /// The largest conductance.
    pub worst_conductance: f64,
}

/// Checks that figures are those of the edges and groups, up to rounding: sums each group by itself.
///
/// # Errors
/// The first violated property.
pub fn quality<'a, W: Ranked>(
    out: impl Into<WatchedRows<'a, W>>,
    is_directed: bool,
    claim: &QualityClaim<'_>,
) -> Result<(), Rejection> {
    let out = out.into();
    let QualityClaim { groups, resolution, .. } = *claim;
    let n = out.num_vertices();
    out.ensure(groups.len() == n, || format!("{} labels for {n} vertices", groups.len()))?;
    let count = groups.iter().max().map_or(0, |&last| last as usize + 1);
    let mut largest = 0.0_f64;
    for v in (0..n).map(vertex) {
        largest = out.list(v)?.1.iter().fold(largest, |largest, weight| largest.max(weight.as_f64()));
    }
    // Of each group: the weights from, to, inside, and across its border.
    let mut sums = vec![[0.0; 4]; count];
    let mut all = 0.0;
    for v in 0..n {
        let (list, weights) = out.list(vertex(v))?;
        for (&u, weight) in list.iter().zip(weights) {
            let (a, b) = (groups[v] as usize, groups[u as usize] as usize);
            let twice = if u as usize == v && !is_directed { 2.0 } else { 1.0 };
            let share = if largest > 0.0 { twice * (weight.as_f64() / largest) } else { 0.0 };
            all += share;
            sums[a][0] += share;
            sums[b][1] += share;
            if a == b {
                sums[a][2] += share;
            } else {
                sums[a][3] += share;
                sums[b][3] += share;
            }
        }
    }
    let mut expected = [0.0; 4];
    let mut conductances = Vec::new();
    for [from, to, inside, across] in sums {
        out.check()?;
        if all == 0.0 {
            continue;
        }
        expected[0] += inside / all - resolution * from * to / (all * all);
        expected[1] += inside / all;
        let side = (from + to).min(2.0 * all - from - to);
        if side > 1e-12 * all {
            conductances.push(across / side);
        }
    }
    expected[2] = conductances.iter().sum::<f64>() / conductances.len().max(1) as f64;
    expected[3] = conductances.iter().copied().fold(0.0, f64::max);
    let found = [claim.modularity, claim.coverage, claim.conductance, claim.worst_conductance];
    for (name, (found, expected)) in
        ["modularity", "coverage", "conductance", "worst conductance"].iter().zip(found.iter().zip(expected))
    {
        let is_near = (found - expected).abs() <= 1e-9 * (1.0 + resolution);
        out.ensure(is_near, || format!("the {name} is {found} but should be {expected}"))?;
    }
    Ok(())
}
