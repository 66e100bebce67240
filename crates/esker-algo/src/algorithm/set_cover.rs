//! Approximate set cover: few vertices whose out-lists together hold every vertex that any out-list holds.
//!
//! Every vertex is a set, whose elements are its out-neighbours, as in Sage. The greedy method in parallel [1, 2]: sets wait
//! in buckets by the number of their elements that are not covered yet, in steps of 1 + epsilon, the largest first. Those of a bucket compete
//! for elements by random priorities; a set that wins nearly as many as its bucket asks for is chosen, the others go
//! back. Counts are lowered lazily: a set is counted again when its bucket comes up, and sinks if it has lost too many. Where the
//! paper packs covered elements out of a filter, a bitmap of them is looked at: no memory for edges, but lists are read whole.
//!
//! Each element pays one over the number that its set newly covered; no set's elements together pay more than
//! (1 + epsilon)² H(its size), which proves that the cover has at most (1 + epsilon)² H(largest size) times the fewest sets
//! possible. A repeated element counts once; if its repetitions come in different pieces a set may be chosen a step late.
//!
//! Priorities are drawn by the seed, so where lists come whole the cover does not depend on threads. Work O(m) expected for each time that a set is
//! looked at, O(log) times. Memory, ids a vertex: counts, wins, owners, 5 for buckets, 3 for lists of a round; and two bits. Reads: up to
//! four times the lists of the sets in the bucket, each round.
//!
//! [1] G. Blelloch, R. Peng, K. Tangwongsan, "Linear-Work Greedy Parallel Approximate Set Cover and Variants", SPAA 2011.
//! [2] L. Dhulipala, G. Blelloch, J. Shun, "Julienne: A Framework for Parallel Graph Algorithms using Work-efficient
//!     Bucketing", SPAA 2017.

use esker_graph::{
    Bitmap, Direction, Flow, Graph, NONE, Piece, Run, Select, Stop, VertexId, Visitor, Weight,
};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{Buckets, Draws, Order, VertexArray, is_small};

/// How close to the greedy method the choice is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetCoverOptions {
    /// How far apart sizes may be that count as the same; more than 0. Less makes for more rounds.
    pub epsilon: f64,
}

impl Default for SetCoverOptions {
    fn default() -> Self {
        Self { epsilon: 0.01 }
    }
}

/// A cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetCover {
    /// The sets chosen, in the order in which they were.
    pub sets: Vec<VertexId>,
    /// The number of elements that each newly covered.
    pub gains: Vec<VertexId>,
    /// For each vertex the set that newly covered it, [`NONE`] if it is in no out-list.
    pub owners: Vec<VertexId>,
    /// Number of vertices covered.
    pub covered: usize,
    /// Rounds.
    pub rounds: usize,
}

/// Logarithm of the open buckets.
const BITS: u32 = 8;
/// What is drawn for; the round is added.
const PURPOSE: u64 = 0x636f_7665_7200_0000;

/// What finding a cover will take; the reading is what is common.
pub fn estimate(shape: Shape) -> Estimate {
    let n = shape.num_vertices;
    Estimate {
        memory_bytes: n * (8 * size_of::<VertexId>() as u64)
            + Buckets::<BITS>::bytes_max(n)
            + n.div_ceil(64) * 16,
        read_bytes: shape.list_bytes() * 8,
    }
}

/// Finds a cover.
///
/// # Errors
/// [`Stop::Unsuitable`] for an epsilon that is not positive; [`Stop::OverBudget`]; the first list that cannot be read;
/// cancellation.
pub fn set_cover<G: Graph>(graph: &G, run: &Run, options: &SetCoverOptions) -> Result<SetCover, G::Error> {
    run.begin("set cover", estimate(Shape::of(graph)).memory_bytes)?;
    if !(options.epsilon > 0.0 && options.epsilon.is_finite()) {
        return Err(
            Stop::Unsuitable(format!("epsilon is {} but must be more than 0", options.epsilon)).into()
        );
    }
    run.install(|| choose(graph, run, options.epsilon))
}

/// The steps in which sizes are told apart.
struct Steps(f64);

impl Steps {
    /// The bucket of a set with so many elements left; `None` of none.
    fn bucket(&self, left: VertexId) -> Option<u64> {
        (left > 0).then(|| ((left as f64).ln() / self.0.ln_1p() + 1e-9) as u64)
    }

    /// How many elements a set of a bucket must win.
    fn asks_for(&self, bucket: u64) -> f64 {
        ((bucket as f64 - 1.0) * self.0.ln_1p()).exp() - 1e-6
    }
}

