//! Approximate densest subgraph: a part of the graph with at least 1/(2(1 + epsilon)) of the most edges a vertex that any part has.
//!
//! Peeling in bulk [1]: as long as vertices remain, all go whose degree is at most 1 + epsilon times the average; the densest
//! of the remainders is the answer. Since a share of the vertices goes each time, rounds are O(log n / epsilon). Degrees
//! are lowered by a histogram, from the side of those that go or of those that remain, whichever has fewer edges.
//! The end comes early if no vertex has the degree that a denser part would need.
//!
//! Each vertex had, when it went, at most 2(1 + epsilon) times the density of the answer in neighbours that went with it or later;
//! any part of the graph has no more edges than its vertices have such neighbours, which proves the bound [1]. So the answer
//! tells in which round each vertex went.
//!
//! Edges count whichever way they go, parallel ones each; loops do not. The answer does not depend on threads or timing.
//! Work O(n + m) and, while most edges remain, another pass for each round. Memory, ids a vertex: degrees, rounds, 4 for who remains and goes; and a bit. Reads:
//! all lists once for loops, then each round the lists of those that go, or of those that remain.
//!
//! [1] B. Bahmani, R. Kumar, S. Vassilvitskii, "Densest Subgraph in Streaming and MapReduce", VLDB 2012.

use esker_graph::{Bitmap, Graph, Run, Stop, VertexId, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{Peeled, VertexArray, VertexValues, both_ways, concat, degrees_without_loops};

/// How close an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DensestOptions {
    /// How far above the average the degrees of those that go may lie; more than 0. Less makes for more rounds.
    pub epsilon: f64,
}

impl Default for DensestOptions {
    fn default() -> Self {
        Self { epsilon: 0.001 }
    }
}

/// A dense part of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Densest {
    /// Whether each vertex is in the part.
    pub members: Vec<bool>,
    /// Number of members.
    pub size: usize,
    /// Edges among the members for each of them; 0 without vertices.
    pub density: f64,
    /// No part has more edges a vertex than this.
    pub density_bound: f64,
    /// The round in which each vertex went.
    pub levels: Vec<u32>,
    /// Rounds.
    pub rounds: usize,
}

/// What the search will take; the reading is what is common.
pub fn estimate(shape: Shape) -> Estimate {
    let n = shape.num_vertices;
    let lists = if shape.directed { 8 } else { 4 };
    Estimate {
        memory_bytes: n * (7 * size_of::<VertexId>() as u64 + 5) + n.div_ceil(64) * 8,
        read_bytes: shape.list_bytes() * lists,
    }
}

/// Finds a dense part.
///
/// # Errors
/// [`Stop::Unsuitable`] for an epsilon that is not positive, and for a directed graph that is kept without its in-edges;
/// [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn densest<G: Graph>(graph: &G, run: &Run, options: &DensestOptions) -> Result<Densest, G::Error> {
    run.begin("densest subgraph", estimate(Shape::of(graph)).memory_bytes)?;
    if !(options.epsilon > 0.0 && options.epsilon.is_finite()) {
        return Err(
            Stop::Unsuitable(format!("epsilon is {} but must be more than 0", options.epsilon)).into()
        );
    }
    run.install(|| peel(graph, run, options.epsilon))
}

fn peel<G: Graph>(graph: &G, run: &Run, epsilon: f64) -> Result<Densest, G::Error> {
    let n = graph.num_vertices();
    let ways = both_ways(graph)?;
    let degrees = degrees_without_loops(graph, run, ways)?;
    let levels = VertexValues::<u32>::filled(run, n, u32::MAX);
    let taken_bits = Bitmap::new(n);
    let mut remaining = Remaining::all(run, n, &degrees)?;
    let (mut best, mut best_level, mut level) = (0.0, 0, 0);
    while !remaining.vertices.is_empty() {
        run.round(remaining.vertices.len())?;
        let average = remaining.entries as f64 / remaining.vertices.len() as f64;
        if average / 2.0 > best {
            (best, best_level) = (average / 2.0, level);
        }
        let last = remaining.most as f64 / 2.0 <= best;
        let limit = if last { remaining.most } else { ((1.0 + epsilon) * average) as u64 };
        let (taken, left) = remaining.split(run, |v| u64::from(degrees.get(v)) <= limit)?;
        taken.iter().for_each(|&v| {
            levels.set(v, level);
            taken_bits.insert_alone(v);
        });
        Peeled { taken: &taken, taken_bits: &taken_bits, remaining: &left, degrees: &degrees }
            .lower(graph, run, ways)?;
        taken.iter().for_each(|&v| taken_bits.set_word(v as usize / 64, 0));
        drop(taken);
        remaining = Remaining::of(run, left, &degrees)?;
        level += 1;
    }
    let levels = levels.into_vec();
    let members: Vec<bool> = levels.iter().map(|&level| level >= best_level).collect();
    let size = members.iter().filter(|is| **is).count();
    let density_bound = 2.0 * (1.0 + epsilon) * best;
    Ok(Densest { members, size, density: best, density_bound, levels, rounds: run.rounds() })
}

/// The vertices that remain.
struct Remaining {
    vertices: Vec<VertexId>,
    /// The sum of their degrees.
    entries: u64,
    /// The greatest of these.
    most: u64,
}

impl Remaining {
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

    /// Those for which `goes` holds, and the others.
    fn split(
        self,
        run: &Run,
        goes: impl Fn(VertexId) -> bool + Sync,
    ) -> Result<(Vec<VertexId>, Vec<VertexId>), Stop> {
        type Lists = (Vec<VertexId>, Vec<VertexId>);
        let lists =
            run.share_ranges::<Lists, Stop>(self.vertices.len(), GRAIN, Default::default, |lists, range| {
                for &v in &self.vertices[range] {
                    if goes(v) { lists.0.push(v) } else { lists.1.push(v) }
                }
                Ok(())
            })?;
        let (taken, left): (Vec<_>, Vec<_>) = lists.into_iter().unzip();
        Ok((concat(taken), concat(left)))
    }
}

/// Vertices that a worker takes at a time.
const GRAIN: usize = 1 << 14;
