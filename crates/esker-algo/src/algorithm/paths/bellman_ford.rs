//! Bellman-Ford: shortest paths from one source over edges of any length, negative ones included, or a
//! negative cycle.
//!
//! Each round relaxes the edges that leave vertices whose distance changed [1], as in Ligra and Sage, in
//! place: a distance lowered in a round counts in the same round. If no negative cycle is reachable,
//! distances converge within n rounds to the least fixed point, which does not depend on threads or timing.
//! If one is reachable, they never converge. So, after some rounds, each vertex remembers the vertex that
//! last lowered its distance. These parents are searched for cycles from time to time [2], and a cycle of
//! negative total length is the witness. In an undirected graph, any negative edge is such a cycle.
//!
//! Distances are 32-bit integers for 32-bit weights, 64-bit integers for 64-bit weights or after an overflow,
//! or doubles. With doubles, a cycle whose length is so close to zero that rounding keeps distances from
//! converging is an error.
//!
//! State: a distance per vertex, lowered by compare-and-swap; after some rounds, also a parent. Work: O(n m)
//! at worst, a few times m on random graphs. Memory in bytes per vertex: 8 for distances, one id for parents,
//! up to 2.25 ids for frontiers, 1.25 ids for a cycle search. Reads per round: the lists of vertices whose
//! distance changed.
//!
//! [1] J. Shun, G. Blelloch, "Ligra: A Lightweight Graph Processing Framework for Shared Memory", PPoPP 2013.
//! [2] B. Cherkassky, A. Goldberg, "Negative-cycle Detection Algorithms", Mathematical Programming 85, 1999.

use std::sync::atomic::Ordering;

use esker_graph::{Direction, Flow, Graph, NONE, Piece, Run, Select, Stop, VertexId, Visitor, vertex};

use crate::algorithm::paths::relaxation::{LabelRule, Relaxation, tight_tree};
use crate::estimate::{Estimate, Shape};
use crate::lengths::{Length, Signed};
use crate::primitive::{VertexArray, VertexValues, need_source};

/// Options of [`bellman_ford`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BellmanFordOptions {
    /// Whether to return parents. They take one more pass over the lists.
    pub parents: bool,
}

/// A cycle of negative length, which shortens every path through it.
#[derive(Debug, Clone, PartialEq)]
pub struct NegativeCycle<W: Length> {
    /// The vertices in order: an edge leads from each to the next, and from the last to the first.
    pub vertices: Vec<VertexId>,
    /// The total length, which is negative.
    pub length: W::Distance,
}

/// Distances from a source, or a negative cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct BellmanFord<W: Length> {
    /// The length of the shortest path to each vertex, [`Length::UNREACHED`] if there is none. Empty if there
    /// is a negative cycle.
    pub distances: Vec<W::Distance>,
    /// The previous vertex on a shortest path to each vertex: the source itself for the source, [`NONE`] if
    /// unreached. `None` unless requested.
    pub parents: Option<Vec<VertexId>>,
    /// A negative cycle reachable from the source, if there is one.
    pub negative_cycle: Option<NegativeCycle<W>>,
    /// Number of vertices reached, including the source; 0 if there is a negative cycle.
    pub reached: usize,
    /// Number of rounds.
    pub rounds: usize,
}

/// Estimates memory and reads. Memory is an upper bound; reads are typical for random graphs.
pub fn estimate(shape: Shape, options: &BellmanFordOptions) -> Estimate {
    let id_bytes = size_of::<VertexId>() as u64;
    Estimate {
        memory_bytes: shape.num_vertices * (8 + 4 * id_bytes) + shape.num_vertices.div_ceil(64) * 8 * 3,
        read_bytes: shape.weighted_list_bytes() * (4 + u64::from(options.parents)),
    }
}

/// The rule of relaxation: the distance of a vertex plus the length of an edge, in numbers of type `D`.
struct SignedSum<D>(std::marker::PhantomData<D>);

impl<W: Length, D: Signed<W>> LabelRule<W> for SignedSum<D> {
    type Label = D;