fn choose<G: Graph>(graph: &G, run: &Run, epsilon: f64) -> Result<SetCover, G::Error> {
    let n = graph.num_vertices();
    let steps = Steps(epsilon);
    let state = State {
        left: VertexArray::from_fn(run, n, |v| graph.degree(Direction::Out, v as VertexId) as VertexId),
        won: VertexArray::filled(run, n, 0),
        owners: VertexArray::filled(run, n, NONE),
        covered: Bitmap::new(n),
        counted: Bitmap::new(n),
    };
    let bucket = |v: VertexId| steps.bucket(state.left.get(v));
    let mut buckets = Buckets::<BITS>::new(run, n, Order::Decreasing, bucket)?;
    let (mut sets, mut gains) = (Vec::new(), Vec::new());
    while let Some((at, candidates)) = buckets.next(run, bucket)? {
        run.round(candidates.len())?;
        state.recount(graph, run, &candidates)?;
        let (mut rivals, sunk): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|&v| bucket(v) >= Some(at));
        buckets.insert(run, &sunk, bucket)?;
        let draws = Draws::new(run.seed(), PURPOSE + run.rounds() as u64);
        let place = |v: VertexId| draws.at(v.into());
        state.compete(graph, run, &rivals, place)?;
        let first = rivals.iter().copied().min_by_key(|&v| place(v));
        rivals.sort_unstable();
        let asked = steps.asks_for(at);
        for &v in rivals.iter().filter(|&&v| state.won.get(v) as f64 >= asked.max(1.0)) {
            sets.push(v);
            gains.push(state.won.get(v));
            state.left.set(v, 0);
        }
        state.settle(graph, run, &rivals)?;
        rivals.retain(|&v| state.left.get(v) > 0);
        // The first of all has won all that it has left, so if that was not enough it had been counted too high.
        if let Some(first) = first.filter(|&first| state.left.get(first) > 0) {
            state.left.set(first, state.won.get(first));
        }
        buckets.insert(run, &rivals, bucket)?;
    }
    let owners = state.owners.into_vec();
    Ok(SetCover { sets, gains, owners, covered: state.covered.count(), rounds: run.rounds() })
}

struct State {
    /// Elements of each set that are not covered, or more; 0 once it is chosen.
    left: VertexArray,
    /// Elements that each set won in this round.
    won: VertexArray,
    /// The set to which each element belongs that is covered, or competed for.
    owners: VertexArray,
    covered: Bitmap,
    /// Elements that count among the won.
    counted: Bitmap,
}

impl State {
    /// Counts for each set the elements that are not covered.
    fn recount<G: Graph>(&self, graph: &G, run: &Run, sets: &[VertexId]) -> Result<(), G::Error> {
        sets.iter().for_each(|&v| self.left.set(v, 0));
        each_element(graph, run, sets, |v, elements| {
            let mut last = NONE;
            let fresh = |&&u: &&VertexId| std::mem::replace(&mut last, u) != u && !self.covered.get(u);
            self.left.add(v, elements.iter().filter(fresh).count() as VertexId);
        })
    }

    /// Gives each element that is not covered to the first set that has it, and counts what each won.
    fn compete<G: Graph>(
        &self,
        graph: &G,
        run: &Run,
        sets: &[VertexId],
        place: impl Fn(VertexId) -> u64 + Sync,
    ) -> Result<(), G::Error> {
        sets.iter().for_each(|&v| self.won.set(v, 0));
        each_element(graph, run, sets, |v, elements| {
            for &u in elements.iter().filter(|&&u| !self.covered.get(u)) {
                loop {
                    let owner = self.owners.get(u);
                    if owner != NONE && place(owner) <= place(v) || self.owners.claim(u, owner, v) {
                        break;
                    }
                }
            }
        })?;
        each_element(graph, run, sets, |v, elements| {
            let wins = |&&u: &&VertexId| self.owners.get(u) == v && self.counted.insert(u);
            self.won.add(v, elements.iter().filter(wins).count() as VertexId);
        })
    }

    /// What a chosen set won is covered; what the others won is free again.
    fn settle<G: Graph>(&self, graph: &G, run: &Run, sets: &[VertexId]) -> Result<(), G::Error> {
        each_element(graph, run, sets, |v, elements| {
            let chosen = self.left.get(v) == 0;
            for &u in elements.iter().filter(|&&u| self.owners.get(u) == v) {
                // Nobody counts now, so whole words can go.
                self.counted.set_word(u as usize / 64, 0);
                if chosen {
                    self.covered.insert(u);
                } else {
                    self.owners.set(u, NONE);
                }
            }
        })
    }
}

/// Calls `f` with the elements of each set, piece by piece.
fn each_element<G: Graph>(
    graph: &G,
    run: &Run,
    sets: &[VertexId],
    f: impl Fn(VertexId, &[VertexId]) + Sync,
) -> Result<(), G::Error> {
    let run = if is_small(graph, run, &[Direction::Out], sets) { run.alone() } else { run };
    graph.scan(run, Direction::Out, Select::List(sets), &Each(f))?;
    Ok(())
}

struct Each<F>(F);

impl<W: Weight, F: Fn(VertexId, &[VertexId]) + Sync> Visitor<W> for Each<F> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        (self.0)(v, piece.targets);
        Flow::More
    }
}
