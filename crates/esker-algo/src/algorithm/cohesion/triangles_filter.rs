//! Triangle counting with a filter, within the semi-asymmetric model: nothing is copied.
//!
//! As in Sage [1]: a filter keeps the direction of each edge that leads from the end of smaller degree to the
//! end of larger degree, so no vertex keeps more than sqrt(2m) neighbours. Each triangle is found once, at
//! its vertex of least degree: its neighbours are marked, and the lists that they keep are looked up among
//! the marks.
//!
//! `triangles` is several times as fast and the default where its copy fits, or the graph is in degree order.
//! Work: O(m^1.5). Memory: the filter, m/32 words and 4 words per vertex; per thread, n/8 bytes and one id
//! per kept neighbour. Reads: every list twice, and the list of a vertex once more for each kept edge to it.
//! The result does not depend on threads.
//!
//! [1] L. Dhulipala et al., "Sage: Parallel Semi-Asymmetric Graph Algorithms for NVRAMs", VLDB 2020, appendix
//!     C.4.

use esker_graph::{Direction, Graph, Lists, Run, Select, VertexId, vertex};

use crate::algorithm::cohesion::triangles::Triangles;
use crate::estimate::{Estimate, Shape};
use crate::primitive::{Filter, FilteredDirections, filter, need_undirected};

/// Estimates memory and reads on `threads` threads. Memory is an upper bound; reads are a lower bound.
pub fn estimate(shape: Shape, threads: usize) -> Estimate {
    let (n, id) = (shape.num_vertices, size_of::<VertexId>() as u64);
    let longest = n.min((2 * shape.num_arcs).isqrt() + 1);
    // The list whose vertices are marked, and one decoded from its blocks.
    let worker = n.div_ceil(64) * 8 + 2 * longest * id;
    Estimate {
        memory_bytes: filter::memory_bytes(shape, FilteredDirections::Out) + threads as u64 * worker,
        read_bytes: 3 * shape.list_bytes(),
    }
}

/// Vertices per unit of parallel work.
const GRAIN: usize = 64;

/// The number of distinct marked entries of an ascending list.
fn marked(list: &[VertexId], marks: &[u64]) -> u64 {
    let mut last = esker_graph::NONE;
    let mut count = 0;
    for &w in list {
        count += (marks[w as usize / 64] >> (w % 64) & 1) & u64::from(w != last);
        last = w;
    }
    count
}

/// Counts the triangles of an undirected graph. Self-loops and parallel edges are ignored.
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a directed graph; [`esker_graph::Stop::OverBudget`]; the first list
/// that cannot be read; cancellation.
pub fn triangles_filter<G: Lists>(graph: &G, run: &Run) -> Result<Triangles, G::Error> {
    let run = &run.begin("triangle count", estimate(Shape::of(graph), run.threads()).memory_bytes)?;
    need_undirected(graph, "triangle count through a filter")?;
    let n = graph.num_vertices();
    run.round(n)?;
    let rank = |v: VertexId| (graph.degree(Direction::Out, v), v);
    let kept = Filter::new(graph, run, FilteredDirections::Out, Select::All, |u, v, _| rank(u) < rank(v))?;
    run.round(n)?;
    let sums = run.measured().share_ranges(
        n,
        GRAIN,
        || (0, Vec::new(), vec![0u64; n.div_ceil(64)]),
        |(sum, list, marks): &mut (u64, Vec<VertexId>, Vec<u64>), range| {
            for v in range.map(vertex).filter(|&v| kept.degree(Direction::Out, v) > 1) {
                list.clear();
                kept.with_list(Direction::Out, v, |kept, _| list.extend_from_slice(kept))?;
                list.dedup();
                list.iter().for_each(|&u| marks[u as usize / 64] |= 1 << (u % 64));
                for &u in &*list {
                    run.check()?;
                    *sum += kept.with_list(Direction::Out, u, |others, _| marked(others, marks))?;
                }
                list.iter().for_each(|&u| marks[u as usize / 64] = 0);
            }
            Ok::<(), G::Error>(())
        },
    )?;
    Ok(Triangles { triangles: sums.iter().map(|state| state.0).sum(), renumbered: false, hubs: 0 })
}
