//! Maximal matching: edges of an undirected graph of which no two share an end, and to which no further one can be added.
//!
//! By *claims*: every free vertex goes through its list and pairs with the first free neighbour. Both ends are claimed in
//! order of number, each by one atomic exchange; who fails to get the second gives the first back, and then those still
//! free are looked at again, for somebody may have passed by in the meantime. Vertices of small degree choose first, as in
//! the heuristic of Karp and Sipser [1]: the matching is larger than a random one. A list is read up to the first free
//! neighbour, so most of the graph never is. Which edges are chosen depends on timing.
//!
//! By *priorities*: the matching that takes edges one by one in a random order [2]. In each round the edges that come before
//! all others at both of their ends are taken. A filter, of out-edges, drops those to vertices that are taken; the list
//! of a vertex is looked at again only when the neighbour that it was waiting for is. Sage extracts edges in phases for
//! the same end; here nothing is extracted. The answer never depends on threads; a `deterministic` run takes this method.
//!
//! Work O(n + m). Memory: claims, one id a vertex; priorities, six ids and 8 bytes a vertex, and the filter: m/32 words
//! and 4 words a vertex. Reads: claims, at most every list for each class of degrees; priorities, every list, and what is
//! left of it again each time that its vertex has to choose anew.
//!
//! [1] R. Karp, M. Sipser, "Maximum Matchings in Sparse Random Graphs", FOCS 1981.
//! [2] G. Blelloch, J. Fineman, J. Shun, "Greedy Sequential Maximal Independent Set and Matching Are Parallel on Average",
//!     SPAA 2012.

use std::sync::atomic::{AtomicBool, Ordering};

use esker_graph::{
    Direction, Flow, Lists, NONE, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex,
};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    Draws, Filter, Sides, VertexArray, VertexValues, filter, need_undirected, vertex_count,
};

/// How a matching is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MatchingMethod {
    /// Free neighbours pair as they meet. A deterministic run uses priorities instead.
    #[default]
    Claims,
    /// The first edges in a random order.
    Priorities,
}

/// How a matching is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MatchingOptions {
    /// The method.
    pub method: MatchingMethod,
}

/// A maximal matching.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matching {
    /// For each vertex the other end of its edge; [`NONE`] where it has none.
    pub mates: Vec<VertexId>,
    /// Number of edges.
    pub edges: usize,
    /// Passes over vertices that were free.
    pub rounds: usize,
    /// How it was found.
    pub method: MatchingMethod,
}

/// What a matching will take. Memory is an upper bound; reading is for claims an upper bound, for priorities what is
/// expected.
pub fn estimate(shape: Shape, options: &MatchingOptions, deterministic: bool) -> Estimate {
    let (n, id_bytes) = (shape.num_vertices, size_of::<VertexId>() as u64);
    if options.method == MatchingMethod::Claims && !deterministic {
        return Estimate { memory_bytes: n * id_bytes, read_bytes: 2 * shape.list_bytes() };
    }
    let memory_bytes = n * (6 * id_bytes + 8) + filter::memory_bytes(shape, Sides::Out);
    Estimate { memory_bytes, read_bytes: 3 * shape.list_bytes() }
}

/// Finds a maximal matching of an undirected graph. Self-loops are ignored.
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed graph; [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn matching<G: Lists>(graph: &G, run: &Run, options: &MatchingOptions) -> Result<Matching, G::Error> {
    let needed = estimate(Shape::of(graph), options, run.deterministic()).memory_bytes;
    run.begin("maximal matching", needed)?;
    need_undirected(graph, "maximal matching")?;
    let (mates, method) = if options.method == MatchingMethod::Claims && !run.deterministic() {
        (run.install(|| by_claims(graph, run))?, MatchingMethod::Claims)
    } else {
        (run.install(|| by_priorities(graph, run))?, MatchingMethod::Priorities)
    };
    let matched = vertex_count(run, mates.len(), |v| mates.get(v) != NONE)?;
    Ok(Matching { mates: mates.into_vec(), edges: matched / 2, rounds: run.rounds(), method })
}

/// The largest degree of those who choose, class by class.
const CLASSES: [usize; 3] = [1, 4, usize::MAX];
/// Passes after which the rest is done by one thread, which nobody gets in the way of.
const SHARED_PASSES: usize = 8;

fn by_claims<G: Lists>(graph: &G, run: &Run) -> Result<VertexArray, G::Error> {
    let n = graph.num_vertices();
    let mates = VertexArray::filled(run, n, NONE);
    for degree_max in CLASSES {
        run.round(n)?;
        let claims = Claims { graph, mates: &mates, degree_max, gave_back: AtomicBool::new(false) };
        graph.scan(run, Direction::Out, Select::All, &claims)?;
        let mut passes = 1;
        // What was missed in a class is found in the last.
        while degree_max == usize::MAX && claims.gave_back.swap(false, Ordering::Relaxed) {
            run.round(n)?;
            let on = if passes < SHARED_PASSES { run } else { run.alone() };
            graph.scan(on, Direction::Out, Select::All, &claims)?;
            passes += 1;
        }
    }
    Ok(mates)
}

struct Claims<'a, G> {
    graph: &'a G,
    mates: &'a VertexArray,
    degree_max: usize,
    /// Whether a claimed vertex was freed again, so that others may have passed it by.
    gave_back: AtomicBool,
}

