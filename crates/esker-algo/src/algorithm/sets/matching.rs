//! Maximal matching: a set of edges of an undirected graph that share no ends and to which no edge can be
//! added.
//!
//! By *claims*: every free vertex scans its list and pairs with the first free neighbour. It claims both ends
//! in order of id, each by one compare-and-swap. If the second claim fails, it releases the first; then the
//! vertices still free are scanned again, since another vertex may have skipped the claimed one meanwhile.
//! Vertices of small degree choose first, as in the heuristic of Karp and Sipser [1], so the matching is
//! larger than a random one. A list is read up to its first free neighbour, so most of the graph is never
//! read. Which edges are chosen depends on timing.
//!
//! By *priorities*: the greedy matching in a random order of edges [2]. Each round takes the edges that come
//! before all others at both of their ends. A filter of out-edges removes edges to matched vertices; the list
//! of a vertex is scanned again only when the neighbour that it waited for is matched. Sage extracts edges in
//! phases for this; here nothing is extracted. The result does not depend on threads; a `deterministic` run
//! uses this method.
//!
//! State: the mate of each vertex, `NONE` while it is free; by priorities, also its best edge. Work: O(n +
//! m). Memory: claims, one id per vertex; priorities, six ids and 8 bytes per vertex plus the filter (m/32
//! words and 4 words per vertex). Reads: claims, every list at most once per class of degrees; priorities,
//! every list, and its remaining edges again each time its vertex chooses again.
//!
//! [1] R. Karp, M. Sipser, "Maximum Matchings in Sparse Random Graphs", FOCS 1981.
//! [2] G. Blelloch, J. Fineman, J. Shun, "Greedy Sequential Maximal Independent Set and Matching Are Parallel
//!     on Average", SPAA 2012.

use std::sync::atomic::{AtomicBool, Ordering};

use esker_graph::random::RandomKey;
use esker_graph::{
    Direction, Flow, Lists, NONE, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex,
};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    Filter, FilteredDirections, VertexArray, VertexValues, filter, filter_list, need_undirected, vertex_count,
};

/// How a matching is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MatchingMethod {
    /// Free neighbours pair as they meet. A deterministic run uses `Priorities`.
    #[default]
    Claims,
    /// Greedily, in a random order of edges.
    Priorities,
}

/// Options of [`matching`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MatchingOptions {
    /// The method.
    pub method: MatchingMethod,
}

/// A maximal matching.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matching {
    /// The matched neighbour of each vertex; [`NONE`] if it is free.
    pub mates: Vec<VertexId>,
    /// Number of edges.
    pub edges: usize,
    /// Number of passes over free vertices.
    pub rounds: usize,
    /// The method used.
    pub method: MatchingMethod,
}

/// Estimates memory and reads. Memory is an upper bound. Reads are an upper bound for claims and the expected
/// amount for priorities.
pub fn estimate(shape: Shape, options: &MatchingOptions, deterministic: bool) -> Estimate {
    let (n, id_bytes) = (shape.num_vertices, size_of::<VertexId>() as u64);
    if options.method == MatchingMethod::Claims && !deterministic {
        return Estimate { memory_bytes: n * id_bytes, read_bytes: 2 * shape.list_bytes() };
    }
    let memory_bytes = n * (6 * id_bytes + 8) + filter::memory_bytes(shape, FilteredDirections::Out);
    Estimate { memory_bytes, read_bytes: 3 * shape.list_bytes() }
}

/// The largest degree of the vertices that choose, for each class in turn.
const CLASSES: [usize; 3] = [1, 4, usize::MAX];
/// After this many passes one thread does the rest, without conflicts.
const SHARED_PASSES: usize = 8;

fn by_claims<G: Lists>(graph: &G, run: &Run) -> Result<VertexArray, G::Error> {
    let n = graph.num_vertices();
    let mates = VertexArray::filled(run, n, NONE);
    for degree_max in CLASSES {
        run.round(n)?;
        let claims = ClaimMates { graph, mates: &mates, degree_max, released: AtomicBool::new(false) };
        graph.scan(run, Direction::Out, Select::All, &claims)?;
        let mut passes = 1;
        // The last class also finds what earlier classes missed.
        while degree_max == usize::MAX && claims.released.swap(false, Ordering::Relaxed) {
            run.round(n)?;
            let on = if passes < SHARED_PASSES { run } else { run.single_threaded() };
            graph.scan(on, Direction::Out, Select::All, &claims)?;
            passes += 1;
        }
    }
    Ok(mates)
}

/// Pairs each free vertex of low enough degree with a free neighbour.
struct ClaimMates<'a, G> {
    graph: &'a G,
    mates: &'a VertexArray,
    degree_max: usize,
    /// Whether a claim was released, so that other vertices may have skipped a free one.
    released: AtomicBool,
}

impl<G: Lists> ClaimMates<'_, G> {
    /// Matches `u` and `v` if both are free.
    #[inline(always)]
    fn pair(&self, u: VertexId, v: VertexId) {
        let (low, high) = (u.min(v), u.max(v));
        if self.mates.claim(low, NONE, high) && !self.mates.claim(high, NONE, low) {
            self.mates.set(low, NONE);
            self.released.store(true, Ordering::Relaxed);
        }
    }
}

impl<W: Weight, G: Lists> Visitor<W> for ClaimMates<'_, G> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.mates.get(v) == NONE && self.graph.degree(Direction::Out, v) <= self.degree_max
    }

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        for &u in piece.targets {
            if self.mates.get(u) != NONE || u == v {
                continue;
            }
            self.pair(u, v);
            if self.mates.get(v) != NONE {
                return Flow::Enough;
            }
        }
        Flow::More
    }
}

