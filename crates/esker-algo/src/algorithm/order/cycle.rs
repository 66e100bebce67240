//! A shortest cycle.
//!
//! A cycle is a path of edges that ends where it began; an edge from a vertex to itself is one. In an
//! undirected graph each edge is a cycle of two arcs.
//!
//! A self-loop, and a pair of opposite edges, are found by passes over all lists in parallel. Longer ones by
//! searches: from each vertex in turn, at most as far as a cycle would be shorter than the best one known.
//! After its search a vertex is removed, since all of its cycles are known, and so are all vertices that no
//! cycle can pass any more, because no edge leads to them or from them [1]. So a graph of few cycles takes
//! little more than O(n + m). One thread searches.
//!
//! Work: O(n + m), and for each vertex that is left its vicinity of less than the length of the cycle; O(n m)
//! at worst. Memory: 7 ids a vertex, and an id for each entry of the longest list and thread. Reads: both
//! lists of each vertex twice, then those of the searches.
//!
//! [1] A. Itai, M. Rodeh, "Finding a minimum circuit in a graph", SIAM J. Comput. 7(4), 1978.

use esker_graph::{Direction, Lists, NONE, Run, VertexId, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{VertexArray, need_in_edges};

/// Vertices that threads take at once.
const GRAIN: usize = 1 << 8;
/// Vertices between two checks for cancellation.
const UNCHECKED: usize = 1 << 8;

/// Estimates memory, an upper bound, and reads without those of searches.
pub fn estimate(shape: Shape, threads: usize) -> Estimate {
    let (n, id) = (shape.num_vertices, size_of::<VertexId>() as u64);
    let lists = (threads as u64 + 1) * n.max(1).min(shape.num_arcs) * id;
    Estimate { memory_bytes: n * 7 * id + 2 * lists, read_bytes: 4 * shape.list_bytes() }
}

/// Finds a shortest cycle: its vertices in order, from the least one on. Empty if there is none.
///
/// ```
/// use esker_algo::algorithm::order::cycle::cycle;
/// use esker_graph::{Csr, Run};
///
/// let edges = [(0, 1, ()), (1, 2, ()), (2, 3, ()), (3, 0, ()), (2, 4, ()), (4, 1, ())];
/// let csr = Csr::directed(5, &edges)?;
/// assert_eq!(cycle(&csr.graph(), &Run::with_threads(2)?)?, [1, 2, 4]);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a directed graph stored without in-edges;
/// [`esker_graph::Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn cycle<G: Lists>(graph: &G, run: &Run) -> Result<Vec<VertexId>, G::Error> {
    let run = &run.begin("cycle", estimate(Shape::of(graph), run.threads()).memory_bytes)?;
    need_in_edges(graph, "a shortest cycle")?;
    run.round(graph.num_vertices())?;
    if let Some(v) = least(graph, run, |list, v| list.binary_search(&v).is_ok().then_some(v))? {
        return Ok(vec![v.0]);
    }
    if let Some((u, v)) = mutual(graph, run)? {
        return Ok(vec![u, v]);
    }
    run.round(graph.num_vertices())?;
    let mut search = CycleSearch::new(graph, run);
    let best = search.find()?;
    let first = best.iter().enumerate().min_by_key(|&(_, &v)| v).map_or(0, |(at, _)| at);
    Ok([&best[first..], &best[..first]].concat())
}

/// The least vertex for whose out-list `pick` finds something, with what it finds.
fn least<G: Lists>(
    graph: &G,
    run: &Run,
    pick: impl Fn(&[VertexId], VertexId) -> Option<VertexId> + Sync,
) -> Result<Option<(VertexId, VertexId)>, G::Error> {
    let found = run.share_ranges(
        graph.num_vertices(),
        GRAIN,
        || None,
        |least, range| {
            for v in range.map(vertex) {
                if least.is_some_and(|(least, _)| least < v) {
                    continue;
                }
                if let Some(u) = graph.with_list(Direction::Out, v, |list, _| pick(list, v))? {
                    *least = Some((v, u));
                }
            }
            Ok::<(), G::Error>(())
        },
    )?;
    Ok(found.into_iter().flatten().min())
}

/// The least pair of vertices with an edge in each direction.
fn mutual<G: Lists>(graph: &G, run: &Run) -> Result<Option<(VertexId, VertexId)>, G::Error> {
    let new_state = || (None::<(VertexId, VertexId)>, Vec::new());
    let found = run.share_ranges(graph.num_vertices(), GRAIN, new_state, |(least, list), range| {
        for v in range.map(vertex) {
            if least.is_some_and(|(least, _)| least < v) {
                continue;
            }
            graph.with_list(Direction::Out, v, |out, _| {
                list.clear();
                list.extend_from_slice(out);
            })?;
            let both = graph.with_list(Direction::In, v, |into, _| {
                into.iter().copied().find(|u| list.binary_search(u).is_ok())
            })?;
            if let Some(u) = both {
                *least = Some((v, u));
            }
        }
        Ok::<(), G::Error>(())
    })?;
    Ok(found.into_iter().filter_map(|(least, _)| least).min())
}