impl<G: Lists> Claims<'_, G> {
    /// Makes mates of `u` and `v` if both are free.
    #[inline(always)]
    fn pair(&self, u: VertexId, v: VertexId) {
        let (low, high) = (u.min(v), u.max(v));
        if self.mates.claim(low, NONE, high) && !self.mates.claim(high, NONE, low) {
            self.mates.set(low, NONE);
            self.gave_back.store(true, Ordering::Relaxed);
        }
    }
}

impl<W: Weight, G: Lists> Visitor<W> for Claims<'_, G> {
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

/// Purpose of the random numbers.
const PRIORITIES: u64 = 0x6d61_7463;

fn by_priorities<G: Lists>(graph: &G, run: &Run) -> Result<VertexArray, G::Error> {
    let n = graph.num_vertices();
    let mut filter = Filter::all(graph, run, Sides::Out)?;
    let wishes = Wishes {
        draws: Draws::new(run.seed(), PRIORITIES),
        mates: VertexArray::filled(run, n, NONE),
        best: VertexArray::filled(run, n, NONE),
        keys: VertexValues::filled(run, n, u64::MAX),
    };
    let mut waiting: Vec<VertexId> = (0..n).map(vertex).collect();
    waiting.retain(|&v| graph.degree(Direction::Out, v) > 0);
    let mut open = waiting.clone();
    while !open.is_empty() {
        run.round(waiting.len())?;
        filter.pack(run, Select::List(&open), |v, u, _| wishes.consider(v, u))?;
        // Of two that wish for each other, one at least has just chosen.
        each(run, &open, |v| wishes.agree(v))?;
        waiting = kept(run, &waiting, |v| wishes.mates.get(v) == NONE && wishes.best.get(v) != NONE)?;
        open = kept(run, &waiting, |v| wishes.mates.get(wishes.best.get(v)) != NONE)?;
        each(run, &open, |v| {
            wishes.best.set(v, NONE);
            wishes.keys.set(v, u64::MAX);
        })?;
    }
    Ok(wishes.mates)
}

/// With whom each vertex would be matched first.
struct Wishes {
    draws: Draws,
    mates: VertexArray,
    best: VertexArray,
    /// The place in the random order of the edge to `best`.
    keys: VertexValues<u64>,
}

impl Wishes {
    /// Takes note of the edge from `v`, which one thread holds, to `u`. Whether `u` is free.
    #[inline(always)]
    fn consider(&self, v: VertexId, u: VertexId) -> bool {
        if self.mates.get(u) != NONE || u == v {
            return false;
        }
        let ends = |u: VertexId| (u.min(v), u.max(v));
        let (low, high) = ends(u);
        let key = self.draws.at(self.draws.at(u64::from(low)).wrapping_add(u64::from(high)));
        let (best, best_key) = (self.best.get(v), self.keys.get(v));
        if key < best_key || key == best_key && (best == NONE || (low, high) < ends(best)) {
            self.best.set(v, u);
            self.keys.set(v, key);
        }
        true
    }

    /// Makes mates of `v` and its best if that wishes for `v`.
    fn agree(&self, v: VertexId) {
        let u = self.best.get(v);
        if u != NONE && self.best.get(u) == v {
            self.mates.set(v, u);
            self.mates.set(u, v);
        }
    }
}

/// Vertices that are handed to a worker at a time.
const GRAIN: usize = 1 << 12;

fn each(run: &Run, list: &[VertexId], f: impl Fn(VertexId) + Sync) -> Result<(), Stop> {
    let work = |(): &mut (), range: std::ops::Range<usize>| {
        list[range].iter().for_each(|&v| f(v));
        Ok(())
    };
    run.share_ranges::<(), Stop>(list.len(), GRAIN, || (), work).map(drop)
}

/// Those of `list` that are to be kept, in any order.
fn kept(run: &Run, list: &[VertexId], keep: impl Fn(VertexId) -> bool + Sync) -> Result<Vec<VertexId>, Stop> {
    let mut parts = run.share_ranges(list.len(), GRAIN, Vec::new, |kept: &mut Vec<VertexId>, range| {
        kept.extend(list[range].iter().copied().filter(|&v| keep(v)));
        Ok::<(), Stop>(())
    })?;
    if parts.len() == 1 {
        return Ok(parts.remove(0));
    }
    Ok(parts.concat())
}
