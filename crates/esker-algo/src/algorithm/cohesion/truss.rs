//! Truss decomposition: for each edge, the largest `k` such that it is in a `k`-truss, a subgraph in which
//! every edge is in at least `k` - 2 triangles.
//!
//! Computed on the undirected simple graph that underlies a graph; an edge in no triangle has trussness 2.
//! The number of triangles of each edge (its support) is counted on lists of earlier neighbours in order of
//! descending degree, as in `triangles`. Then edges are peeled in order of support, all of one support in
//! parallel rounds [1]: removing an edge lowers the support of the other two edges of each of its triangles.
//! If two edges of a triangle are removed together, the one with the lesser number lowers the third.
//!
//! Outside the semi-asymmetric model: the result alone takes three ids per edge. State: the support of each
//! edge, with two flag bits for removed edges. Work: O(m^1.5 log n). Memory: 13 ids and one byte per edge, 24
//! bytes and seven ids per vertex, and three ids per vertex and thread. Reads: every list twice. The result
//! does not depend on threads.
//!
//! [1] H. Kabir, K. Madduri, "Shared-Memory Graph Truss Decomposition", HiPC 2017.

use esker_graph::{Lists, NONE, Run, Stop, VertexId, vertex};

use crate::algorithm::cohesion::truss_peeling::{EDGES_END, TrussEdges};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{EarlierNeighbours, Oriented, OrientedOptions, VertexArray, need_in_edges};

/// A truss decomposition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truss {
    /// The edges of the simple graph, each once.
    pub edges: Vec<(VertexId, VertexId)>,
    /// The trussness of each edge: the largest `k` of a truss that contains it.
    pub trussness: Vec<VertexId>,
    /// The largest trussness; 0 without edges.
    pub largest: VertexId,
    /// Number of triangles in the graph.
    pub triangles: u64,
    /// Number of rounds of peeling.
    pub rounds: usize,
}

/// Estimates memory and reads on `threads` threads; both are upper bounds.
pub fn estimate(shape: Shape, threads: usize) -> Estimate {
    let id = size_of::<VertexId>() as u64;
    let (n, edges) = (shape.num_vertices, if shape.directed { shape.num_arcs } else { shape.num_arcs / 2 });
    let orientation = OrientedOptions { by_degree: true, mutual: false };
    let copy = Oriented::<Stop>::memory_bytes(n, shape.num_arcs, shape.directed, orientation);
    Estimate {
        memory_bytes: copy + edges * (12 * id + 1) + n * (8 + 3 * id) + threads as u64 * n * 3 * id,
        read_bytes: shape.list_bytes() * if shape.directed { 4 } else { 2 },
    }
}

/// Vertices per unit of parallel work.
const GRAIN: usize = 64;

/// The number of triangles of each entry of the lists, in their order.
fn supports<E: EarlierNeighbours>(lists: &E, run: &Run) -> Result<VertexArray, E::Error> {
    let n = lists.num_vertices();
    let mut firsts = Vec::with_capacity(n);
    let mut total = 0;
    for v in (0..n).map(vertex) {
        firsts.push(vertex(total));
        total += lists.with_earlier(v, |earlier, _| earlier.len())?;
    }
    let support = VertexArray::filled(run, total, 0);
    let new_state = || (vec![NONE; n], Vec::new(), Vec::new(), Vec::new());
    run.measured().share_ranges(n, GRAIN, new_state, |(places, own, counts, hits), range| {
        for v in range.map(vertex) {
            run.check()?;
            own.clear();
            lists.with_earlier(v, |earlier, _| own.extend_from_slice(earlier))?;
            counts.clear();
            counts.resize(own.len(), 0);
            own.iter().enumerate().for_each(|(i, &u): (usize, &VertexId)| places[u as usize] = vertex(i));
            for (i, &u) in own.iter().enumerate() {
                let first = firsts[u as usize];
                let found = lists.with_earlier(u, |earlier, _| {
                    // Whether an entry is a common neighbour is unpredictable, so those are selected without
                    // branches.
                    hits.resize(hits.len().max(earlier.len()), (0, 0));
                    let mut found = 0;
                    for (k, &w) in earlier.iter().enumerate() {
                        let place = places[w as usize];
                        hits[found] = (k, place);
                        found += usize::from(place != NONE);
                    }
                    for &(k, place) in &hits[..found] {
                        counts[place as usize] += 1;
                        support.add(first + vertex(k), 1);
                    }
                    vertex(found)
                })?;
                counts[i] += found;
            }
            let first = firsts[v as usize];
            for (i, (&u, &count)) in own.iter().zip(&*counts).enumerate() {
                places[u as usize] = NONE;
                support.add(first + vertex(i), count);
            }
        }
        Ok::<(), E::Error>(())
    })?;
    Ok(support)
}

/// Finds the trussness of every edge.
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed graph without in-edges, or with 32-bit ids for 2^31 edges or more;
/// [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn truss<G: Lists>(graph: &G, run: &Run) -> Result<Truss, G::Error> {
    need_in_edges(graph, "truss decomposition")?;
    let edges_max = if graph.is_directed() { graph.num_arcs() } else { graph.num_arcs().div_ceil(2) };
    if edges_max >= u64::from(EDGES_END) {
        let what = format!(
            "{edges_max} edges are too many for a truss decomposition with 32-bit ids: build Esker with the feature `id64`"
        );
        return Err(Stop::unsuitable(what).into());
    }
    let run = &run.begin("truss decomposition", estimate(Shape::of(graph), run.threads()).memory_bytes)?;
    run.round(graph.num_vertices())?;
    let lists = Oriented::new(graph, run, OrientedOptions { by_degree: true, mutual: false })?;
    let supports = supports(&lists, run)?;
    let edges = TrussEdges::new(&lists, run, &supports)?;
    let triangles = supports.iter().map(|count| count as u64).sum::<u64>() / 3;
    drop(supports);
    let name = |v| lists.original(v);
    let named: Vec<_> = edges.ends.iter().map(|&(u, v)| (name(u), name(v))).collect();
    drop(lists);
    let mut trussness = run.install(|| edges.peel(run))?;
    trussness.iter_mut().for_each(|level| *level += 2);
    let largest = trussness.iter().copied().max().unwrap_or(0);
    Ok(Truss { edges: named, trussness, largest, triangles, rounds: run.rounds() })
}
