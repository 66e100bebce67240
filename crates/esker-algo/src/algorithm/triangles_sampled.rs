//! Triangle counting by samples: how many triangles an undirected graph has, within bounds, for a small part of the reading.
//!
//! Wedge sampling [1]: of all pairs of entries of one list (wedges), a number is drawn at random, and looked up whether an edge closes
//! them; three wedges of every triangle are closed. Wedges are drawn from equal parts of their range (stratified), which can only lessen
//! the variance, and taken by their middle, so that each list that is needed is read once for that and at most once to look
//! for the closing edges: at the end of lower degree. Self-loops and parallel edges do not count.
//!
//! Work O(n + samples log samples), and the lists that are read. Memory: 48 bytes a sample. Reads: at most two lists a sample, those of hubs
//! for many samples at once. The answer depends on the seed alone, never on threads.
//!
//! [1] C. Seshadhri, A. Pinar, T. Kolda, "Wedge sampling for computing clustering coefficients and triangle counts on large
//! graphs", Statistical Analysis and Data Mining 7, 2014.

use esker_graph::{Direction, Lists, Run, Stop, VertexId, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{Draws, need_undirected};

/// Standard errors on each side of an estimate that 95 % of all lie within.
const SIDE: f64 = 1.96;
/// Samples that a thread takes at a time.
const UNIT: usize = 256;

/// How many samples are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampledOptions {
    /// Wedges that are looked at. With 100 000 the error of the share of closed ones is about 0.002 at worst.
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
    /// The estimate.
    pub triangles: f64,
    /// In 95 % of all runs, the number of triangles lies between this
    pub low: f64,
    /// and this.
    pub high: f64,
    /// Pairs of entries of one list, in all lists.
    pub wedges: f64,
    /// The share of them that an edge closes, as estimated: the global clustering coefficient, if there are no parallel edges.
    pub closed: f64,
    /// Samples drawn: as many as asked for, or 0 if there is no wedge.
    pub samples: usize,
}

/// What a run will take.
pub fn estimate(shape: Shape, options: &SampledOptions) -> Estimate {
    let samples = options.samples as u64;
    let average = shape.list_bytes() / shape.num_vertices.max(1);
    Estimate {
        memory_bytes: samples * (size_of::<Drawn>() + size_of::<Query>()) as u64,
        read_bytes: shape.list_bytes().min(samples.saturating_mul(2 * average.max(4096))),
    }
}

