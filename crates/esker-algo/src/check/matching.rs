//! Checks a maximal matching.

use esker_graph::{NONE, Rows, VertexId, Weight, vertex};

use super::wrong::{Wrong, ensure};

/// Checks that `mates` pairs neighbours of the undirected graph `out`, in `edges` pairs, and that no two neighbours are both
/// left over.
///
/// # Errors
/// The first breach.
pub fn matching<W: Weight>(out: &Rows<'_, W>, mates: &[VertexId], edges: usize) -> Result<(), Wrong> {
    let n = out.num_vertices();
    ensure(mates.len() == n, || format!("{} mates for {n} vertices", mates.len()))?;
    for v in (0..n).map(vertex) {
        let (mate, list) = (mates[v as usize], out.list(v).0);
        if mate == NONE {
            let other = list.iter().find(|&&u| u != v && mates[u as usize] == NONE);
            ensure(other.is_none(), || format!("neither {v} nor its neighbour {other:?} has a mate"))?;
            continue;
        }
        ensure(mate != v && list.binary_search(&mate).is_ok(), || format!("{mate} is no neighbour of {v}"))?;
        let back = mates[mate as usize];
        ensure(back == v, || format!("{mate} is the mate of {v} but has {back}"))?;
    }
    let matched = mates.iter().filter(|&&mate| mate != NONE).count();
    ensure(matched == 2 * edges, || format!("{matched} vertices have mates, not two for each of {edges}"))
}