/// The searches. The graph has no self-loops.
struct CycleSearch<'a, G> {
    graph: &'a G,
    run: &'a Run,
    /// Edges to each vertex, and from it, whose other end is left; [`NONE`] for a vertex that is removed.
    arriving: Vec<VertexId>,
    leaving: Vec<VertexId>,
    /// The last search that came to each vertex, and from where.
    seen: Vec<VertexId>,
    parents: Vec<VertexId>,
    /// The vertices of a search in order, or those to be removed.
    queue: Vec<VertexId>,
    list: Vec<VertexId>,
}

impl<'a, G: Lists> CycleSearch<'a, G> {
    fn new(graph: &'a G, run: &'a Run) -> Self {
        let n = graph.num_vertices();
        let degrees = |one| VertexArray::from_fn(run, n, |v| vertex(graph.degree(one, vertex(v)))).into_vec();
        Self {
            graph,
            run,
            arriving: degrees(Direction::In),
            leaving: degrees(Direction::Out),
            seen: vec![NONE; n],
            parents: vec![NONE; n],
            queue: Vec::new(),
            list: Vec::new(),
        }
    }

    fn find(&mut self) -> Result<Vec<VertexId>, G::Error> {
        let n = self.graph.num_vertices();
        for v in (0..n).map(vertex) {
            if self.arriving[v as usize] == 0 || self.leaving[v as usize] == 0 {
                self.remove(v)?;
            }
        }
        let mut best = Vec::new();
        for v in (0..n).map(vertex) {
            if (v as usize).is_multiple_of(UNCHECKED) {
                self.run.check()?;
            }
            if self.arriving[v as usize] == NONE {
                continue;
            }
            if let Some(cycle) = self.from(v, if best.is_empty() { n } else { best.len() - 1 })? {
                best = cycle;
                // Shorter ones were looked for before.
                if best.len() == 3 {
                    break;
                }
            }
            self.remove(v)?;
        }
        Ok(best)
    }

    fn read(&mut self, direction: Direction, v: VertexId) -> Result<(), G::Error> {
        let list = &mut self.list;
        self.graph.with_list(direction, v, |found, _| {
            list.clear();
            list.extend_from_slice(found);
        })
    }

    /// The shortest cycle through `source` of at most `most` edges.
    fn from(&mut self, source: VertexId, most: usize) -> Result<Option<Vec<VertexId>>, G::Error> {
        self.queue.clear();
        self.queue.push(source);
        self.seen[source as usize] = source;
        let (mut at, mut level_end, mut length) = (0, 1, 1);
        while at < self.queue.len() && length <= most {
            let u = self.queue[at];
            self.read(Direction::Out, u)?;
            for &w in &self.list {
                if w == source {
                    return Ok(Some(self.path(source, u)));
                }
                if self.arriving[w as usize] != NONE && self.seen[w as usize] != source {
                    self.seen[w as usize] = source;
                    self.parents[w as usize] = u;
                    self.queue.push(w);
                }
            }
            at += 1;
            if at.is_multiple_of(UNCHECKED) {
                self.run.check()?;
            }
            if at == level_end {
                (level_end, length) = (self.queue.len(), length + 1);
            }
        }
        Ok(None)
    }

    /// The path from `source` to `last` that the search took.
    fn path(&self, source: VertexId, last: VertexId) -> Vec<VertexId> {
        let mut path = vec![last];
        while path[path.len() - 1] != source {
            path.push(self.parents[path[path.len() - 1] as usize]);
        }
        path.reverse();
        path
    }

    /// Removes a vertex, and those that no cycle passes without it.
    fn remove(&mut self, v: VertexId) -> Result<(), G::Error> {
        if self.arriving[v as usize] == NONE {
            return Ok(());
        }
        self.queue.clear();
        self.queue.push(v);
        self.arriving[v as usize] = NONE;
        let mut done: usize = 0;
        while let Some(v) = self.queue.pop() {
            for direction in [Direction::Out, Direction::In] {
                self.read(direction, v)?;
                for &u in &self.list {
                    if self.arriving[u as usize] == NONE {
                        continue;
                    }
                    let edges =
                        if direction == Direction::Out { &mut self.arriving } else { &mut self.leaving };
                    edges[u as usize] -= 1;
                    if edges[u as usize] == 0 {
                        self.arriving[u as usize] = NONE;
                        self.queue.push(u);
                    }
                }
            }
            done += 1;
            if done.is_multiple_of(UNCHECKED) {
                self.run.check()?;
            }
        }
        Ok(())
    }
}
