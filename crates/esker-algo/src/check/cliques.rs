//! Verifies a clique count.

use esker_graph::{Rows, VertexId, Weight};

use super::neighbourhood::neighbourhoods;
use super::wrong::{Wrong, ensure};

/// Checks that `cliques` is the number of sets of `k` pairwise adjacent vertices in the undirected simple graph that
/// underlies `out`, by listing each clique from its largest vertex down.
///
/// # Errors
/// The count is wrong.
pub fn cliques<W: Weight>(out: &Rows<'_, W>, k: usize, cliques: u64) -> Result<(), Wrong> {
    let mut lists = neighbourhoods(out);
    for (v, list) in lists.iter_mut().enumerate() {
        list.retain(|&u| (u as usize) < v);
    }
    let counted: u64 = match k {
        0 | 1 => lists.len() as u64,
        _ => lists.iter().map(|list| below(&lists, list, k - 1)).sum(),
    };
    ensure(cliques == counted, || {
        format!("the count is {cliques} but there are {counted} cliques of {k} vertices")
    })
}

/// The number of cliques of `k` members of `set`.
fn below(lists: &[Vec<VertexId>], set: &[VertexId], k: usize) -> u64 {
    if k == 1 {
        return set.len() as u64;
    }
    let inside = |u: &VertexId| -> Vec<VertexId> {
        lists[*u as usize].iter().copied().filter(|w| set.binary_search(w).is_ok()).collect()
    };
    set.iter().map(|u| below(lists, &inside(u), k - 1)).sum()
}
