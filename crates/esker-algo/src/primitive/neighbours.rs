//! Neighbourhoods: the lists of a vertex whichever way its edges go, for problems that are about undirected graphs.
//!
//! In a directed graph the neighbourhood of a vertex is its out-list and its in-list, one after the other; what is an
//! edge both ways counts twice.

use esker_graph::{Direction, Graph, Run, Select, Stop, VertexId, Visitor};

/// A scan of fewer entries stays on the calling thread: a few tens of microseconds.
const ALONE_ENTRIES_MAX: usize = 1 << 13;

/// The lists that make up the neighbourhood of each vertex.
///
/// # Errors
/// [`Stop::Unsuitable`] if the graph is directed and kept without its in-lists.
pub(crate) fn both_ways<G: Graph>(graph: &G) -> Result<&'static [Direction], Stop> {
    if !graph.is_directed() {
        Ok(&[Direction::Out])
    } else if graph.has(Direction::In) {
        Ok(&[Direction::Out, Direction::In])
    } else {
        Err(Stop::Unsuitable(
            "the problem is about neighbours both ways, but the graph is stored without its in-edges"
                .to_owned(),
        ))
    }
}

/// Entries of the neighbourhood of `v`: parallel edges count each, a loop once in each list.
#[inline(always)]
pub(crate) fn num_entries<G: Graph>(graph: &G, ways: &[Direction], v: VertexId) -> usize {
    ways.iter().map(|&way| graph.degree(way, v)).sum()
}

/// Scans the neighbourhoods of the selected vertices, one direction after the other. The states of all workers.
///
/// # Errors
/// As [`Graph::scan`].
pub(crate) fn scan_neighbours<G: Graph, V: Visitor<G::Weight>>(
    graph: &G,
    run: &Run,
    ways: &[Direction],
    select: Select<'_>,
    visitor: &V,
) -> Result<Vec<V::State>, G::Error> {
    let mut states = Vec::new();
    for &way in ways {
        states.extend(graph.scan(run, way, select, visitor)?);
    }
    Ok(states)
}

/// Whether the neighbourhoods of `list` are so small together that one thread is done with them before another wakes up;
/// always so in a run of one thread. O(1) for long lists.
pub(crate) fn is_small<G: Graph>(graph: &G, run: &Run, ways: &[Direction], list: &[VertexId]) -> bool {
    let mut entries = list.len();
    run.threads() == 1
        || entries <= ALONE_ENTRIES_MAX
            && list.iter().all(|&v| {
                entries += num_entries(graph, ways, v);
                entries <= ALONE_ENTRIES_MAX
            })
}

/// Appends all to the first of them that is not empty, which need not be copied.
pub(crate) fn concat(lists: impl IntoIterator<Item = Vec<VertexId>>) -> Vec<VertexId> {
    let mut lists = lists.into_iter().filter(|list| !list.is_empty());
    let mut all = lists.next().unwrap_or_default();
    lists.for_each(|list| all.extend_from_slice(&list));
    all
}

/// Those of the candidates `0..len` that are wanted, in parallel if they are many.
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
