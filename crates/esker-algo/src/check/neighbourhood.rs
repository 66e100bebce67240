//! The undirected simple graph that underlies a graph.

use esker_graph::{Rows, VertexId, Weight, vertex};

/// The distinct neighbours of each vertex in either direction, excluding itself, ascending.
pub(super) fn neighbourhoods<W: Weight>(out: &Rows<'_, W>) -> Vec<Vec<VertexId>> {
    let mut lists = vec![Vec::new(); out.num_vertices()];
    for u in (0..out.num_vertices()).map(vertex) {
        for &v in out.list(u).0.iter().filter(|&&v| v != u) {
            lists[u as usize].push(v);
            lists[v as usize].push(u);
        }
    }
    for list in &mut lists {
        list.sort_unstable();
        list.dedup();
    }
    lists
}

/// The size of the intersection of two ascending lists without repetitions.
pub(super) fn common(a: &[VertexId], b: &[VertexId]) -> u64 {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        count += u64::from(a[i] == b[j]);
        (i, j) = (i + usize::from(a[i] <= b[j]), j + usize::from(b[j] <= a[i]));
    }
    count
}
