//! Shortest paths from one source over edges with lengths.
//!
//! Delta-stepping (file `delta_stepping.rs`). The distances are a least fixed point: they do not depend on
//! threads or timing, and integers are exact. Lengths of 32-bit integers are added in 32 bits, and again in
//! 64 if that overflows; shortest paths of 2^63 - 1 or more are an error, and so are doubles that overflow.
//! Parents, if requested, are the least among those with the fewest edges from the source.
//!
//! With a target, the search ends once its bucket is settled. Then the answer is that of the whole search,
//! where every vertex farther away counts as unreached.
//!
//! Work: O(n + m) for random lengths. Memory per vertex: 4 to 8 bytes for distances, 8 for the result, about
//! nine ids for buckets (a vertex is in at most `BINS` of them, usually in two, each time with a distance).
//! Reads: the list of each reached vertex once or a few times; in-lists when pulling.

use std::cmp::Ordering;

use esker_graph::{Direction, Flow, Graph, NONE, Piece, Run, Select, Stop, VertexId, Visitor, vertex};

use crate::algorithm::paths::bfs::{BfsOptions, bfs};
use crate::algorithm::paths::delta_bins::{BINS, DistanceFault};
use crate::algorithm::paths::delta_stepping::{DeltaStepping, SearchEnds};
use crate::algorithm::paths::relaxation::tight_tree;
use crate::estimate::{Estimate, Shape};
use crate::lengths::Length;
use crate::primitive::{need_positive, need_source, need_target};

/// Options of [`sssp`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SsspOptions {
    /// Width of a bucket; `None`: chosen from a sample of lengths and degrees. The distances do not depend on
    /// it.
    pub delta: Option<f64>,
    /// Whether to return parents. They take one more pass over the lists.
    pub parents: bool,
    /// The search stops at the distance of this vertex; vertices farther away count as unreached. `None`: no
    /// target.
    pub target: Option<VertexId>,
}

/// Distances from a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Sssp<W: Length> {
    /// The length of the shortest path to each vertex; [`Length::UNREACHED`] where there is none.
    pub distances: Vec<W::Distance>,
    /// The previous vertex on a shortest path to each vertex: the source itself for the source, [`NONE`] if
    /// unreached. `None` unless requested.
    pub parents: Option<Vec<VertexId>>,
    /// Number of vertices reached, including the source.
    pub reached: usize,
    /// The width of a bucket used.
    pub delta: f64,
    /// Number of buckets settled; a refilled bucket counts again.
    pub rounds: usize,
}

/// Estimates memory and reads. Memory is an upper bound with distances of 32 bits; with wider ones, entries
/// of buckets take twice as much, and it is what searches took at most on uniform, road-like and grid graphs.
/// Reads are the expected amount.
pub fn estimate(shape: Shape, options: &SsspOptions) -> Estimate {
    let id_bytes = size_of::<VertexId>() as u64;
    let ids = 9 + 2 * u64::from(options.parents);
    Estimate {
        memory_bytes: shape.num_vertices * (16 + ids * id_bytes) + shape.num_vertices.div_ceil(64) * 8 * 2,
        read_bytes: shape.weighted_list_bytes() * (2 + u64::from(options.parents)),
    }
}

fn negative() -> Stop {
    Stop::unsuitable(
        "cannot compute shortest paths: an edge has a length that is negative or not a number; bellman-ford allows \
         negative lengths"
            .to_owned(),
    )
}

/// Distances in a graph without weights, by breadth-first search.
fn hops<G: Graph<Weight: Length>>(
    graph: &G,
    run: &Run,
    source: VertexId,
    options: &SsspOptions,
) -> Result<Sssp<G::Weight>, G::Error> {
    let of_steps = BfsOptions { target: options.target, parents: false, ..BfsOptions::default() };
    let found = bfs(graph, run, &[source], &of_steps)?;
    let distance = |&depth: &VertexId| {
        if depth == NONE { G::Weight::UNREACHED } else { G::Weight::of_steps(depth.into()) }
    };
    let depths = found.depths.as_deref().unwrap_or_default();
    let tight = |u: VertexId, v: VertexId, _| depths[v as usize] == depths[u as usize] + 1;
    // The parents of a breadth-first search depend on timing.
    let parents = if options.parents { Some(tight_tree(graph, run, source, tight)?) } else { None };
    Ok(Sssp {
        distances: depths.iter().map(distance).collect(),
        parents,
        reached: found.reached,
        delta: 1.0,
        rounds: found.rounds,
    })
}

