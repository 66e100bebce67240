//! Approximate set cover: few vertices whose out-lists together contain every vertex that is in any out-list.
//!
//! Every vertex is a set whose elements are its out-neighbours, as in Sage. A parallel greedy method [1, 2]:
//! sets wait in buckets by their number of uncovered elements, in steps of a factor 1 + epsilon, largest
//! first. The sets of a bucket compete for elements by random priorities. A set that wins nearly as many
//! elements as its bucket requires is chosen; the others return to the buckets. Counts are updated lazily: a
//! set is recounted when its bucket comes up, and sinks if it lost too many elements. The paper removes
//! covered elements with a filter; here a bitmap of covered elements is tested, which takes no memory per
//! edge but reads lists as a whole.
//!
//! Charge each element one over the number of elements that its set newly covered. The elements of any set
//! are charged at most (1 + epsilon)² H(its size) in total, which proves that the cover has at most (1 +
//! epsilon)² H(largest size) times the minimum number of sets. A repeated element counts once; if its
//! repetitions come in different pieces, a set may be chosen one step late.
//!
//! Priorities come from the seed, so if lists come whole the cover does not depend on threads. State: the
//! number of uncovered elements of each set, and the owner of each element. Work: O(m) expected each time all
//! sets are examined, O(log n) times. Memory per vertex: one id each for counts, wins and owners, 4 ids for
//! buckets, 3 ids for lists of a round, and two bits. Reads per round: up to four times the lists of the sets
//! in the bucket.
//!
//! [1] G. Blelloch, R. Peng, K. Tangwongsan, "Linear-Work Greedy Parallel Approximate Set Cover and
//!     Variants", SPAA 2011.
//! [2] L. Dhulipala, G. Blelloch, J. Shun, "Julienne: A Framework for Parallel Graph Algorithms using
//!     Work-efficient Bucketing", SPAA 2017.

use esker_graph::random::RandomKey;
use esker_graph::{Bitmap, Direction, Flow, Graph, NONE, Piece, Run, Select, VertexId, Visitor, Weight};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{BucketOrder, Buckets, VertexArray, is_small, need_positive};

/// Options of [`set_cover`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetCoverOptions {
    /// Sizes that differ by less than a factor of 1 + epsilon count as equal; more than 0. Less means more
    /// rounds.
    pub epsilon: f64,
}

impl Default for SetCoverOptions {
    fn default() -> Self {
        Self { epsilon: 0.01 }
    }
}

/// A set cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetCover {
    /// The chosen sets, in order of choice.
    pub sets: Vec<VertexId>,
    /// The number of elements that each chosen set newly covered.
    pub gains: Vec<VertexId>,
    /// For each vertex, the chosen set that newly covered it, [`NONE`] if it is in no out-list.
    pub owners: Vec<VertexId>,
    /// Number of vertices covered.
    pub covered: usize,
    /// Number of rounds.
    pub rounds: usize,
}

/// Base-2 logarithm of the number of open buckets.
const BITS: u32 = 8;
/// The purpose of the random numbers; the round is added to it.
const PURPOSE: u64 = 0x636f_7665_7200_0000;

/// Estimates memory and reads. Memory is an upper bound; reads are typical.
pub fn estimate(shape: Shape) -> Estimate {
    let n = shape.num_vertices;
    Estimate {
        memory_bytes: n * (8 * size_of::<VertexId>() as u64)
            + Buckets::<BITS>::bytes_max(n)
            + n.div_ceil(64) * 16,
        read_bytes: shape.list_bytes() * 8,
    }
}

/// Divides sizes into buckets: bucket `i` holds the sizes from (1 + epsilon)^i on. Holds epsilon.
struct SizeScale(f64);

impl SizeScale {
    /// The bucket of a set with so many `uncovered` elements; `None` if there are none.
    fn bucket(&self, uncovered: VertexId) -> Option<u64> {
        (uncovered > 0).then(|| ((uncovered as f64).ln() / self.0.ln_1p() + 1e-9) as u64)
    }

    /// The number of elements that a set of a bucket must win to be chosen: the least size of the bucket
    /// below.
    fn required_gain(&self, bucket: u64) -> f64 {
        ((bucket as f64 - 1.0) * self.0.ln_1p()).exp() - 1e-6
    }
}

/// The state of the greedy choice.
struct CoverState {
    /// An upper bound of the uncovered elements of each set; 0 once it is chosen.
    uncovered: VertexArray,
    /// Elements that each set won in this round.
    won: VertexArray,
    /// The set that covers each element, or that holds it in this round's competition.
    owners: VertexArray,
    /// The elements of chosen sets.
    covered: Bitmap,
    /// Elements already counted in `won`.
    counted: Bitmap,
}

