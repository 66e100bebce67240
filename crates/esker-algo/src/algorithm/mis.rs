//! Maximal independent set: vertices no two of which are neighbours, such that none can be added.
//!
//! The set that the greedy method finds when it goes through the vertices in a fixed order, computed in parallel [1]: a
//! vertex is out once a neighbour is in, and in once all neighbours before it are out; so the set depends on the order
//! alone, not on threads or timing. The default order is by degree, rounded to one part in eight, ties at random: low
//! degrees first make for large sets, and a hub sees a neighbour that is in early in its list. The random order is Luby's with fixed
//! priorities [1], as Sage and GBBS use it; it takes O(log² n) rounds with high probability.
//!
//! In each round those that came in tell their neighbours that they are out, and a vertex that waits remembers for whom: its list is
//! read again only when that one is out. (Without the telling, a vertex waits though a neighbour further down its list is in,
//! and chains of such vertices made for thousands of rounds.) What is known of a vertex is one byte (in, out, or undecided and its
//! class of degree), and ties are broken by hashing, so most accesses hit the caches. Edges count whichever way they go; loops do not.
//!
//! Work O(n + m) or little more. Memory: 2 bytes a vertex (state, answer), an id for whom it waits, one for who is undecided, up to two
//! while that changes. Reads: the lists up to the neighbour that decides, those of the set wholly, and each round the lists of vertices that
//! need not wait for the same one any more.
//!
//! [1] G. Blelloch, J. Fineman, J. Shun, "Greedy Sequential Maximal Independent Set and Matching are Parallel on
//!     Average", SPAA 2012.

use esker_graph::{
    Direction, Flow, Graph, NONE, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex,
};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    Draws, VertexArray, VertexValues, both_ways, filter_list, is_small, num_entries, scan_neighbours,
};

/// In which order the greedy method goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MisOrder {
    /// Low degrees first: larger sets, in less time.
    #[default]
    ByDegree,
    /// At random, by the seed of the run.
    Random,
}

/// How the set is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MisOptions {
    /// The order that decides which set it is.
    pub order: MisOrder,
}

/// A maximal independent set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mis {
    /// Whether each vertex is in the set.
    pub members: Vec<bool>,
    /// Number of members.
    pub size: usize,
    /// Rounds, in each of which at least one vertex came in.
    pub rounds: usize,
}

/// What finding the set will take; the reading is an upper bound for few rounds, and more than is usual.
pub fn estimate(shape: Shape) -> Estimate {
    let id_bytes = size_of::<VertexId>() as u64;
    Estimate {
        memory_bytes: shape.num_vertices * (2 + 4 * id_bytes),
        read_bytes: shape.list_bytes() * if shape.directed { 2 } else { 1 },
    }
}

/// Finds a maximal independent set.
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a directed graph that is kept without its in-edges; [`esker_graph::Stop::OverBudget`]; the first
/// list that cannot be read; cancellation.
pub fn mis<G: Graph>(graph: &G, run: &Run, options: &MisOptions) -> Result<Mis, G::Error> {
    run.begin("maximal independent set", estimate(Shape::of(graph)).memory_bytes)?;
    run.install(|| decide(graph, run, options))
}

/// What is drawn for.
const PURPOSE: u64 = 0x6d69_7300;
/// A vertex in the set.
const IN: u8 = 255;
/// A vertex with a neighbour in the set. Anything less is the class of an undecided one.
const OUT: u8 = 254;