/// Whether an edge that is not infinitely long leads from a vertex that was reached to one that was not,
/// because the sum overflowed.
fn leads_on<G: Graph<Weight: Length>>(
    graph: &G,
    run: &Run,
    distances: &[<G::Weight as Length>::Distance],
) -> Result<bool, G::Error> {
    let found = graph.scan(run, Direction::Out, Select::All, &LeadsOn::<G::Weight> { distances })?;
    Ok(found.contains(&true))
}

/// Finds edges that lead from a vertex with a distance to one without.
struct LeadsOn<'a, W: Length> {
    distances: &'a [W::Distance],
}

impl<W: Length> Visitor<W> for LeadsOn<'_, W> {
    type State = bool;

    const BOXED: bool = true;

    fn new_state(&self) -> bool {
        false
    }

    fn wants(&self, v: VertexId) -> bool {
        self.distances[v as usize] != W::UNREACHED
    }

    fn visit(&self, leads_on: &mut bool, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let mut edges = piece.targets.iter().zip(piece.weights);
        *leads_on |= self.wants(v)
            && edges.any(|(&to, edge)| {
                self.distances[to as usize] == W::UNREACHED && edge.to_f64() < f64::INFINITY
            });
        if *leads_on { Flow::Enough } else { Flow::More }
    }
}

/// The default width of a bucket, from the lengths and degrees of a sample of about 1000 vertices: a vertex
/// of average degree has [`LIGHT_EDGES`] edges no longer than a window, if it has that many edges.
fn default_delta<G: Graph<Weight: Length>>(graph: &G, run: &Run) -> Result<f64, G::Error> {
    let n = graph.num_vertices();
    let count = n.min(1000);
    let places = (0..count).map(|i| vertex((i as u128 * n as u128 / count as u128) as usize));
    let list: Vec<_> = places.filter(|&v| graph.degree(Direction::Out, v) > 0).collect();
    let with_edges = n as f64 * list.len() as f64 / count as f64;
    let degree = graph.num_arcs() as f64 / with_edges.max(1.0);
    let sampled = graph.scan(run, Direction::Out, Select::List(&list), &SampleLengths)?;
    let lengths = chosen(sampled.concat());
    let count = lengths.len() as f64;
    // Parts, whose sum is finite.
    let mean: f64 = lengths.iter().map(|length| length / count).sum();
    let fill = LIGHT_EDGES / degree.max(1.0);
    // Where vertices have few edges, so have buckets few vertices: wider ones make fewer rounds, and leave
    // something for each thread.
    let spread = 2.0 * run.threads().min(SPREAD_MAX) as f64;
    let window = 2.0 * mean * if fill > 1.0 { fill * fill * spread } else { fill };
    Ok(if window > 0.0 { window.min(f64::MAX) / BINS as f64 } else { 1.0 })
}

/// Light edges of a vertex of average degree.
const LIGHT_EDGES: f64 = 8.0;
/// Buckets are made wider for no more threads than this: in wide ones, vertices are settled that come nearer
/// later.
const SPREAD_MAX: usize = 4;

/// Edges of a sampled vertex whose lengths count: those to the smallest neighbours, which do not depend on
/// how threads share a list.
const SAMPLED_EDGES: usize = 64;

/// An edge of a sampled vertex.
#[derive(Debug, Clone, Copy)]
struct SampledEdge {
    from: VertexId,
    to: VertexId,
    length: f64,
}

impl SampledEdge {
    fn order(&self, other: &Self) -> Ordering {
        let ends = |edge: &Self| (edge.from, edge.to);
        ends(self).cmp(&ends(other)).then(self.length.total_cmp(&other.length))
    }
}

/// The lengths that count, in one order: the sum of the same numbers in another order may differ.
fn chosen(mut edges: Vec<SampledEdge>) -> Vec<f64> {
    edges.sort_unstable_by(SampledEdge::order);
    let lists = edges.chunk_by(|a, b| a.from == b.from);
    let counted = lists.flat_map(|list| list.iter().take(SAMPLED_EDGES));
    counted.map(|edge| edge.length).filter(|length| length.is_finite() && *length >= 0.0).collect()
}

/// Collects some edges of the sampled vertices.
struct SampleLengths;

impl<W: Length> Visitor<W> for SampleLengths {
    type State = Vec<SampledEdge>;

    const BOXED: bool = true;

    fn new_state(&self) -> Vec<SampledEdge> {
        Vec::new()
    }

