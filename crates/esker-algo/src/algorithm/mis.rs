//! Maximal independent set: vertices no two of which are neighbours, such that none can be added.
//!
//! The set that the greedy method finds when it goes through the vertices in a fixed order, computed in parallel [1]: a
//! vertex is out once a neighbour is in, and in once all neighbours before it are out; so the set depends on the order
//! alone, not on threads or timing. The default order is by degree, rounded to one part in eight, ties at random: low
//! degrees first make for large sets, and a hub sees a neighbour that is in early in its list. The random order is Luby's with fixed
//! priorities [1], as Sage and GBBS use it; it takes O(log² n) rounds with high probability.
//!
//! What is known of a vertex is one byte (in, out, or undecided and its class of degree), and ties are broken by hashing,
//! so most accesses hit the caches. Edges count whichever way they go; loops do not.
//!
//! Work O(n + m) or little more. Memory: 2 bytes a vertex (state, answer), an id for who is undecided, two while that
//! changes, and a bit. Reads, each round: the lists of undecided vertices up to the neighbour that decides.
//!
//! [1] G. Blelloch, J. Fineman, J. Shun, "Greedy Sequential Maximal Independent Set and Matching are Parallel on
//!     Average", SPAA 2012.

use esker_graph::{Bitmap, Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor, Weight, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{Draws, VertexValues, both_ways, concat, each_vertex, num_entries, scan_neighbours};

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
    /// Rounds, in each of which every undecided vertex was looked at.
    pub rounds: usize,
}

/// What finding the set will take; the reading is an upper bound for few rounds, and more than is usual.
pub fn estimate(shape: Shape) -> Estimate {
    let id_bytes = size_of::<VertexId>() as u64;
    Estimate {
        memory_bytes: shape.num_vertices * (2 + 4 * id_bytes) + shape.num_vertices.div_ceil(64) * 8,
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
    let blocked = Bitmap::new(n);
    let greedy =
        Greedy { graph, ways, draws: Draws::new(run.seed(), PURPOSE), states: &states, blocked: &blocked };
    run.round(n)?;
    scan_neighbours(graph, run, ways, Select::All, &greedy)?;
    let mut undecided = greedy.settle(run, n, vertex)?;
    while !undecided.is_empty() {
        run.round(undecided.len())?;
        scan_neighbours(graph, run, ways, Select::List(&undecided), &greedy)?;
        undecided = greedy.settle(run, undecided.len(), |i| undecided[i])?;
    }
    drop(undecided);
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
    /// Undecided vertices that wait for a neighbour before them.
    blocked: &'a Bitmap,
}

impl<G: Graph> Greedy<'_, G> {
    /// Where `v` stands among those of its class; no two stand at the same place.
    #[inline(always)]
    fn place(&self, v: VertexId) -> u64 {
        self.draws.at(u64::from(v))
    }

    /// After a round: whoever is undecided but waits for nobody is in. Those that wait on.
    fn settle(
        &self,
        run: &Run,
        len: usize,
        candidate: impl Fn(usize) -> VertexId + Sync,
    ) -> Result<Vec<VertexId>, G::Error> {
        let waiting =
            run.share_ranges::<Vec<VertexId>, G::Error>(len, 1 << 13, Vec::new, |waiting, range| {
                for v in range.map(&candidate).filter(|&v| self.states.get(v) < OUT) {
                    if self.blocked.get(v) {
                        waiting.push(v);
                    } else {
                        self.states.set(v, IN);
                    }
                }
                Ok(())
            })?;
        let waiting = concat(waiting);
        each_vertex(run, self.blocked.num_words(), |word| self.blocked.set_word(word as usize, 0))?;
        Ok(waiting)
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
                self.blocked.insert(v);
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