impl CoverState {
    /// Counts the uncovered elements of each set.
    fn recount<G: Graph>(&self, graph: &G, run: &Run, sets: &[VertexId]) -> Result<(), G::Error> {
        sets.iter().for_each(|&v| self.uncovered.set(v, 0));
        each_element(graph, run, sets, |v, elements| {
            let mut last = NONE;
            let fresh = |&&u: &&VertexId| std::mem::replace(&mut last, u) != u && !self.covered.get(u);
            self.uncovered.add(v, elements.iter().filter(fresh).count() as VertexId);
        })
    }

    /// Gives each uncovered element to the set with the best priority, and counts the elements that each set
    /// won.
    fn compete<G: Graph>(
        &self,
        graph: &G,
        run: &Run,
        sets: &[VertexId],
        priority: impl Fn(VertexId) -> u64 + Sync,
    ) -> Result<(), G::Error> {
        sets.iter().for_each(|&v| self.won.set(v, 0));
        each_element(graph, run, sets, |v, elements| {
            for &u in elements.iter().filter(|&&u| !self.covered.get(u)) {
                loop {
                    let owner = self.owners.get(u);
                    if owner != NONE && priority(owner) <= priority(v) || self.owners.claim(u, owner, v) {
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

    /// Covers the elements won by chosen sets, and frees those won by others.
    fn settle<G: Graph>(&self, graph: &G, run: &Run, sets: &[VertexId]) -> Result<(), G::Error> {
        each_element(graph, run, sets, |v, elements| {
            let chosen = self.uncovered.get(v) == 0;
            for &u in elements.iter().filter(|&&u| self.owners.get(u) == v) {
                // No thread counts now, so whole words can be cleared.
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
    let run = if is_small(graph, run, &[Direction::Out], sets) { run.single_threaded() } else { run };
    graph.scan(run, Direction::Out, Select::List(sets), &VisitElements(f))?;
    Ok(())
}

/// Passes each piece to a function.
struct VisitElements<F>(F);

impl<W: Weight, F: Fn(VertexId, &[VertexId]) + Sync> Visitor<W> for VisitElements<F> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        (self.0)(v, piece.targets);
        Flow::More
    }
}

/// Finds a set cover.
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] if epsilon is not positive; [`esker_graph::Stop::OverBudget`]; the first
/// list that cannot be read; cancellation.
pub fn set_cover<G: Graph>(graph: &G, run: &Run, options: &SetCoverOptions) -> Result<SetCover, G::Error> {
    let run = &run.begin("set cover", estimate(Shape::of(graph)).memory_bytes)?;
    need_positive("epsilon", options.epsilon)?;
    run.install(|| choose(graph, run, options.epsilon))
}

fn choose<G: Graph>(graph: &G, run: &Run, epsilon: f64) -> Result<SetCover, G::Error> {
    let n = graph.num_vertices();
    let scale = SizeScale(epsilon);
    let state = CoverState {
        uncovered: VertexArray::from_fn(run, n, |v| graph.degree(Direction::Out, v as VertexId) as VertexId),
        won: VertexArray::filled(run, n, 0),
        owners: VertexArray::filled(run, n, NONE),
        covered: Bitmap::new(n),
        counted: Bitmap::new(n),
    };
    let bucket = |v: VertexId| scale.bucket(state.uncovered.get(v));
    let mut buckets = Buckets::<BITS>::new(run, n, BucketOrder::Decreasing, bucket)?;
    let (mut sets, mut gains) = (Vec::new(), Vec::new());
    while let Some((at, candidates)) = buckets.next(run, bucket)? {
        run.round(candidates.len())?;
        state.recount(graph, run, &candidates)?;
        let (mut rivals, sunk): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|&v| bucket(v) >= Some(at));
        buckets.insert(run, &sunk, bucket)?;
        let rng = RandomKey::new(run.seed(), PURPOSE + run.rounds() as u64);
        let priority = |v: VertexId| rng.at(v.into());
        state.compete(graph, run, &rivals, priority)?;
        let first = rivals.iter().copied().min_by_key(|&v| priority(v));
        rivals.sort_unstable();
        let required = scale.required_gain(at);
        for &v in rivals.iter().filter(|&&v| state.won.get(v) as f64 >= required.max(1.0)) {
            sets.push(v);
            gains.push(state.won.get(v));
            state.uncovered.set(v, 0);
        }
        state.settle(graph, run, &rivals)?;
        rivals.retain(|&v| state.uncovered.get(v) > 0);
        // The set with the best priority won all its remaining elements. If that was too few, its count was
        // too high.
        if let Some(first) = first.filter(|&first| state.uncovered.get(first) > 0) {
            state.uncovered.set(first, state.won.get(first));
        }
        buckets.insert(run, &rivals, bucket)?;
    }
    let owners = state.owners.into_vec();
    Ok(SetCover { sets, gains, owners, covered: state.covered.count(), rounds: run.rounds() })
}
