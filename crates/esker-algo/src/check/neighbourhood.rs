//! The undirected simple graph that underlies a graph.

use esker_graph::{VertexId, Weight, vertex};

use super::watched::{Rejection, WatchedRows};

/// The distinct neighbours of each vertex in either direction, excluding itself, ascending.
pub(super) fn neighbourhoods<W: Weight>(out: WatchedRows<'_, W>) -> Result<Vec<Vec<VertexId>>, Rejection> {
    let mut lists = vec![Vec::new(); out.num_vertices()];
    for u in (0..out.num_vertices()).map(vertex) {
        for &v in out.list(u)?.0.iter().filter(|&&v| v != u) {
            lists[u as usize].push(v);
            lists[v as usize].push(u);
        }
    }
    for list in &mut lists {
        out.check()?;
        list.sort_unstable();
        list.dedup();
    }
    Ok(lists)
}

/// The size of the intersection of two ascending lists without repetitions.
pub(super) fn common(a: &[VertexId], b: &[VertexId]) -> u64 {
    let (mut i, mut j, mut count) = (0, 0, 0);
    let (a_len, b_len) = (a.len(), b.len());
    // Without calls of functions: tests, which are not optimised, spend much of their time here.
    while i < a_len && j < b_len {
        let (in_a, in_b) = (a[i], b[j]);
        if in_a < in_b {
            i += 1;
        } else if in_b < in_a {
            j += 1;
        } else {
            (count, i, j) = (count + 1, i + 1, j + 1);
        }
    }
    count
}
