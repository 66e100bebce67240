//! Neighbourhoods, for problems defined on undirected graphs: all entries of a vertex, whichever way the
//! edges go.
//!
//! In a directed graph the neighbourhood of a vertex is its out-list followed by its in-list, so a pair of
//! opposite edges counts twice.

use esker_graph::{Direction, Graph, Run, Select, Stop, VertexId, Visitor};

/// Scans of fewer entries stay on the calling thread: they take tens of microseconds.
const ALONE_ENTRIES_MAX: usize = 1 << 13;

/// The directions whose lists make up a neighbourhood. A directed graph must have its in-lists.
pub(crate) fn neighbourhood_directions<G: Graph>(graph: &G) -> &'static [Direction] {
    if graph.is_directed() { &[Direction::Out, Direction::In] } else { &[Direction::Out] }
}

/// The number of entries in the neighbourhood of `v`. Parallel edges each count; a self-loop counts once per
/// list.
#[inline(always)]
pub(crate) fn num_entries<G: Graph>(graph: &G, directions: &[Direction], v: VertexId) -> usize {
    directions.iter().map(|&direction| graph.degree(direction, v)).sum()
}

/// Scans the neighbourhoods of the selected vertices, one direction after the other, and returns all workers'
/// states.
///
/// # Errors
/// As [`Graph::scan`].
pub(crate) fn scan_neighbours<G: Graph, V: Visitor<G::Weight>>(
    graph: &G,
    run: &Run,
    directions: &[Direction],
    select: Select<'_>,
    visitor: &V,
) -> Result<Vec<V::State>, G::Error> {
    let mut states = Vec::new();
    for &direction in directions {
        states.extend(graph.scan(run, direction, select, visitor)?);
    }
    Ok(states)
}

/// Whether one thread can process the neighbourhoods of `list` before another would wake up. Always true for
/// a run with one thread. Takes O(1) for long lists.
pub(crate) fn is_small<G: Graph>(graph: &G, run: &Run, directions: &[Direction], list: &[VertexId]) -> bool {
    let mut entries = list.len();
    run.threads() == 1
        || entries <= ALONE_ENTRIES_MAX
            && list.iter().all(|&v| {
                entries += num_entries(graph, directions, v);
                entries <= ALONE_ENTRIES_MAX
            })
}

/// Concatenates the lists. The first non-empty one is extended in place, not copied.
pub(crate) fn concat(lists: impl IntoIterator<Item = Vec<VertexId>>) -> Vec<VertexId> {
    let mut lists = lists.into_iter().filter(|list| !list.is_empty());
    let mut all = lists.next().unwrap_or_default();
    lists.for_each(|list| all.extend_from_slice(&list));
    all
}

/// The candidates `candidate(0..len)` for which `wants` is true; in parallel if there are many.
pub(crate) fn filter_list(
    run: &Run,
    len: usize,
    candidate: impl Fn(usize) -> VertexId + Sync,
    wants: impl Fn(VertexId) -> bool + Sync,
) -> Result<Vec<VertexId>, Stop> {
    let found = run.share_ranges::<Vec<VertexId>, Stop>(len, 1 << 13, Vec::new, |found, range| {
        found.extend(range.map(&candidate).filter(|&v| wants(v)));
        Ok(())
    })?;
    Ok(concat(found))
}