    // Distances wider than lengths are a second attempt, after an overflow.
    const BOXED: bool = size_of::<D>() > size_of::<W>();

    #[inline(always)]
    fn offer(&self, distance: D, edge: W) -> (D, bool) {
        distance.sum(edge)
    }
}

/// The last round that records no parents; most searches end before it.
const PARENTS_ROUND: usize = 16;
/// The first round after which parents are searched for cycles. Later searches follow each round whose number
/// is a power of two.
const SEARCH_ROUND_MIN: usize = 32;

/// The result of relaxation: distances, or a negative cycle.
enum PathsOrCycle<W: Length> {
    Distances(Vec<W::Distance>),
    NegativeCycle(NegativeCycle<W>),
}

/// Relaxes until distances converge or a negative cycle is found. Records parents after `parents_round`
/// rounds. Returns `None` if a distance overflows, a length is NaN, or distances do not converge.
fn settle<D: Signed<G::Weight>, G: Graph<Weight: Length>>(
    graph: &G,
    run: &Run,
    source: VertexId,
    parents_round: usize,
) -> Result<Option<PathsOrCycle<G::Weight>>, G::Error> {
    let n = graph.num_vertices();
    let distances = VertexValues::filled(run, n, D::FAR);
    let mut parents = None;
    let (rule, begun) = (SignedSum(std::marker::PhantomData), run.rounds());
    let relax = Relaxation::new(&rule, &distances);
    distances.set(source, D::ZERO);
    let mut frontier = vec![source];
    while !frontier.is_empty() {
        run.round(frontier.len())?;
        let round = run.rounds() - begun;
        if round > parents_round {
            parents.get_or_insert_with(|| VertexArray::filled(run, n, NONE));
        }
        // Racing writes can break parents, and so hide a cycle, for many rounds. One thread keeps them exact.
        let by = if round > n { run.single_threaded() } else { run };
        frontier = relax.round(graph, by, &frontier, parents.as_ref(), |_, _| true)?;
        let failed = relax.fault.load(Ordering::Relaxed);
        if failed || round >= SEARCH_ROUND_MIN && (round.is_power_of_two() || round > n) {
            if let Some(vertices) = parents.as_ref().and_then(find_cycle) {
                let length = cycle_length(graph, run, &vertices)?;
                if let Some(length) = length.filter(|&length| G::Weight::is_negative(length)) {
                    return Ok(Some(PathsOrCycle::NegativeCycle(NegativeCycle { vertices, length })));
                }
            }
            if failed || round > n.saturating_mul(4) + 1000 {
                return Ok(None);
            }
        }
    }
    drop((relax, frontier, parents));
    Ok(Some(PathsOrCycle::Distances(distances.into_vec().into_iter().map(D::give).collect())))
}

/// A cycle among the parents, in the direction of the edges. Takes O(n).
fn find_cycle(parents: &VertexArray) -> Option<Vec<VertexId>> {
    // The start of the walk that first visited each vertex.
    let mut visited_from = vec![NONE; parents.len()];
    for first in (0..parents.len()).map(vertex) {
        let mut v = first;
        while v != NONE && visited_from[v as usize] == NONE {
            visited_from[v as usize] = first;
            v = parents.get(v);
        }
        if v != NONE && visited_from[v as usize] == first {
            let mut cycle = vec![v];
            let mut u = parents.get(v);
            while u != v {
                cycle.push(u);
                u = parents.get(u);
            }
            cycle.reverse();
            return Some(cycle);
        }
    }
    None
}

