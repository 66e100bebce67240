//! Maximal independent set: a set of vertices that contains no two neighbours and to which no vertex can be
//! added.
//!
//! The set that the serial greedy method finds in a fixed order of vertices, computed in parallel [1]: a
//! vertex is out once a neighbour is in, and in once all its earlier neighbours are out. So the set depends
//! only on the order, not on threads or timing. The default order is by degree, rounded to one part in eight,
//! with random ties: low degrees first make large sets, and a hub finds a member early in its list. The
//! random order is Luby's with fixed priorities [1], as in Sage and GBBS; it takes O(log² n) rounds with high
//! probability.
//!
//! In each round, new members mark their neighbours as out. An undecided vertex remembers an earlier
//! undecided neighbour, its blocker, and its list is read again only after the blocker is out. (Without the
//! marking, a vertex would wait although a neighbour further down its list is in; chains of such vertices
//! caused thousands of rounds.) The state of a vertex is one byte (in, out, or undecided with its degree
//! class), and hashing breaks ties, so most accesses hit the caches. Edges count in both directions;
//! self-loops do not count.
//!
//! Work: O(n + m) or little more. Memory per vertex: 2 bytes (state, result), one id for the blocker, one for
//! the undecided vertices, up to two while those are filtered. Reads: each list up to the neighbour that
//! decides, the lists of members as a whole, and in each round the lists of vertices whose blocker went out.
//!
//! [1] G. Blelloch, J. Fineman, J. Shun, "Greedy Sequential Maximal Independent Set and Matching are Parallel
//!     on Average", SPAA 2012.

use esker_graph::random::RandomKey;
use esker_graph::{
    Direction, Flow, Graph, NONE, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex,
};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    VertexArray, VertexValues, filter_list, is_small, need_in_edges, neighbourhood_directions, num_entries,
    scan_neighbours,
};

/// The order of the greedy method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MisOrder {
    /// Low degrees first: larger sets in less time.
    #[default]
    ByDegree,
    /// A random order from the seed of the run.
    Random,
}

/// Options of [`mis`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MisOptions {
    /// The order, which determines the set.
    pub order: MisOrder,
}

/// A maximal independent set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mis {
    /// Whether each vertex is in the set.
    pub members: Vec<bool>,
    /// Number of members.
    pub size: usize,
    /// Number of rounds. Each adds at least one vertex.
    pub rounds: usize,
}

/// Estimates memory and reads. Memory is an upper bound; reads are more than usual, and an upper bound if
/// there are few rounds.
pub fn estimate(shape: Shape) -> Estimate {
    let id_bytes = size_of::<VertexId>() as u64;
    Estimate {
        memory_bytes: shape.num_vertices * (2 + 4 * id_bytes),
        read_bytes: shape.list_bytes() * if shape.directed { 2 } else { 1 },
    }
}

/// The purpose of the random numbers.
const PURPOSE: u64 = 0x6d69_7300;
/// A vertex in the set.
const IN: u8 = 255;
/// A vertex with a neighbour in the set. Lesser values are degree classes of undecided vertices.
const OUT: u8 = 254;

/// A degree rounded to the three bits after its leading one: vertices of lesser classes are taken first.
pub(crate) fn class(degree: usize) -> u8 {
    let exponent = (degree | 1).ilog2();
    if exponent < 3 {
        return degree as u8;
    }
    let mantissa = (degree >> (exponent - 3)) as u32 & 7;
    ((exponent - 2) * 8 + mantissa).min(u32::from(OUT) - 1) as u8
}

/// The priority of `v` within its class, which no other vertex shares: the least is taken first.
pub(crate) fn tie(seed: u64, v: VertexId) -> u64 {
    RandomKey::new(seed, PURPOSE).at(u64::from(v))
}

/// Decides undecided vertices from their earlier neighbours, or finds their blockers.
struct ScanUndecided<'a, G> {
    graph: &'a G,
    directions: &'static [Direction],
    /// Random numbers that break ties.
    rng: RandomKey,
    states: &'a VertexValues<u8>,
    /// For each undecided vertex, an earlier undecided neighbour, once one is known.
    blockers: &'a VertexArray,
}

