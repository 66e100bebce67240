//! Checks a decomposition into cores.

use esker_graph::{Rows, VertexId, Weight, vertex};

use super::wrong::{Wrong, ensure};

/// Checks that `coreness` is that of the graph, and `order` a degeneracy order.
///
/// Each vertex has at least as many neighbours of its own coreness or more as its coreness says, so it is no less than
/// stated. Along the order coreness ascends, and no vertex has more later neighbours than its coreness, so it is no more: of
/// any part with higher degrees, the first in the order would have too many. Edges count both ways, loops not at all.
///
/// # Errors
/// The first breach.
pub fn kcore<W: Weight>(
    out: &Rows<'_, W>,
    directed: bool,
    coreness: &[VertexId],
    order: &[VertexId],
) -> Result<(), Wrong> {
    let n = out.num_vertices();
    ensure(coreness.len() == n, || format!("{} values for {n} vertices", coreness.len()))?;
    ensure(order.len() == n, || format!("{} vertices of {n} in order", order.len()))?;
    let mut places = vec![usize::MAX; n];
    for (place, &v) in order.iter().enumerate() {
        let first = places.get_mut(v as usize).filter(|place| **place == usize::MAX);
        *first.ok_or_else(|| Wrong(format!("{v} stands in the order twice, or is no vertex")))? = place;
    }
    for pair in order.windows(2) {
        let (before, after) = (coreness[pair[0] as usize], coreness[pair[1] as usize]);
        ensure(before <= after, || {
            format!("{} of coreness {before} goes before {} of {after}", pair[0], pair[1])
        })?;
    }
    let (mut as_high, mut later) = (vec![0u64; n], vec![0u64; n]);
    let mut count = |u: usize, v: usize| {
        as_high[u] += u64::from(coreness[v] >= coreness[u]);
        later[u] += u64::from(places[v] > places[u]);
    };
    for u in 0..n {
        for v in out.list(vertex(u)).0.iter().map(|&v| v as usize).filter(|&v| v != u) {
            count(u, v);
            if directed {
                count(v, u);
            }
        }
    }
    for v in 0..n {
        let k = u64::from(coreness[v]);
        ensure(as_high[v] >= k, || format!("{v} has coreness {k} but {} neighbours as high", as_high[v]))?;
        ensure(later[v] <= k, || format!("{v} has coreness {k} but {} later neighbours", later[v]))?;
    }
    Ok(())
}