/// The purpose of the random numbers.
const PRIORITIES: u64 = 0x6d61_7463;

fn by_priorities<G: Lists>(graph: &G, run: &Run) -> Result<VertexArray, G::Error> {
    let n = graph.num_vertices();
    let mut filter = Filter::all(graph, run, FilteredDirections::Out)?;
    let choices = MateChoices {
        rng: RandomKey::new(run.seed(), PRIORITIES),
        mates: VertexArray::filled(run, n, NONE),
        best: VertexArray::filled(run, n, NONE),
        keys: VertexValues::filled(run, n, u64::MAX),
    };
    let mut waiting: Vec<VertexId> = (0..n).map(vertex).collect();
    waiting.retain(|&v| graph.degree(Direction::Out, v) > 0);
    let mut open = waiting.clone();
    while !open.is_empty() {
        run.round(waiting.len())?;
        filter.pack(run, Select::List(&open), |v, u, _| choices.consider(v, u))?;
        // Of two vertices that prefer each other, at least one chose in this round.
        for_each_in(run, &open, |v| choices.match_mutual(v))?;
        waiting = kept(run, &waiting, |v| choices.mates.get(v) == NONE && choices.best.get(v) != NONE)?;
        open = kept(run, &waiting, |v| choices.mates.get(choices.best.get(v)) != NONE)?;
        for_each_in(run, &open, |v| {
            choices.best.set(v, NONE);
            choices.keys.set(v, u64::MAX);
        })?;
    }
    Ok(choices.mates)
}

/// The random number of an edge, and its ends, the lesser first: the edge for which they are least is taken
/// first.
pub(crate) type EdgePriority = (u64, VertexId, VertexId);

/// The priority of the edge between two vertices in a run with a seed.
pub(crate) fn edge_priority(seed: u64, u: VertexId, v: VertexId) -> EdgePriority {
    let (low, high) = (u.min(v), u.max(v));
    (random_of(&RandomKey::new(seed, PRIORITIES), low, high), low, high)
}

#[inline(always)]
fn random_of(rng: &RandomKey, low: VertexId, high: VertexId) -> u64 {
    rng.at(rng.at(u64::from(low)).wrapping_add(u64::from(high)))
}

/// The current choice of each vertex.
struct MateChoices {
    rng: RandomKey,
    mates: VertexArray,
    best: VertexArray,
    /// The priority of the edge to `best`.
    keys: VertexValues<u64>,
}

impl MateChoices {
    /// Considers the edge from `v`, which this thread holds, to `u`. Returns whether `u` is free.
    #[inline(always)]
    fn consider(&self, v: VertexId, u: VertexId) -> bool {
        if self.mates.get(u) != NONE || u == v {
            return false;
        }
        let ends = |u: VertexId| (u.min(v), u.max(v));
        let (low, high) = ends(u);
        let key = random_of(&self.rng, low, high);
        let (best, best_key) = (self.best.get(v), self.keys.get(v));
        if key < best_key || key == best_key && (best == NONE || (low, high) < ends(best)) {
            self.best.set(v, u);
            self.keys.set(v, key);
        }
        true
    }

    /// Matches `v` with its choice if the choice is mutual.
    fn match_mutual(&self, v: VertexId) {
        let u = self.best.get(v);
        if u != NONE && self.best.get(u) == v {
            self.mates.set(v, u);
            self.mates.set(u, v);
        }
    }
}

/// Vertices per unit of parallel work.
const GRAIN: usize = 1 << 12;

fn for_each_in(run: &Run, list: &[VertexId], f: impl Fn(VertexId) + Sync) -> Result<(), Stop> {
    let work = |(): &mut (), range: std::ops::Range<usize>| {
        list[range].iter().for_each(|&v| f(v));
        Ok(())
    };
    run.share_ranges::<(), Stop>(list.len(), GRAIN, || (), work).map(drop)
}

/// The vertices of `list` for which `keep` is true, in any order.
fn kept(run: &Run, list: &[VertexId], keep: impl Fn(VertexId) -> bool + Sync) -> Result<Vec<VertexId>, Stop> {
    filter_list(run, list.len(), |i| list[i], keep)
}

/// Finds a maximal matching of an undirected graph. Self-loops are ignored.
///
/// ```
/// use esker_algo::algorithm::sets::matching::{MatchingOptions, matching};
/// use esker_graph::{Csr, NONE, Run};
///
/// let csr = Csr::undirected(3, &[(0, 1, ()), (1, 2, ())])?;
/// let found = matching(&csr.graph(), &Run::with_threads(1)?, &MatchingOptions::default())?;
/// assert_eq!(found.edges, 1);
/// assert_eq!(found.mates.iter().filter(|&&mate| mate == NONE).count(), 1);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed graph; [`Stop::OverBudget`]; the first list that cannot be read;
/// cancellation.
pub fn matching<G: Lists>(graph: &G, run: &Run, options: &MatchingOptions) -> Result<Matching, G::Error> {
    let needed = estimate(Shape::of(graph), options, run.deterministic()).memory_bytes;
    let run = &run.begin("maximal matching", needed)?;
    need_undirected(graph, "maximal matching")?;
    let (mates, method) = if options.method == MatchingMethod::Claims && !run.deterministic() {
        (run.install(|| by_claims(graph, run))?, MatchingMethod::Claims)
    } else {
        (run.install(|| by_priorities(graph, run))?, MatchingMethod::Priorities)
    };
    let matched = vertex_count(run, mates.len(), |v| mates.get(v) != NONE)?;
    Ok(Matching { mates: mates.into_vec(), edges: matched / 2, rounds: run.rounds(), method })
}