/// Estimates the number of triangles.
///
/// # Errors
/// [`Stop::Unsuitable`] of a directed graph, or if no sample is asked for; [`Stop::OverBudget`]; the first list that cannot be read;
/// cancellation.
pub fn triangles_sampled<G: Lists>(
    graph: &G,
    run: &Run,
    options: &SampledOptions,
) -> Result<SampledTriangles, G::Error> {
    need_undirected(graph, "triangle counting by samples")?;
    if options.samples == 0 {
        return Err(Stop::Unsuitable("no samples are to be drawn: ask for at least one".to_owned()).into());
    }
    run.begin("triangle counting by samples", estimate(Shape::of(graph), options).memory_bytes)?;
    run.round(options.samples)?;
    let wedges: u128 = (0..graph.num_vertices()).map(|v| wedges_at(graph, vertex(v))).sum();
    if wedges == 0 {
        let none =
            SampledTriangles { triangles: 0.0, low: 0.0, high: 0.0, wedges: 0.0, closed: 0.0, samples: 0 };
        return Ok(none);
    }
    let draws = Draws::new(run.seed(), 0x77ed);
    let drawn = draw(graph, draws, wedges, options.samples);
    let mut queries = ends(graph, run, draws, &drawn)?;
    run.round(queries.len())?;
    queries.sort_unstable_by_key(|query| (query.end, query.other, query.sample));
    let (sum, squares) = look_up(graph, run, &queries)?;
    let count = options.samples as f64;
    let closed = sum / count;
    let variance = (squares / count - closed * closed).max(0.0);
    let side = SIDE * (variance / count).sqrt();
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

/// Pairs of entries of the list of `v`.
fn wedges_at<G: Lists>(graph: &G, v: VertexId) -> u128 {
    let degree = graph.degree(Direction::Out, v) as u128;
    degree * degree.saturating_sub(1) / 2
}

/// The middle of a wedge that was drawn, and which sample it is.
#[derive(Debug, Clone, Copy)]
struct Drawn {
    middle: VertexId,
    sample: usize,
}

/// Whether an edge joins two ends of a wedge is to be looked up in the list of `end`.
#[derive(Debug, Clone, Copy)]
struct Query {
    end: VertexId,
    other: VertexId,
    sample: usize,
    /// One by the number of times that the same two neighbours could have been drawn.
    value: f64,
}

/// Draws the middles, ascending: one from each of `samples` equal parts of all wedges.
fn draw<G: Lists>(graph: &G, draws: Draws, wedges: u128, samples: usize) -> Vec<Drawn> {
    let mut drawn = Vec::with_capacity(samples);
    let (mut v, mut passed) = (0, wedges_at(graph, 0));
    for sample in 0..samples {
        let within = draws.at(2 * sample as u64) as f64 / 2f64.powi(64);
        let part = wedges as f64 / samples as f64;
        let place = (((sample as f64 + within) * part) as u128).min(wedges - 1);
        while passed <= place {
            v += 1;
            passed += wedges_at(graph, vertex(v));
        }
        drawn.push(Drawn { middle: vertex(v), sample });
    }
    drawn
}

/// Draws the ends of each wedge from the list of its middle. What cannot be a triangle is no query.
fn ends<G: Lists>(graph: &G, run: &Run, draws: Draws, drawn: &[Drawn]) -> Result<Vec<Query>, G::Error> {
    let parts = run.share(drawn.len().div_ceil(UNIT), Vec::new, |queries, unit| {
        let unit = &drawn[unit * UNIT..drawn.len().min((unit + 1) * UNIT)];
        for group in unit.chunk_by(|a, b| a.middle == b.middle) {
            let middle = group[0].middle;
            run.check()?;
            graph.with_list(Direction::Out, middle, |list, _| {
                for &Drawn { sample, .. } in group {
                    let (i, j) = pair(draws.at(2 * sample as u64 + 1), list.len());
                    let (a, b) = (list[i], list[j]);
                    if a == b || a == middle || b == middle {
                        continue;
                    }
                    let value = 1.0 / (copies(list, a) * copies(list, b)) as f64;
                    let lower = graph.degree(Direction::Out, a) <= graph.degree(Direction::Out, b);
                    let (end, other) = if lower { (a, b) } else { (b, a) };
                    queries.push(Query { end, other, sample, value });
                }
            })?;
        }
        Ok::<_, G::Error>(())
    })?;
    Ok(parts.concat())
}

/// Two different places below `len`, which is at least 2.
fn pair(bits: u64, len: usize) -> (usize, usize) {
    let i = ((bits >> 32) * len as u64) >> 32;
    let j = ((bits & 0xffff_ffff) * (len as u64 - 1)) >> 32;
    (i as usize, (j + u64::from(j >= i)) as usize)
}

/// How often a neighbour stands in a sorted list.
fn copies(list: &[VertexId], neighbour: VertexId) -> usize {
    list.partition_point(|&v| v <= neighbour) - list.partition_point(|&v| v < neighbour)
}

/// The sum of the values of the wedges that are closed, and of their squares.
fn look_up<G: Lists>(graph: &G, run: &Run, queries: &[Query]) -> Result<(f64, f64), G::Error> {
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
    // Added up in one order, whichever thread found what.
    let mut found = found.concat();
    found.sort_unstable_by_key(|&(sample, _)| sample);
    Ok(found.iter().fold((0.0, 0.0), |(sum, squares), &(_, value)| (sum + value, squares + value * value)))
}