fn decide<G: Graph>(graph: &G, run: &Run, options: &MisOptions) -> Result<Mis, G::Error> {
    let n = graph.num_vertices();
    let ways = both_ways(graph)?;
    let states =
        VertexValues::from_fn(run, n, |v| match (num_entries(graph, ways, vertex(v)), options.order) {
            (0, _) => IN,
            (degree, MisOrder::ByDegree) => class(degree),
            (_, MisOrder::Random) => 0,
        });
    let blockers = VertexArray::filled(run, n, NONE);
    let draws = Draws::new(run.seed(), PURPOSE);
    let greedy = Greedy { graph, ways, draws, states: &states, blockers: &blockers };
    run.round(n)?;
    scan_neighbours(graph, run, ways, Select::All, &greedy)?;
    drop(greedy.joined(run, n, vertex)?);
    scan_neighbours(graph, run, ways, Select::All, &Spread(&states))?;
    let mut undecided = filter_list(run, n, vertex, |v| states.get(v) < OUT)?;
    while !undecided.is_empty() {
        run.round(undecided.len())?;
        // Those that waited for a vertex which is in are out, by now.
        let freed =
            filter_list(run, undecided.len(), |i| undecided[i], |v| states.get(blockers.get(v)) == OUT)?;
        freed.iter().for_each(|&v| blockers.set(v, NONE));
        let small = is_small(graph, run, ways, &freed);
        let by = if small { run.alone() } else { run };
        scan_neighbours(graph, by, ways, Select::List(&freed), &greedy)?;
        let joined = greedy.joined(by, freed.len(), |i| freed[i])?;
        drop(freed);
        scan_neighbours(graph, by, ways, Select::List(&joined), &Spread(&states))?;
        undecided = filter_list(run, undecided.len(), |i| undecided[i], |v| states.get(v) < OUT)?;
    }
    drop((undecided, blockers));
    let members: Vec<bool> = states.into_vec().into_iter().map(|state| state == IN).collect();
    let size = members.iter().filter(|is| **is).count();
    Ok(Mis { members, size, rounds: run.rounds() })
}

/// A degree rounded to three bits after the first.
fn class(degree: usize) -> u8 {
    let exponent = (degree | 1).ilog2();
    if exponent < 3 {
        return degree as u8;
    }
    let mantissa = (degree >> (exponent - 3)) as u32 & 7;
    ((exponent - 2) * 8 + mantissa).min(u32::from(OUT) - 1) as u8
}

struct Greedy<'a, G> {
    graph: &'a G,
    ways: &'static [Direction],
    /// Ties are broken by these.
    draws: Draws,
    states: &'a VertexValues<u8>,
    /// For each undecided vertex a neighbour before it that is undecided too, once one is known.
    blockers: &'a VertexArray,
}

impl<G: Graph> Greedy<'_, G> {
    /// Where `v` stands among those of its class; no two stand at the same place.
    #[inline(always)]
    fn place(&self, v: VertexId) -> u64 {
        self.draws.at(u64::from(v))
    }

    /// After their lists were scanned: whoever is undecided but waits for nobody is in. Those of the candidates that are in.
    fn joined(
        &self,
        run: &Run,
        len: usize,
        candidate: impl Fn(usize) -> VertexId + Sync,
    ) -> Result<Vec<VertexId>, Stop> {
        filter_list(run, len, candidate, |v| {
            let state = self.states.get(v);
            let joins = state < OUT && self.blockers.get(v) == NONE;
            if joins {
                self.states.set(v, IN);
            }
            joins || state == IN
        })
    }
}

/// Neighbours of those that are in are out.
struct Spread<'a>(&'a VertexValues<u8>);

impl<W: Weight> Visitor<W> for Spread<'_> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.0.get(v) == IN
    }

    #[inline(always)]
    fn visit(&self, (): &mut (), _: VertexId, piece: Piece<'_, W>) -> Flow {
        for &u in piece.targets {
            // Two that are in are no neighbours, but a vertex may be its own.
            if self.0.get(u) < OUT {
                self.0.set(u, OUT);
            }
        }
        Flow::More
    }
}

impl<W: Weight, G: Graph> Visitor<W> for Greedy<'_, G> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.states.get(v) < OUT
    }

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let own = self.states.get(v);
        for &u in piece.targets {
            let state = self.states.get(u);
            if state == IN {
                self.states.set(v, OUT);
                return Flow::Enough;
            }
            if state < own || state == own && self.place(u) < self.place(v) {
                self.blockers.set(v, u);
                return Flow::Enough;
            }
        }
        // With its whole list at hand a vertex need not wait for the end of the round, nor those after it.
        if self.ways.len() == 1 && piece.targets.len() == self.graph.degree(Direction::Out, v) {
            self.states.set(v, IN);
        }
        Flow::More
    }
}
