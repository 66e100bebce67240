//! Verifies a triangle count.

use esker_graph::{Rows, VertexId, Weight};

use super::neighbourhood::{common, neighbourhoods};
use super::wrong::{Wrong, ensure};

/// Checks that `triangles` is the number of triangles in the undirected simple graph that underlies `out`, by
/// intersecting the lists of the ends of every edge. Takes time O(sum of squared degrees) and about 8 bytes per arc.
///
/// # Errors
/// The count is wrong.
pub fn triangles<W: Weight>(out: &Rows<'_, W>, triangles: u64) -> Result<(), Wrong> {
    let counted = count(out);
    ensure(triangles == counted, || format!("the count is {triangles} but there are {counted} triangles"))
}

/// Checks that an estimate from `samples` of the `wedges` of an undirected graph is within the error that, by
/// Hoeffding's inequality, all but one of 10^12 estimates respect. Takes time and memory as [`triangles`].
///
/// # Errors
/// The estimate is too far off.
pub fn triangles_sampled<W: Weight>(
    out: &Rows<'_, W>,
    estimate: f64,
    wedges: f64,
    samples: usize,
) -> Result<(), Wrong> {
    let counted = count(out) as f64;
    let error = if samples == 0 { 0.0 } else { ((2e12f64).ln() / (2.0 * samples as f64)).sqrt() };
    ensure((estimate - counted).abs() <= error * wedges / 3.0, || {
        format!("the estimate is {estimate} but there are {counted} triangles")
    })
}

fn count<W: Weight>(out: &Rows<'_, W>) -> u64 {
    let lists = neighbourhoods(out);
    let smaller = |v: usize| -> &[VertexId] { &lists[v][..lists[v].partition_point(|&u| (u as usize) < v)] };
    let at = |v: usize| smaller(v).iter().map(|&u| common(smaller(v), smaller(u as usize))).sum::<u64>();
    (0..lists.len()).map(at).sum()
}
