//! Approximate densest subgraph: a subgraph whose density, in edges per vertex, is at least 1/(2(1 +
//! epsilon)) of the highest density of any subgraph.
//!
//! Bulk peeling [1]: each round removes all vertices whose degree is at most 1 + epsilon times the average;
//! the densest of the remaining subgraphs is the result. Each round removes a constant fraction of the
//! vertices, so there are O(log n / epsilon) rounds. A histogram lowers the degrees, reading the removed or
//! the remaining lists, whichever have fewer entries. Peeling ends early once no vertex has the degree that a
//! denser subgraph would need.
//!
//! When a vertex is removed, at most 2(1 + epsilon) D of its neighbours are removed in the same round or
//! later, where D is the density of the result. Charging each edge to the end that is removed first shows
//! that no subgraph has more edges per vertex, which proves the bound [1]. So the result includes the round
//! in which each vertex was removed.
//!
//! Edges count in both directions, parallel edges each; self-loops do not count. The result does not depend
//! on threads or timing. State: the remaining degree of each vertex, and the round of its removal. Work:
//! O(n + m), plus one pass per round while most edges remain. Memory per vertex: one id for degrees, 4 bytes
//! for rounds, 4 ids for the removed and remaining vertices, and one bit. Reads: all lists once to find
//! self-loops, then the lists of the removed or of the remaining vertices in each round.
//!
//! [1] B. Bahmani, R. Kumar, S. Vassilvitskii, "Densest Subgraph in Streaming and MapReduce", VLDB 2012.

use esker_graph::{Bitmap, Graph, Run, Stop, VertexId, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    PeelStep, VertexArray, VertexValues, concat, degrees_without_loops, need_in_edges, need_positive,
    neighbourhood_directions,
};

/// Options of [`densest`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DensestOptions {
    /// A round removes vertices of degree up to 1 + epsilon times the average; more than 0. Less means more
    /// rounds.
    pub epsilon: f64,
}

impl Default for DensestOptions {
    fn default() -> Self {
        Self { epsilon: 0.001 }
    }
}

/// A dense subgraph.
#[derive(Debug, Clone, PartialEq)]
pub struct Densest {
    /// Whether each vertex is in the subgraph.
    pub members: Vec<bool>,
    /// Number of members.
    pub size: usize,
    /// Edges per vertex in the subgraph; 0 without vertices.
    pub density: f64,
    /// An upper bound of the density of any subgraph.
    pub density_bound: f64,
    /// The round in which each vertex was removed.
    pub levels: Vec<u32>,
    /// Number of rounds.
    pub rounds: usize,
}

/// Estimates memory and reads. Memory is an upper bound; reads are typical.
pub fn estimate(shape: Shape) -> Estimate {
    let n = shape.num_vertices;
    let lists = if shape.directed { 8 } else { 4 };
    Estimate {
        memory_bytes: n * (7 * size_of::<VertexId>() as u64 + 5) + n.div_ceil(64) * 8,
        read_bytes: shape.list_bytes() * lists,
    }
}

/// The vertices that remain.
struct RemainingVertices {
    vertices: Vec<VertexId>,
    /// Sum of their degrees.
    entries: u64,
    /// Their greatest degree.
    most: u64,
}

impl RemainingVertices {
    fn all(run: &Run, n: usize, degrees: &VertexArray) -> Result<Self, Stop> {
        Self::of(run, (0..n).map(vertex).collect(), degrees)
    }

    fn of(run: &Run, vertices: Vec<VertexId>, degrees: &VertexArray) -> Result<Self, Stop> {
        let sums =
            run.share_ranges::<(u64, u64), Stop>(vertices.len(), GRAIN, Default::default, |sum, range| {
                for &v in &vertices[range] {
                    let degree = u64::from(degrees.get(v));
                    *sum = (sum.0 + degree, sum.1.max(degree));
                }
                Ok(())
            })?;
        let (entries, most) = sums.into_iter().fold((0, 0), |a, b| (a.0 + b.0, a.1.max(b.1)));
        Ok(Self { vertices, entries, most })
    }

    /// The vertices for which `is_removed` is true, and the others.
    fn split(
        self,
        run: &Run,
        is_removed: impl Fn(VertexId) -> bool + Sync,
    ) -> Result<(Vec<VertexId>, Vec<VertexId>), Stop> {
        type Lists = (Vec<VertexId>, Vec<VertexId>);
        let lists =
            run.share_ranges::<Lists, Stop>(self.vertices.len(), GRAIN, Default::default, |lists, range| {
                for &v in &self.vertices[range] {
                    if is_removed(v) { lists.0.push(v) } else { lists.1.push(v) }
                }
                Ok(())
            })?;
        let (removed, left): (Vec<_>, Vec<_>) = lists.into_iter().unzip();
        Ok((concat(removed), concat(left)))
    }
}

/// Vertices per unit of parallel work.
const GRAIN: usize = 1 << 14;

/// Finds a dense subgraph.
///
/// # Errors
/// [`Stop::Unsuitable`] if epsilon is not positive, and for a directed graph stored without in-edges;
/// [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn densest<G: Graph>(graph: &G, run: &Run, options: &DensestOptions) -> Result<Densest, G::Error> {
    let run = &run.begin("densest subgraph", estimate(Shape::of(graph)).memory_bytes)?;
    need_positive("epsilon", options.epsilon)?;
    run.install(|| peel(graph, run, options.epsilon))
}

fn peel<G: Graph>(graph: &G, run: &Run, epsilon: f64) -> Result<Densest, G::Error> {
    let n = graph.num_vertices();
    need_in_edges(graph, "densest subgraph")?;
    let directions = neighbourhood_directions(graph);
    let degrees = degrees_without_loops(graph, run, directions)?;
    let levels = VertexValues::<u32>::filled(run, n, u32::MAX);
    let removed_bits = Bitmap::new(n);
    let mut remaining = RemainingVertices::all(run, n, &degrees)?;
    let (mut best, mut best_level, mut level) = (0.0, 0, 0);
    while !remaining.vertices.is_empty() {
        run.round(remaining.vertices.len())?;
        let average = remaining.entries as f64 / remaining.vertices.len() as f64;
        if average / 2.0 > best {
            (best, best_level) = (average / 2.0, level);
        }
        let last = remaining.most as f64 / 2.0 <= best;
        let limit = if last { remaining.most } else { ((1.0 + epsilon) * average) as u64 };
        let (removed, left) = remaining.split(run, |v| u64::from(degrees.get(v)) <= limit)?;
        removed.iter().for_each(|&v| {
            levels.set(v, level);
            removed_bits.insert_alone(v);
        });
        PeelStep { removed: &removed, removed_bits: &removed_bits, remaining: &left, degrees: &degrees }
            .lower(graph, run, directions)?;
        removed.iter().for_each(|&v| removed_bits.set_word(v as usize / 64, 0));
        drop(removed);
        remaining = RemainingVertices::of(run, left, &degrees)?;
        level += 1;
    }
    let levels = levels.into_vec();
    let members: Vec<bool> = levels.iter().map(|&level| level >= best_level).collect();
    let size = members.iter().filter(|is| **is).count();
    let density_bound = 2.0 * (1.0 + epsilon) * best;
    Ok(Densest { members, size, density: best, density_bound, levels, rounds: run.rounds() })
}
