//! Closeness and harmonic centrality by the weights of edges: a search by length from each source.
//!
//! As [`super::closeness`], with lengths of shortest paths in place of steps. Distances are added up in the
//! order of the sources, so the scores never vary.
//!
//! Work: that of [`crate::algorithm::paths::sssp`] for each source. Memory: that of one search, 16 bytes a
//! vertex, and the sources. Reads: as the searches.

use esker_graph::{Graph, Run, Stop, VertexId};

use super::closeness::{Closeness, ClosenessMeasure, ClosenessOptions};
use super::sample::resolve;
use crate::algorithm::paths::sssp::{self, SsspOptions, sssp};
use crate::estimate::{Estimate, Shape};
use crate::lengths::Length;

/// Estimates memory and reads; both are upper bounds.
pub fn estimate(shape: Shape, options: &ClosenessOptions) -> Estimate {
    let search = sssp::estimate(shape, &SsspOptions::default());
    let sources = options.sources.count(shape.num_vertices);
    Estimate {
        memory_bytes: search.memory_bytes + shape.num_vertices * 16 + sources * size_of::<VertexId>() as u64,
        read_bytes: search.read_bytes.saturating_mul(sources),
    }
}

/// The sums over all sources.
struct LengthTotals {
    reached: Vec<u64>,
    /// Of distances, or of their inverses.
    distances: Vec<f64>,
}

/// Computes the scores. `number` gives a distance as a double.
///
/// # Errors
/// As [`sssp()`]: [`esker_graph::Stop::Unsuitable`] for negative lengths, sources that are not vertices, and
/// distances that add up to no finite number.
pub fn closeness_weighted<G: Graph<Weight: Length>>(
    graph: &G,
    run: &Run,
    options: &ClosenessOptions,
    number: impl Fn(<G::Weight as Length>::Distance) -> f64,
) -> Result<Closeness, G::Error> {
    let n = graph.num_vertices();
    let run = &run.begin("closeness by weight", estimate(Shape::of(graph), options).memory_bytes)?;
    let mut sources = resolve(n, run.seed(), &options.sources)?;
    sources.sort_unstable();
    let mut totals = LengthTotals { reached: vec![0; n], distances: vec![0.0; n] };
    let mut search = SsspOptions::default();
    for (done, &source) in sources.iter().enumerate() {
        run.set_done(done as u64, sources.len() as u64);
        let found = sssp(graph, run, source, &search)?;
        // The width of buckets is found once.
        search.delta = Some(found.delta).filter(|delta| *delta > 0.0);
        let distances = found.distances.into_iter().enumerate();
        for (v, distance) in distances.filter(|&(_, distance)| distance != G::Weight::UNREACHED) {
            if v != source as usize {
                let distance = number(distance);
                totals.reached[v] += 1;
                totals.distances[v] += match options.measure {
                    ClosenessMeasure::Classic => distance,
                    ClosenessMeasure::Harmonic if distance > 0.0 => 1.0 / distance,
                    ClosenessMeasure::Harmonic => 0.0,
                };
            }
        }
    }
    if totals.distances.iter().any(|sum| sum.is_infinite()) {
        let reason = "the distances to a vertex add up to more than a number of 64 bits holds";
        return Err(Stop::unsuitable(reason.to_owned()).into());
    }
    let scale = options.scale(n, sources.len());
    let score = |(v, sum): (usize, f64)| {
        let v = esker_graph::vertex(v);
        let own = sources.partition_point(|&s| s <= v) - sources.partition_point(|&s| s < v);
        let (others, reached) = ((sources.len() - own) as f64, totals.reached[v as usize] as f64);
        options.measure.score(others, reached, sum) * scale
    };
    let scores = totals.distances.into_iter().enumerate().map(score).collect();
    Ok(Closeness { scores, sources, rounds: run.rounds() })
}