impl<G: Graph> ScanUndecided<'_, G> {
    /// The priority of `v` within its class, which no other vertex shares.
    #[inline(always)]
    fn priority(&self, v: VertexId) -> u64 {
        self.rng.at(u64::from(v))
    }

    /// After a scan of their lists, adds the undecided candidates without a blocker. Returns the candidates
    /// in the set.
    fn join_unblocked(
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

/// Marks the neighbours of members as out.
struct MarkOut<'a>(&'a VertexValues<u8>);

impl<W: Weight> Visitor<W> for MarkOut<'_> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.0.get(v) == IN
    }

    #[inline(always)]
    fn visit(&self, (): &mut (), _: VertexId, piece: Piece<'_, W>) -> Flow {
        for &u in piece.targets {
            // No two members are neighbours, but a vertex may have a self-loop.
            if self.0.get(u) < OUT {
                self.0.set(u, OUT);
            }
        }
        Flow::More
    }
}

impl<W: Weight, G: Graph> Visitor<W> for ScanUndecided<'_, G> {
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
            if state < own || state == own && self.priority(u) < self.priority(v) {
                self.blockers.set(v, u);
                return Flow::Enough;
            }
        }
        // A vertex that saw its whole list at once is in now, without waiting for the end of the round.
        if self.directions.len() == 1 && piece.targets.len() == self.graph.degree(Direction::Out, v) {
            self.states.set(v, IN);
        }
        Flow::More
    }
}

/// Finds a maximal independent set.
///
/// ```
/// use esker_algo::algorithm::sets::mis::{MisOptions, mis};
/// use esker_graph::{Csr, Run};
///
/// let csr = Csr::undirected(4, &[(0, 1, ()), (0, 2, ()), (0, 3, ())])?;
/// let found = mis(&csr.graph(), &Run::with_threads(2)?, &MisOptions::default())?;
/// assert!(found.size == 1 && found.members[0] || found.size == 3); // the centre, or all others
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a directed graph stored without in-edges;
/// [`esker_graph::Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn mis<G: Graph>(graph: &G, run: &Run, options: &MisOptions) -> Result<Mis, G::Error> {
    let run = &run.begin("maximal independent set", estimate(Shape::of(graph)).memory_bytes)?;
    run.install(|| decide(graph, run, options))
}

fn decide<G: Graph>(graph: &G, run: &Run, options: &MisOptions) -> Result<Mis, G::Error> {
    let n = graph.num_vertices();
    need_in_edges(graph, "maximal independent set")?;
    let directions = neighbourhood_directions(graph);
    let states =
        VertexValues::from_fn(run, n, |v| match (num_entries(graph, directions, vertex(v)), options.order) {
            (0, _) => IN,
            (degree, MisOrder::ByDegree) => class(degree),
            (_, MisOrder::Random) => 0,
        });
    let blockers = VertexArray::filled(run, n, NONE);
    let rng = RandomKey::new(run.seed(), PURPOSE);
    let scan = ScanUndecided { graph, directions, rng, states: &states, blockers: &blockers };
    run.round(n)?;
    scan_neighbours(graph, run, directions, Select::All, &scan)?;
    drop(scan.join_unblocked(run, n, vertex)?);
    scan_neighbours(graph, run, directions, Select::All, &MarkOut(&states))?;
    let mut undecided = filter_list(run, n, vertex, |v| states.get(v) < OUT)?;
    while !undecided.is_empty() {
        run.round(undecided.len())?;
        // Vertices whose blocker is in were marked as out already.
        let freed =
            filter_list(run, undecided.len(), |i| undecided[i], |v| states.get(blockers.get(v)) == OUT)?;
        freed.iter().for_each(|&v| blockers.set(v, NONE));
        let small = is_small(graph, run, directions, &freed);
        let by = if small { run.single_threaded() } else { run };
        scan_neighbours(graph, by, directions, Select::List(&freed), &scan)?;
        let joined = scan.join_unblocked(by, freed.len(), |i| freed[i])?;
        drop(freed);
        scan_neighbours(graph, by, directions, Select::List(&joined), &MarkOut(&states))?;
        undecided = filter_list(run, undecided.len(), |i| undecided[i], |v| states.get(v) < OUT)?;
    }
    drop((undecided, blockers));
    let members: Vec<bool> = states.into_vec().into_iter().map(|state| state == IN).collect();
    let size = members.iter().filter(|is| **is).count();
    Ok(Mis { members, size, rounds: run.rounds() })
}
