//! Checks a triangle count.

use esker_graph::{Rows, VertexId, Weight};

use super::neighbourhood::{common, neighbourhoods};
use super::wrong::{Wrong, ensure};

/// Checks that `triangles` is the number of triangles of the undirected simple graph that underlies `out`, by
/// intersecting the lists of the ends of every edge: time O(sum of squared degrees), memory 8 bytes an arc or so.
///
/// # Errors
/// If it is not.
pub fn triangles<W: Weight>(out: &Rows<'_, W>, triangles: u64) -> Result<(), Wrong> {
    let lists = neighbourhoods(out);
    let smaller = |v: usize| -> &[VertexId] { &lists[v][..lists[v].partition_point(|&u| (u as usize) < v)] };
    let at = |v: usize| smaller(v).iter().map(|&u| common(smaller(v), smaller(u as usize))).sum::<u64>();
    let counted: u64 = (0..lists.len()).map(at).sum();
    ensure(triangles == counted, || format!("{triangles} triangles were found, there are {counted}"))
}
