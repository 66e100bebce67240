//! Triangle counting by sampling: an estimate of the number of triangles with bounds, reading a small part of
//! the graph.
//!
//! Wedge sampling [1]: a wedge is a pair of entries of one list. Random wedges are drawn and tested for an
//! edge that closes them; each triangle closes three wedges. Wedges are drawn from equal parts of their range
//! (stratified), which can only reduce the variance. They are grouped by their middle vertex to read each
//! needed list once for drawing; the closing edge is searched at the end of lower degree, in another pass
//! that reads each list at most once. Self-loops and parallel edges do not count.
//!
//! Work: O(n + samples log samples), plus reading the lists. Memory: 48 bytes per sample. Reads: at most two
//! lists per sample; a hub's list serves many samples at once. The result depends only on the seed, not on
//! threads.
//!
//! [1] C. Seshadhri, A. Pinar, T. Kolda, "Wedge sampling for computing clustering coefficients and triangle
//! counts on large graphs", Statistical Analysis and Data Mining 7, 2014.

use esker_graph::random::RandomKey;
use esker_graph::{Direction, Lists, Run, Stop, VertexId, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::need_undirected;

/// Standard errors on each side of an estimate that contain the true value in 95 % of runs.
const Z_95: f64 = 1.96;
/// Samples per unit of parallel work.
const UNIT: usize = 256;

/// Options of [`triangles_sampled`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampledOptions {
    /// Number of wedges drawn. With 100 000, the error of the closed fraction is about 0.002 at worst.
    pub samples: usize,
}

impl Default for SampledOptions {
    fn default() -> Self {
        Self { samples: 100_000 }
    }
}

/// An estimated count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledTriangles {
    /// The estimated number of triangles.
    pub triangles: f64,
    /// The lower end of the 95 % confidence interval.
    pub low: f64,
    /// The upper end of the 95 % confidence interval.
    pub high: f64,
    /// Number of wedges, which are pairs of entries of one list.
    pub wedges: f64,
    /// The estimated fraction of closed wedges: the global clustering coefficient if there are no parallel
    /// edges.
    pub closed: f64,
    /// Samples drawn: as many as requested, or 0 if there is no wedge.
    pub samples: usize,
}

/// Estimates memory and reads. Memory is an upper bound; reads are typical.
pub fn estimate(shape: Shape, options: &SampledOptions) -> Estimate {
    let samples = options.samples as u64;
    let average = shape.list_bytes() / shape.num_vertices.max(1);
    Estimate {
        memory_bytes: samples * (size_of::<WedgeMiddle>() + size_of::<ClosingEdgeQuery>()) as u64,
        read_bytes: shape.list_bytes().min(samples.saturating_mul(2 * average.max(4096))),
    }
}

/// The number of wedges with middle `v`.
fn wedges_at<G: Lists>(graph: &G, v: VertexId) -> u128 {
    let degree = graph.degree(Direction::Out, v) as u128;
    degree * degree.saturating_sub(1) / 2
}

/// The middle of a drawn wedge, and the number of its sample.
#[derive(Debug, Clone, Copy)]
struct WedgeMiddle {
    middle: VertexId,
    sample: usize,
}

/// A search in the list of `end` for the edge to `other` that would close a wedge.
#[derive(Debug, Clone, Copy)]
struct ClosingEdgeQuery {
    end: VertexId,
    other: VertexId,
    sample: usize,
    /// One over the number of ways in which the same two neighbours could have been drawn.
    value: f64,
}

/// Draws the middles, ascending: one from each of `samples` equal parts of all wedges.
fn draw<G: Lists>(graph: &G, rng: RandomKey, wedges: u128, samples: usize) -> Vec<WedgeMiddle> {
    let mut drawn = Vec::with_capacity(samples);
    let (mut v, mut passed) = (0, wedges_at(graph, 0));
    for sample in 0..samples {
        let within = rng.at(2 * sample as u64) as f64 / 2f64.powi(64);
        let part = wedges as f64 / samples as f64;
        let place = (((sample as f64 + within) * part) as u128).min(wedges - 1);
        while passed <= place {
            v += 1;
            passed += wedges_at(graph, vertex(v));
        }
        drawn.push(WedgeMiddle { middle: vertex(v), sample });
    }
    drawn
}