/// The length of a cycle, using the shortest of parallel edges; `None` if an edge is missing or the sum
/// overflows.
fn cycle_length<G: Graph<Weight: Length>>(
    graph: &G,
    run: &Run,
    cycle: &[VertexId],
) -> Result<Option<<G::Weight as Length>::Distance>, G::Error> {
    let mut nexts: Vec<_> = cycle.iter().zip(cycle.iter().cycle().skip(1)).map(|(&u, &v)| (u, v)).collect();
    nexts.sort_unstable();
    let found = graph.scan(run, Direction::Out, Select::List(cycle), &CycleEdges(&nexts))?;
    let mut steps: Vec<(VertexId, G::Weight)> = found.concat();
    steps.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.to_f64().total_cmp(&b.1.to_f64())));
    steps.dedup_by_key(|step| step.0);
    if steps.len() != cycle.len() {
        return Ok(None);
    }
    let step = |u: &VertexId| steps[steps.partition_point(|step| step.0 < *u)].1;
    let origin = <G::Weight as Length>::ORIGIN;
    Ok(cycle.iter().try_fold(origin, |sum, u| G::Weight::extend_signed(sum, step(u))))
}

/// Finds the edges from each vertex of a cycle to the next.
struct CycleEdges<'a>(&'a [(VertexId, VertexId)]);

impl<W: Length> Visitor<W> for CycleEdges<'_> {
    type State = Vec<(VertexId, W)>;

    const BOXED: bool = true;

    fn new_state(&self) -> Self::State {
        Vec::new()
    }

    fn visit(&self, steps: &mut Self::State, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let next = self.0[self.0.partition_point(|&(u, _)| u < v)].1;
        let edges = piece.targets.iter().zip(piece.weights);
        steps.extend(edges.filter(|(u, _)| **u == next).map(|(_, &edge)| (v, edge)));
        Flow::More
    }
}

/// Computes the distances from `source`. Without weights, every edge has length 1.
///
/// # Errors
/// [`Stop::Unsuitable`] if the source is not a vertex, a length is NaN, a distance overflows (a 64-bit
/// integer at -2^63 already), or rounding keeps distances from converging; [`Stop::OverBudget`]; the first
/// list that cannot be read; cancellation.
pub fn bellman_ford<G: Graph<Weight: Length>>(
    graph: &G,
    run: &Run,
    source: VertexId,
    options: &BellmanFordOptions,
) -> Result<BellmanFord<G::Weight>, G::Error> {
    let n = graph.num_vertices();
    let run = &run.begin("Bellman-Ford", estimate(Shape::of(graph), options).memory_bytes)?;
    need_source(source, n)?;
    run.install(|| search(graph, run, source, options))
}

fn search<G: Graph<Weight: Length>>(
    graph: &G,
    run: &Run,
    source: VertexId,
    options: &BellmanFordOptions,
) -> Result<BellmanFord<G::Weight>, G::Error> {
    // Most graphs need no more than the narrow type. The second attempt records parents from its start,
    // because a negative cycle may have caused the overflow.
    let narrow = settle::<<G::Weight as Length>::Signed, G>(graph, run, source, PARENTS_ROUND)?;
    let outcome = match narrow {
        Some(outcome) => Some(outcome),
        None => settle::<<G::Weight as Length>::WideSigned, G>(graph, run, source, 0)?,
    };
    let rounds = run.rounds();
    let distances = match outcome {
        Some(PathsOrCycle::Distances(distances)) => distances,
        Some(PathsOrCycle::NegativeCycle(cycle)) => {
            let negative_cycle = Some(cycle);
            return Ok(BellmanFord {
                distances: Vec::new(),
                parents: None,
                negative_cycle,
                reached: 0,
                rounds,
            });
        }
        None => {
            return Err(Stop::unsuitable(
                "cannot compute distances: a length is not a number, a distance overflows, or rounding on a cycle of length near zero keeps distances from converging".to_owned(),
            )
            .into());
        }
    };
    let tight = |u: VertexId, v: VertexId, edge| {
        G::Weight::extend_signed(distances[u as usize], edge) == Some(distances[v as usize])
    };
    let parents = if options.parents { Some(tight_tree(graph, run, source, tight)?) } else { None };
    let reached = distances.iter().filter(|&&d| d != <G::Weight as Length>::UNREACHED).count();
    Ok(BellmanFord { distances, parents, negative_cycle: None, reached, rounds })
}
