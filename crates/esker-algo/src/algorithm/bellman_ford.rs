//! Bellman-Ford: shortest paths from one source over edges of any length, negative ones too, or a cycle of negative length.
//!
//! Rounds that relax the edges that leave vertices whose distance changed [1], as in Ligra and Sage, in place: a distance
//! that was lowered in a round counts in the same round. If no cycle of negative length can be reached, distances come to rest
//! within n rounds; they are least fixed points and do not depend on threads or timing. If one can be reached, they never rest.
//! So each vertex keeps from whence its distance came; from time to time these are searched for a circle [2], and one whose
//! length adds up to less than nothing is the witness. In an undirected graph an edge of negative length is one by itself.
//!
//! Distances are integers of 32 bits if the weights are, and of 64 if these overflow, or doubles. With doubles, a cycle so close to zero that rounding decides is an
//! error if distances do not come to rest.
//!
//! Work O(n m) at worst, a few times m on random graphs. Memory, bytes a vertex: 8 for distances, an id for parents, up to
//! 2.25 for frontiers, 1.25 for a search for circles. Reads, each round: the lists of vertices whose distance changed.
//!
//! [1] J. Shun, G. Blelloch, "Ligra: A Lightweight Graph Processing Framework for Shared Memory", PPoPP 2013.
//! [2] B. Cherkassky, A. Goldberg, "Negative-cycle Detection Algorithms", Mathematical Programming 85, 1999.

use std::sync::atomic::Ordering;

use esker_graph::{Direction, Flow, Graph, NONE, Piece, Run, Select, Stop, VertexId, Visitor, vertex};

use super::relaxation::{Relax, Rule, tight_tree};
use crate::estimate::{Estimate, Shape};
use crate::lengths::{Length, Signed};
use crate::primitive::{VertexArray, VertexValues};

/// What is wanted of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BellmanFordOptions {
    /// Whether the edges by which vertices are reached are wanted; for these the lists are read once more.
    pub parents: bool,
}

/// A cycle that shortens every path through it.
#[derive(Debug, Clone, PartialEq)]
pub struct NegativeCycle<W: Length> {
    /// Its vertices: an edge leads from each to the next, and from the last to the first.
    pub vertices: Vec<VertexId>,
    /// Its length, less than 0.
    pub length: W::Distance,
}

/// Distances from a source, or why there are none.
#[derive(Debug, Clone, PartialEq)]
pub struct BellmanFord<W: Length> {
    /// The length of the shortest path to each vertex, [`Length::UNREACHED`] where there is none; empty if there is a
    /// negative cycle.
    pub distances: Vec<W::Distance>,
    /// For each vertex the one before it on a shortest path: itself for the source, [`NONE`] where unreached; if
    /// asked for.
    pub parents: Option<Vec<VertexId>>,
    /// A cycle of negative length that can be reached from the source, if there is one.
    pub negative_cycle: Option<NegativeCycle<W>>,
    /// Number of vertices reached, the source included; 0 if there is a negative cycle.
    pub reached: usize,
    /// Rounds.
    pub rounds: usize,
}

/// What the search will take; the reading is what is common on random graphs.
pub fn estimate(shape: Shape, options: &BellmanFordOptions) -> Estimate {
    let id_bytes = size_of::<VertexId>() as u64;
    Estimate {
        memory_bytes: shape.num_vertices * (8 + 4 * id_bytes) + shape.num_vertices.div_ceil(64) * 8 * 3,
        read_bytes: shape.weighted_list_bytes() * (4 + u64::from(options.parents)),
    }
}

/// Finds the distances from `source`. A graph without weights has edges of length 1.
///
/// # Errors
/// [`Stop::Unsuitable`] if the source is not a vertex, a length is not a number, an integer distance does not fit in 64 bits, or
/// rounding keeps distances from coming to rest; [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn bellman_ford<G: Graph>(
    graph: &G,
    run: &Run,
    source: VertexId,
    options: &BellmanFordOptions,
) -> Result<BellmanFord<G::Weight>, G::Error>
where
    G::Weight: Length,
{
    let n = graph.num_vertices();
    run.begin("Bellman-Ford", estimate(Shape::of(graph), options).memory_bytes)?;
    if source as usize >= n {
        return Err(Stop::Unsuitable(format!("source {source} is not a vertex: there are {n}")).into());
    }
    run.install(|| search(graph, run, source, options))
}

/// Distances add up, in numbers of type `D`.
struct Sum<D>(std::marker::PhantomData<D>);

impl<W: Length, D: Signed<W>> Rule<W> for Sum<D> {
    type Label = D;

    #[inline(always)]
    fn offer(&self, distance: D, edge: W) -> (D, bool) {
        distance.sum(edge)
    }
}