/// Draws the ends of each wedge from the list of its middle. Wedges that cannot be in a triangle make no
/// query.
fn ends<G: Lists>(
    graph: &G,
    run: &Run,
    rng: RandomKey,
    drawn: &[WedgeMiddle],
) -> Result<Vec<ClosingEdgeQuery>, G::Error> {
    let parts = run.share(drawn.len().div_ceil(UNIT), Vec::new, |queries, unit| {
        let unit = &drawn[unit * UNIT..drawn.len().min((unit + 1) * UNIT)];
        for group in unit.chunk_by(|a, b| a.middle == b.middle) {
            let middle = group[0].middle;
            run.check()?;
            graph.with_list(Direction::Out, middle, |list, _| {
                for &WedgeMiddle { sample, .. } in group {
                    let (i, j) = pair(rng.at(2 * sample as u64 + 1), list.len());
                    let (a, b) = (list[i], list[j]);
                    if a == b || a == middle || b == middle {
                        continue;
                    }
                    let value = 1.0 / (copies(list, a) * copies(list, b)) as f64;
                    let lower = graph.degree(Direction::Out, a) <= graph.degree(Direction::Out, b);
                    let (end, other) = if lower { (a, b) } else { (b, a) };
                    queries.push(ClosingEdgeQuery { end, other, sample, value });
                }
            })?;
        }
        Ok::<_, G::Error>(())
    })?;
    Ok(parts.concat())
}

/// Two different indices below `len`, which must be at least 2.
fn pair(bits: u64, len: usize) -> (usize, usize) {
    let i = ((bits >> 32) * len as u64) >> 32;
    let j = ((bits & 0xffff_ffff) * (len as u64 - 1)) >> 32;
    (i as usize, (j + u64::from(j >= i)) as usize)
}

/// The number of times that a neighbour occurs in a sorted list.
fn copies(list: &[VertexId], neighbour: VertexId) -> usize {
    list.partition_point(|&v| v <= neighbour) - list.partition_point(|&v| v < neighbour)
}

/// The sum of the values of the closed wedges, and the sum of their squares.
fn look_up<G: Lists>(graph: &G, run: &Run, queries: &[ClosingEdgeQuery]) -> Result<(f64, f64), G::Error> {
    let found = run.share(queries.len().div_ceil(UNIT), Vec::new, |found, unit| {
        let unit = &queries[unit * UNIT..queries.len().min((unit + 1) * UNIT)];
        for group in unit.chunk_by(|a, b| a.end == b.end) {
            run.check()?;
            graph.with_list(Direction::Out, group[0].end, |list, _| {
                let closed = group.iter().filter(|query| list.binary_search(&query.other).is_ok());
                found.extend(closed.map(|query| (query.sample, query.value)));
            })?;
        }
        Ok::<_, G::Error>(())
    })?;
    // Added in order of samples, so that the sum does not depend on threads.
    let mut found = found.concat();
    found.sort_unstable_by_key(|&(sample, _)| sample);
    Ok(found.iter().fold((0.0, 0.0), |(sum, squares), &(_, value)| (sum + value, squares + value * value)))
}

/// Estimates the number of triangles.
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed graph, or if no samples are requested; [`Stop::OverBudget`]; the first
/// list that cannot be read; cancellation.
pub fn triangles_sampled<G: Lists>(
    graph: &G,
    run: &Run,
    options: &SampledOptions,
) -> Result<SampledTriangles, G::Error> {
    need_undirected(graph, "triangle counting by samples")?;
    if options.samples == 0 {
        return Err(Stop::unsuitable("the number of samples is 0 but must be at least 1".to_owned()).into());
    }
    let run = &run.begin("triangle counting by samples", estimate(Shape::of(graph), options).memory_bytes)?;
    run.round(options.samples)?;
    let wedges: u128 = (0..graph.num_vertices()).map(|v| wedges_at(graph, vertex(v))).sum();
    if wedges == 0 {
        let none =
            SampledTriangles { triangles: 0.0, low: 0.0, high: 0.0, wedges: 0.0, closed: 0.0, samples: 0 };
        return Ok(none);
    }
    let rng = RandomKey::new(run.seed(), 0x77ed);
    let drawn = draw(graph, rng, wedges, options.samples);
    let mut queries = ends(graph, run, rng, &drawn)?;
    run.round(queries.len())?;
    queries.sort_unstable_by_key(|query| (query.end, query.other, query.sample));
    let (sum, squares) = look_up(graph, run, &queries)?;
    let count = options.samples as f64;
    let closed = sum / count;
    let variance = (squares / count - closed * closed).max(0.0);
    let side = Z_95 * (variance / count).sqrt();
    let all = wedges as f64;
    let of = |share: f64| all * share.clamp(0.0, 1.0) / 3.0;
    Ok(SampledTriangles {
        triangles: of(closed),
        low: of(closed - side),
        high: of(closed + side),
        wedges: all,
        closed,
        samples: options.samples,
    })
}
