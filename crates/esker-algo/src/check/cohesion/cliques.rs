//! Verifies a clique count.

use esker_graph::{VertexId, Weight};

use crate::check::neighbourhood::neighbourhoods;
use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `cliques` is the number of sets of `k` pairwise adjacent vertices in the undirected simple
/// graph that underlies `out`, by listing each clique from its largest vertex down.
///
/// # Errors
/// The count is wrong.
pub fn cliques<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    k: usize,
    cliques: u64,
) -> Result<(), Rejection> {
    let out = out.into();
    let mut lists = neighbourhoods(out)?;
    for (v, list) in lists.iter_mut().enumerate() {
        list.retain(|&u| (u as usize) < v);
    }
    let counted = match k {
        0 | 1 => lists.len() as u64,
        _ => sum(lists.iter().map(|list| below(out, &lists, list, k - 1)))?,
    };
    out.ensure(cliques == counted, || {
        format!("the count is {cliques} but there are {counted} cliques of {k} vertices")
    })
}

/// The number of cliques of `k` members of `set`.
fn below<W: Weight>(
    out: WatchedRows<'_, W>,
    lists: &[Vec<VertexId>],
    set: &[VertexId],
    k: usize,
) -> Result<u64, Rejection> {
    out.check()?;
    if k == 1 {
        return Ok(set.len() as u64);
    }
    let inside = |u: &VertexId| -> Vec<VertexId> {
        lists[*u as usize].iter().copied().filter(|w| set.binary_search(w).is_ok()).collect()
    };
    sum(set.iter().map(|u| below(out, lists, &inside(u), k - 1)))
}

fn sum(mut counts: impl Iterator<Item = Result<u64, Rejection>>) -> Result<u64, Rejection> {
    counts.try_fold(0, |sum, count| Ok(sum + count?))
}