    fn visit(&self, edges: &mut Vec<SampledEdge>, from: VertexId, piece: Piece<'_, W>) -> Flow {
        let before = edges.len();
        let found = piece.targets.iter().zip(piece.weights);
        edges.extend(found.map(|(&to, weight)| SampledEdge { from, to, length: weight.to_f64() }));
        let found = &mut edges[before..];
        if found.len() > SAMPLED_EDGES {
            found.select_nth_unstable_by(SAMPLED_EDGES - 1, SampledEdge::order);
            edges.truncate(before + SAMPLED_EDGES);
        }
        // Of a list that threads share, each would stop somewhere else.
        if piece.exclusive { Flow::Enough } else { Flow::More }
    }
}

/// Computes the distances from `source`. Without weights, every edge has length 1.
///
/// ```
/// use esker_algo::algorithm::paths::sssp::{SsspOptions, sssp};
/// use esker_graph::{Csr, Run};
///
/// let csr = Csr::directed(4, &[(0, 1, 4.0), (0, 2, 1.0), (2, 1, 2.0)])?;
/// let found = sssp(&csr.graph(), &Run::with_threads(2)?, 0, &SsspOptions::default())?;
/// assert_eq!(found.distances, [0.0, 3.0, 1.0, f64::INFINITY]);
/// assert_eq!(found.reached, 3);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Unsuitable`] if the source or the target is not a vertex, an edge met has a negative length or one
/// that is NaN, or a shortest path has a length of 2^63 - 1 or more or, with doubles, an infinite one.
/// [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn sssp<G: Graph<Weight: Length>>(
    graph: &G,
    run: &Run,
    source: VertexId,
    options: &SsspOptions,
) -> Result<Sssp<G::Weight>, G::Error> {
    let n = graph.num_vertices();
    let run = &run.begin("shortest paths", estimate(Shape::of(graph), options).memory_bytes)?;
    need_source(source, n)?;
    if let Some(target) = options.target {
        need_target(target, n)?;
    }
    if <G::Weight as Length>::UNIT {
        return run.install(|| hops(graph, run, source, options));
    }
    run.install(|| search(graph, run, source, options))
}

fn search<G: Graph<Weight: Length>>(
    graph: &G,
    run: &Run,
    source: VertexId,
    options: &SsspOptions,
) -> Result<Sssp<G::Weight>, G::Error> {
    let n = graph.num_vertices();
    let delta = match options.delta {
        Some(delta) => {
            need_positive("delta", delta)?;
            delta
        }
        None => default_delta(graph, run)?,
    };
    let ends = SearchEnds { source, target: options.target };
    let narrow = DeltaStepping::<G::Weight, <G::Weight as Length>::Narrow>::new(run, n, delta);
    let mut distances = match narrow.find(graph, run, ends, DistanceFault::Overflow)? {
        DistanceFault::None => narrow.answer(run),
        DistanceFault::Negative => return Err(negative().into()),
        DistanceFault::Overflow => {
            drop(narrow);
            let wide = DeltaStepping::<G::Weight, <G::Weight as Length>::Wide>::new(run, n, delta);
            let fault = wide.find(graph, run, ends, DistanceFault::Negative)?;
            if fault == DistanceFault::Negative {
                return Err(negative().into());
            }
            let distances = wide.answer(run);
            let is_met =
                options.target.is_some_and(|target| distances[target as usize] != G::Weight::UNREACHED);
            if fault == DistanceFault::Overflow && !is_met && leads_on(graph, run, &distances)? {
                let number = if G::Weight::INTEGRAL { "63 bits" } else { "a double" };
                return Err(Stop::unsuitable(format!(
                    "cannot compute shortest paths: a distance does not fit in {number}"
                ))
                .into());
            }
            distances
        }
    };
    if let Some(target) = options.target {
        let farthest = distances[target as usize];
        // Farther vertices may hold distances that are not settled.
        distances.iter_mut().filter(|d| **d > farthest).for_each(|d| *d = G::Weight::UNREACHED);
    }
    let rounds = run.rounds();
    let reached = distances.iter().filter(|&&d| d != G::Weight::UNREACHED).count();
    let tight = |u: VertexId, v: VertexId, edge| {
        <G::Weight as Length>::extend(distances[u as usize], edge) == Some(distances[v as usize])
    };
    let parents = if options.parents { Some(tight_tree(graph, run, source, tight)?) } else { None };
    Ok(Sssp { distances, parents, reached, delta, rounds })
}
