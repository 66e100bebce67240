//! Verifies a triangle count.

use esker_graph::{VertexId, Weight};

use crate::check::neighbourhood::{common, neighbourhoods};
use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `triangles` is the number of triangles in the undirected simple graph that underlies `out`, by
/// intersecting the lists of the ends of every edge. Takes time O(sum of squared degrees) and about 8 bytes
/// per arc.
///
/// # Errors
/// The count is wrong.
pub fn triangles<'a, W: Weight>(out: impl Into<WatchedRows<'a, W>>, triangles: u64) -> Result<(), Rejection> {
    let out = out.into();
    let counted = count(out)?;
    out.ensure(triangles == counted, || format!("the count is {triangles} but there are {counted} triangles"))
}

/// Checks that an estimate from `samples` of the `wedges` of an undirected graph is within the error that, by
/// Hoeffding's inequality, all but one of 10^12 estimates respect. Takes time and memory as [`triangles`].
///
/// # Errors
/// The estimate is too far off.
pub fn triangles_sampled<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    estimate: f64,
    wedges: f64,
    samples: usize,
) -> Result<(), Rejection> {
    let out = out.into();
    let counted = count(out)? as f64;
    let error = if samples == 0 { 0.0 } else { ((2e12f64).ln() / (2.0 * samples as f64)).sqrt() };
    out.ensure((estimate - counted).abs() <= error * wedges / 3.0, || {
        format!("the estimate is {estimate} but there are {counted} triangles")
    })
}

fn count<W: Weight>(out: WatchedRows<'_, W>) -> Result<u64, Rejection> {
    let lists = neighbourhoods(out)?;
    let smaller = |v: usize| -> &[VertexId] { &lists[v][..lists[v].partition_point(|&u| (u as usize) < v)] };
    let mut triangles = 0;
    for v in 0..lists.len() {
        for &u in smaller(v) {
            out.check()?;
            triangles += common(smaller(v), smaller(u as usize));
        }
    }
    Ok(triangles)
}
