//! Verifies a core decomposition.

use esker_graph::{VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `coreness` is correct and `order` is a degeneracy order.
///
/// Each vertex has at least as many neighbours of its own or higher coreness as its coreness, so the true
/// coreness is no lower. Coreness ascends along the order, and no vertex has more later neighbours than its
/// coreness, so the true coreness is no higher: in any subgraph with higher degrees, the first vertex in the
/// order would have too many. Edges count in both directions; self-loops do not count.
///
/// # Errors
/// The first violated property.
pub fn kcore<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    directed: bool,
    coreness: &[VertexId],
    order: &[VertexId],
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(coreness.len() == n, || format!("{} values for {n} vertices", coreness.len()))?;
    out.ensure(order.len() == n, || format!("{} vertices of {n} in order", order.len()))?;
    let mut places = vec![usize::MAX; n];
    for (place, &v) in order.iter().enumerate() {
        let first = places.get_mut(v as usize).filter(|place| **place == usize::MAX);
        *first.ok_or_else(|| Rejection::Wrong(format!("{v} is in the order twice or is not a vertex")))? =
            place;
    }
    for pair in order.windows(2) {
        let (before, after) = (coreness[pair[0] as usize], coreness[pair[1] as usize]);
        out.ensure(before <= after, || {
            format!("{} of coreness {before} precedes {} of coreness {after}", pair[0], pair[1])
        })?;
    }
    let (mut as_high, mut later) = (vec![0u64; n], vec![0u64; n]);
    let mut count = |u: usize, v: usize| {
        as_high[u] += u64::from(coreness[v] >= coreness[u]);
        later[u] += u64::from(places[v] > places[u]);
    };
    for u in 0..n {
        for v in out.list(vertex(u))?.0.iter().map(|&v| v as usize).filter(|&v| v != u) {
            count(u, v);
            if directed {
                count(v, u);
            }
        }
    }
    for v in 0..n {
        let k = u64::from(coreness[v]);
        let (high, later) = (as_high[v], later[v]);
        out.ensure(high >= k, || {
            format!("vertex {v} has coreness {k} but {high} neighbours of that or more")
        })?;
        out.ensure(later <= k, || format!("vertex {v} has coreness {k} but {later} later neighbours"))?;
    }
    Ok(())
}
