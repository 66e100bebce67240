//! Closeness centrality: how few steps lead from the other vertices to each vertex.
//!
//! The closeness of v is (r / s) * (r / d), where s is the number of other sources, r the number of those
//! that reach v, and d the sum of their distances to v. With all vertices as sources this is the definition
//! of Wasserman and Faust [1], and that of NetworkX; with a sample it is an estimate of it [2]. On a directed
//! graph distances lead to v. Parallel edges and self-loops have no effect. The harmonic centrality of v is
//! the sum of 1 / d over the sources at distances d > 0 that reach it [4]; that of a sample is scaled to all
//! vertices.
//!
//! Breadth-first searches from 64 sources run together [3]: a bit of a word tells which of them reached a
//! vertex, so a list that several searches need in one round is read once. Counts and sums are integers, and
//! inverses are added up in the order of distances and batches, so the scores never vary.
//!
//! Work: O(n + m) per source at most, usually far less. Memory per vertex: 40 bytes (three words of bits, a
//! count, a sum) and up to four ids for the frontiers and the sources. Reads per round: as `edge_map`, the
//! lists of the frontier, or the in-lists of vertices that some search has not reached.
//!
//! [1] S. Wasserman, K. Faust, "Social Network Analysis", Cambridge University Press, 1994.
//! [2] D. Eppstein, J. Wang, "Fast Approximation of Centrality", SODA 2001.
//! [3] M. Then et al., "The More the Merrier: Efficient Multi-Source Graph Traversal", VLDB 2014.
//! [4] M. Marchiori, V. Latora, "Harmony in the small-world", Physica A 285, 2000.

use esker_graph::{Graph, Run, VertexId};

use crate::algorithm::centrality::sample::{Sources, resolve};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{ManySearches, SEARCHES_MAX, VertexValues, each_vertex};

/// What is computed of distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClosenessMeasure {
    /// The inverse of their mean, times the share of sources that reach the vertex.
    #[default]
    Classic,
    /// The sum of their inverses.
    Harmonic,
}

impl ClosenessMeasure {
    /// The score of a vertex that `reached` of `others` sources reach, for the sum of the distances or of
    /// their inverses.
    pub(super) fn score(self, others: f64, reached: f64, sum: f64) -> f64 {
        match self {
            Self::Harmonic => sum,
            Self::Classic if sum == 0.0 => 0.0,
            Self::Classic => (reached / others) * (reached / sum),
        }
    }
}

/// Options of [`closeness`]: by default, distances from all vertices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosenessOptions {
    /// The vertices from which distances are counted.
    pub sources: Sources,
    /// What is computed of them.
    pub measure: ClosenessMeasure,
}

impl ClosenessOptions {
    /// The factor of scores from a sample.
    pub fn scale(&self, num_vertices: usize, num_sources: usize) -> f64 {
        match (&self.sources, self.measure) {
            (Sources::Sample(_), ClosenessMeasure::Harmonic) => {
                num_vertices as f64 / num_sources.max(1) as f64
            }
            _ => 1.0,
        }
    }
}

impl Default for ClosenessOptions {
    fn default() -> Self {
        Self { sources: Sources::All, measure: ClosenessMeasure::Classic }
    }
}

/// Closeness scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Closeness {
    /// The score of each vertex: 0 where no other source reaches it; 1 where all do in one step, or harmonic
    /// the number of others.
    pub scores: Vec<f64>,
    /// The sources used, ascending.
    pub sources: Vec<VertexId>,
    /// Number of rounds over all batches of sources.
    pub rounds: usize,
}

/// Estimates memory and reads; both are upper bounds.
pub fn estimate(shape: Shape, options: &ClosenessOptions) -> Estimate {
    let sources = options.sources.count(shape.num_vertices);
    let id_bytes = size_of::<VertexId>() as u64;
    Estimate {
        memory_bytes: shape.num_vertices * 16 + ManySearches::bytes(shape.num_vertices) + sources * id_bytes,
        read_bytes: shape.list_bytes().saturating_mul(sources),
    }
}

/// The sums over all sources.
struct ClosenessTotals {
    /// Number of other sources that reach each vertex.
    reached: VertexValues<u64>,
    /// The sum of their distances, or the bits of that of the inverses.
    distance: VertexValues<u64>,
    measure: ClosenessMeasure,
}

impl ClosenessTotals {
    /// Adds some sources at one distance.
    fn add(&self, v: VertexId, count: u64, distance: u64) {
        self.reached.add_exclusive(v, count);
        match self.measure {
            ClosenessMeasure::Classic => self.distance.add_exclusive(v, count * distance),
            ClosenessMeasure::Harmonic => {
                let sum = f64::from_bits(self.distance.get(v)) + count as f64 / distance as f64;
                self.distance.set(v, sum.to_bits());
            }
        }
    }

    fn sum(&self, v: VertexId) -> f64 {
        match self.measure {
            ClosenessMeasure::Classic => self.distance.get(v) as f64,
            ClosenessMeasure::Harmonic => f64::from_bits(self.distance.get(v)),
        }
    }
}

/// Computes the scores.
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] if a source is not a vertex; [`esker_graph::Stop::OverBudget`]; the
/// first list that cannot be read; cancellation.
pub fn closeness<G: Graph>(graph: &G, run: &Run, options: &ClosenessOptions) -> Result<Closeness, G::Error> {
    let n = graph.num_vertices();
    let run = &run.begin("closeness", estimate(Shape::of(graph), options).memory_bytes)?;
    let mut sources = resolve(n, run.seed(), &options.sources)?;
    sources.sort_unstable();
    let totals = run.install(|| search(graph, run, &sources, options.measure))?;
    let scale = options.scale(n, sources.len());
    // In place of the sums: a score is a number of the same size.
    each_vertex(run, n, |v| {
        let own = sources.partition_point(|&s| s <= v) - sources.partition_point(|&s| s < v);
        let (others, reached) = ((sources.len() - own) as f64, totals.reached.get(v) as f64);
        let score = options.measure.score(others, reached, totals.sum(v)) * scale;
        totals.distance.set(v, score.to_bits());
    })?;
    let scores = totals.distance.into_vec().into_iter().map(f64::from_bits).collect();
    Ok(Closeness { scores, sources, rounds: run.rounds() })
}

/// Searches from all sources, batch by batch.
fn search<G: Graph>(
    graph: &G,
    run: &Run,
    sources: &[VertexId],
    measure: ClosenessMeasure,
) -> Result<ClosenessTotals, G::Error> {
    let n = graph.num_vertices();
    let zeros = || VertexValues::filled(run, n, 0);
    let totals = ClosenessTotals { reached: zeros(), distance: zeros(), measure };
    let mut searches = ManySearches::new(run, n);
    for (done, batch) in sources.chunks(SEARCHES_MAX).enumerate() {
        run.set_done((done * SEARCHES_MAX) as u64, sources.len() as u64);
        let starts: Vec<_> = batch.iter().enumerate().map(|(i, &source)| (source, i)).collect();
        searches.search(graph, run, &starts, |v, reaching, distance| {
            totals.add(v, u64::from(reaching.count_ones()), distance);
        })?;
    }
    Ok(totals)
}