/// From this round on it is kept from whence distances come: most searches are over before. After this one, and then after each that is a
/// power of two, circles are searched for among these.
const PARENTS_ROUND: usize = 16;
const SEARCH_ROUND_MIN: usize = 32;

/// What distances came to, or the vertices of a circle of negative length.
enum Rest<W: Length> {
    Distances(Vec<W::Distance>),
    Circle(NegativeCycle<W>),
}

fn search<G: Graph>(
    graph: &G,
    run: &Run,
    source: VertexId,
    options: &BellmanFordOptions,
) -> Result<BellmanFord<G::Weight>, G::Error>
where
    G::Weight: Length,
{
    let narrow = settle::<<G::Weight as Length>::Signed, G>(graph, run, source, PARENTS_ROUND)?;
    let rest = match narrow {
        Some(rest) => Some(rest),
        None => settle::<<G::Weight as Length>::WideSigned, G>(graph, run, source, 0)?,
    };
    let rounds = run.rounds();
    let distances = match rest {
        Some(Rest::Distances(distances)) => distances,
        Some(Rest::Circle(cycle)) => {
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
            return Err(Stop::Unsuitable(
                "a length is not a number, or a distance cannot be held, or a cycle is so close to zero that rounding keeps distances from coming to rest".to_owned(),
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

/// Relaxes until distances come to rest, or there is a negative cycle; `None` if a distance cannot be told, or they never rest.
fn settle<D: Signed<G::Weight>, G: Graph>(
    graph: &G,
    run: &Run,
    source: VertexId,
    parents_round: usize,
) -> Result<Option<Rest<G::Weight>>, G::Error>
where
    G::Weight: Length,
{
    let n = graph.num_vertices();
    let distances = VertexValues::filled(run, n, D::FAR);
    let mut parents = None;
    let (rule, begun) = (Sum(std::marker::PhantomData), run.rounds());
    let relax = Relax::new(&rule, &distances);
    distances.set(source, D::ZERO);
    let mut frontier = vec![source];
    while !frontier.is_empty() {
        run.round(frontier.len())?;
        let round = run.rounds() - begun;
        if round > parents_round {
            parents.get_or_insert_with(|| VertexArray::filled(run, n, NONE));
        }
        // Parents are exact if one thread sets them; it must, should several have failed for so long to leave a circle.
        let by = if round > n { run.alone() } else { run };
        frontier = relax.round(graph, by, &frontier, parents.as_ref(), |_, _| true)?;
        let failed = relax.fault.load(Ordering::Relaxed);
        if failed || round >= SEARCH_ROUND_MIN && (round.is_power_of_two() || round > n) {
            if let Some(vertices) = parents.as_ref().and_then(circle) {
                let length = length(graph, run, &vertices)?;
                if let Some(length) = length.filter(|&length| G::Weight::is_negative(length)) {
                    return Ok(Some(Rest::Circle(NegativeCycle { vertices, length })));
                }
            }
            if failed || round > n.saturating_mul(4) + 1000 {
                return Ok(None);
            }
        }
    }
    drop((relax, frontier, parents));
    Ok(Some(Rest::Distances(distances.into_vec().into_iter().map(D::give).collect())))
}

/// A circle among the parents, in the direction of the edges. O(n).
fn circle(parents: &VertexArray) -> Option<Vec<VertexId>> {
    // From which vertex each was first come by.
    let mut come_from = vec![NONE; parents.len()];
    for first in (0..parents.len()).map(vertex) {
        let mut v = first;
        while v != NONE && come_from[v as usize] == NONE {
            come_from[v as usize] = first;
            v = parents.get(v);
        }
        if v != NONE && come_from[v as usize] == first {
            let mut circle = vec![v];
            let mut u = parents.get(v);
            while u != v {
                circle.push(u);
                u = parents.get(u);
            }
            circle.reverse();
            return Some(circle);
        }
    }
    None
}

/// The length of a cycle, by the shortest of parallel edges; `None` if an edge is missing or the sum cannot be held.
fn length<G: Graph>(
    graph: &G,
    run: &Run,
    cycle: &[VertexId],
) -> Result<Option<<G::Weight as Length>::Distance>, G::Error>
where
    G::Weight: Length,
{
    let mut nexts: Vec<_> = cycle.iter().zip(cycle.iter().cycle().skip(1)).map(|(&u, &v)| (u, v)).collect();
    nexts.sort_unstable();
    let found = graph.scan(run, Direction::Out, Select::List(cycle), &Steps(&nexts))?;
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

/// Finds the edges that lead from each vertex of a cycle to the next.
struct Steps<'a>(&'a [(VertexId, VertexId)]);

impl<W: Length> Visitor<W> for Steps<'_> {
    type State = Vec<(VertexId, W)>;

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
