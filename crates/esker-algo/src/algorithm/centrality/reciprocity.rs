//! Reciprocity: the share of edges that have an edge back.
//!
//! That of a vertex is the share of its neighbours, those in front of it and those behind it counted each,
//! that are both; that of the graph is the share of its arcs that have an arc back. Self-loops and parallel
//! edges change nothing. Each edge of an undirected graph has one back.
//!
//! Work O(n + m). Memory: 8 bytes a vertex, and the longest list for each thread. Reads: both lists of each
//! vertex, in the order of vertices.

use esker_graph::{Direction, Lists, Run, VertexId, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{VertexValues, need_in_edges};

/// The reciprocity of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Reciprocity {
    /// That of each vertex; NaN for one without neighbours.
    pub shares: Vec<f64>,
    /// That of the graph; 0 without edges.
    pub overall: f64,
}

/// Vertices that threads take at once.
const GRAIN: usize = 1 << 8;

/// Estimates memory, an upper bound, and reads, which are exact.
pub fn estimate(shape: Shape, threads: usize) -> Estimate {
    let lists = threads as u64 * shape.num_vertices.min(shape.num_arcs) * size_of::<VertexId>() as u64;
    Estimate { memory_bytes: shape.num_vertices * 8 + lists, read_bytes: 2 * shape.list_bytes() }
}

/// What a worker counted.
#[derive(Default)]
struct Arcs {
    all: u64,
    mutual: u64,
    /// The distinct out-neighbours of a vertex.
    list: Vec<VertexId>,
}

impl Arcs {
    fn take_out(&mut self, v: VertexId, list: &[VertexId]) {
        self.list.clear();
        self.list.extend(list.iter().copied().filter(|&u| u != v));
        self.list.dedup();
    }

    /// The distinct in-neighbours, and those of them that are out-neighbours.
    fn meet(&self, v: VertexId, list: &[VertexId]) -> (u64, u64) {
        let (mut distinct, mut both, mut at, mut last) = (0, 0, 0, v);
        for &u in list.iter().filter(|&&u| u != v) {
            if u == last {
                continue;
            }
            (last, distinct) = (u, distinct + 1);
            at += self.list[at..].partition_point(|&w| w < u);
            both += u64::from(self.list.get(at) == Some(&u));
        }
        (distinct, both)
    }
}

/// Finds the reciprocity of every vertex and of the graph.
///
/// ```
/// use esker_algo::algorithm::centrality::reciprocity::reciprocity;
/// use esker_graph::{Csr, Run};
///
/// let csr = Csr::directed(3, &[(0, 1, ()), (1, 0, ()), (1, 2, ())])?;
/// let found = reciprocity(&csr.graph(), &Run::with_threads(2)?)?;
/// assert_eq!(found.shares, [1.0, 2.0 / 3.0, 0.0]);
/// assert_eq!(found.overall, 2.0 / 3.0);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a directed graph stored without in-edges;
/// [`esker_graph::Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn reciprocity<G: Lists>(graph: &G, run: &Run) -> Result<Reciprocity, G::Error> {
    let run = &run.begin("reciprocity", estimate(Shape::of(graph), run.threads()).memory_bytes)?;
    need_in_edges(graph, "reciprocity")?;
    let n = graph.num_vertices();
    run.round(n)?;
    let shares = VertexValues::filled(run, n, f64::NAN);
    let counted = run.share_ranges(n, GRAIN, Arcs::default, |arcs, range| {
        for v in range.map(vertex) {
            graph.with_list(Direction::Out, v, |list, _| arcs.take_out(v, list))?;
            let (distinct, both) = graph.with_list(Direction::In, v, |list, _| arcs.meet(v, list))?;
            let out = arcs.list.len() as u64;
            if out + distinct > 0 {
                shares.set(v, 2.0 * both as f64 / (out + distinct) as f64);
            }
            (arcs.all, arcs.mutual) = (arcs.all + out, arcs.mutual + both);
        }
        Ok::<(), G::Error>(())
    })?;
    let [all, mutual]: [u64; 2] =
        [counted.iter().map(|arcs| arcs.all).sum(), counted.iter().map(|arcs| arcs.mutual).sum()];
    Ok(Reciprocity { shares: shares.into_vec(), overall: mutual as f64 / all.max(1) as f64 })
}
