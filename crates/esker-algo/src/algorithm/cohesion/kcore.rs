//! k-core: for every vertex, the largest k such that it lies in a subgraph in which every vertex has at least
//! k neighbours.
//!
//! Peeling with buckets [1, 2]: repeatedly removes the vertices of least remaining degree, which lowers the
//! degrees of their neighbours. The degree at which a vertex is removed is its coreness, and the order of
//! removal is a degeneracy order: no vertex has more later neighbours than its coreness.
//!
//! Degrees are lowered in place, one arc at a time. A compare-and-swap keeps them from ever falling below the
//! current level, so exactly one thread sees a degree reach the level or leave its bucket. The papers collect
//! a histogram of the arcs first, which saves atomic operations where many arcs meet. Here most arcs need
//! none, because vertices at or below the level are skipped.
//!
//! Edges count in both directions, parallel edges each; self-loops do not count. Coreness never varies
//! between runs. The order within a round varies; in a `deterministic` run it ascends.
//!
//! State: one number per vertex, first its remaining degree, then its coreness. Work: O(n + m), plus O(log
//! degree) moves per vertex. Memory per vertex: one id each for coreness and order, 4 ids for buckets, up to
//! 3 ids for the changes of a round, and one bit. Reads: all lists once to find self-loops, and each list
//! once when its vertex is removed.
//!
//! [1] L. Dhulipala, G. Blelloch, J. Shun, "Julienne: A Framework for Parallel Graph Algorithms using
//!     Work-efficient Bucketing", SPAA 2017.
//! [2] L. Dhulipala et al., "Sage: Parallel Semi-Asymmetric Graph Algorithms for NVRAMs", VLDB 2020, 4.3.4.

use esker_graph::{Bitmap, Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor, Weight};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    BucketLayout, BucketOrder, Buckets, VertexArray, concat, degrees_without_loops, is_small, need_in_edges,
    neighbourhood_directions, scan_neighbours,
};

/// Base-2 logarithm of the number of open buckets. Few are enough: most degrees fall far before their bucket
/// is taken, and a vertex moves once for each open bucket that its degree passes.
const BITS: u32 = 1;
/// Neighbours examined together.
const CHUNK: usize = 64;

/// The core decomposition of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KCore {
    /// The coreness of each vertex.
    pub coreness: Vec<VertexId>,
    /// All vertices in degeneracy order: coreness ascends, and no vertex has more later neighbours than its
    /// coreness.
    pub order: Vec<VertexId>,
    /// The largest coreness, which is the graph's degeneracy; 0 without vertices.
    pub k_max: VertexId,
    /// Number of rounds. Each round removes all vertices of the current level.
    pub rounds: usize,
}

/// Estimates memory and reads. Memory is an upper bound; reads are exact.
pub fn estimate(shape: Shape) -> Estimate {
    let id_bytes = size_of::<VertexId>() as u64;
    let lists = if shape.directed { 4 } else { 2 };
    Estimate {
        memory_bytes: shape.num_vertices * (5 * id_bytes)
            + Buckets::<BITS>::bytes_max(shape.num_vertices)
            + shape.num_vertices.div_ceil(64) * 8,
        read_bytes: shape.list_bytes() * lists,
    }
}

/// A round at level `k`: the vertices of remaining degree `k` are removed.
struct CoreRound<'a> {
    /// The remaining degree of each vertex, which becomes its coreness.
    remaining: &'a VertexArray,
    k: VertexId,
    layout: BucketLayout<BITS>,
    /// Vertices that left their bucket in this round.
    moved: &'a Bitmap,
}

/// One worker's findings: vertices to remove in the next round, and vertices that left their bucket.
#[derive(Debug, Default)]
struct RoundResult {
    next: Vec<VertexId>,
    moved: Vec<VertexId>,
}

impl CoreRound<'_> {
    /// Lowers the degrees of the neighbours of `level`. Returns the vertices to remove next, and those that
    /// moved.
    fn round<G: Graph>(
        self,
        graph: &G,
        run: &Run,
        directions: &[Direction],
        level: &[VertexId],
    ) -> Result<(Vec<VertexId>, Vec<VertexId>), G::Error> {
        let select = Select::List(level);
        let found = if is_small(graph, run, directions, level) {
            scan_neighbours(graph, run.single_threaded(), directions, select, &LowerDegrees::<true>(self))?
        } else {
            scan_neighbours(graph, run, directions, select, &LowerDegrees::<false>(self))?
        };
        let (next, moved): (Vec<_>, Vec<_>) =
            found.into_iter().map(|found| (found.next, found.moved)).unzip();
        Ok((concat(next), concat(moved)))
    }
}

/// Lowers the degree of each neighbour above the level by one. `ALONE`: a single thread scans, so degrees
/// need no compare-and-swap.
struct LowerDegrees<'a, const ALONE: bool>(CoreRound<'a>);

impl<W: Weight, const ALONE: bool> Visitor<W> for LowerDegrees<'_, ALONE> {
    type State = RoundResult;

    fn new_state(&self) -> RoundResult {
        RoundResult::default()
    }

    #[inline(always)]
    fn visit(&self, found: &mut RoundResult, _: VertexId, piece: Piece<'_, W>) -> Flow {
        for targets in piece.targets.chunks(CHUNK) {
            // Whether a vertex is above the level is unpredictable, so those are selected without branches.
            let mut above = [0; CHUNK];
            let mut count = 0;
            for &u in targets {
                above[count % CHUNK] = u;
                count += usize::from(self.0.remaining.get(u) > self.0.k);
            }
            above[..count].iter().for_each(|&u| self.lower(found, u));
        }
        Flow::More
    }
}

impl<const ALONE: bool> LowerDegrees<'_, ALONE> {
    /// Lowers the degree of `u`, which was above the level when last read.
    #[inline(always)]
    fn lower(&self, found: &mut RoundResult, u: VertexId) {
        let CoreRound { remaining, k, layout, moved } = &self.0;
        let mut old = remaining.get(u);
        while old > *k && !ALONE && !remaining.claim(u, old, old - 1) {
            old = remaining.get(u);
        }
        if old <= *k {
            return;
        }
        if ALONE {
            remaining.set(u, old - 1);
        }
        if old == k + 1 {
            found.next.push(u);
        } else if layout.leaves(u64::from(old), u64::from(old - 1)) && moved.insert(u) {
            found.moved.push(u);
        }
    }
}

/// Finds the coreness of every vertex.
///
/// ```
/// use esker_algo::algorithm::cohesion::kcore::kcore;
/// use esker_graph::{Csr, Run};
///
/// // A triangle with a tail.
/// let csr = Csr::undirected(4, &[(0, 1, ()), (1, 2, ()), (2, 0, ()), (2, 3, ())])?;
/// let found = kcore(&csr.graph(), &Run::with_threads(2)?)?;
/// assert_eq!(found.coreness, [2, 2, 2, 1]);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a directed graph stored without in-edges;
/// [`esker_graph::Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn kcore<G: Graph>(graph: &G, run: &Run) -> Result<KCore, G::Error> {
    let run = &run.begin("k-core", estimate(Shape::of(graph)).memory_bytes)?;
    run.install(|| peel(graph, run))
}

/// The decomposition, within a run that has begun.
pub(crate) fn peel<G: Graph>(graph: &G, run: &Run) -> Result<KCore, G::Error> {
    let n = graph.num_vertices();
    need_in_edges(graph, "k-core")?;
    let directions = neighbourhood_directions(graph);
    // The remaining degree, then the coreness, of each vertex.
    let remaining = degrees_without_loops(graph, run, directions)?;
    let peeled = Bitmap::new(n);
    let priority = |v: VertexId| (!peeled.get(v)).then(|| u64::from(remaining.get(v)));
    let mut buckets = Buckets::<BITS>::new(run, n, BucketOrder::Increasing, priority)?;
    let moved = Bitmap::new(n);
    let mut order = Vec::with_capacity(n);
    let mut k_max = 0;
    while let Some((k, mut level)) = buckets.next(run, priority)? {
        k_max = k as VertexId;
        while !level.is_empty() {
            run.round(level.len())?;
            run.set_done(order.len() as u64, n as u64);
            if run.deterministic() {
                level.sort_unstable();
            }
            order.extend_from_slice(&level);
            level.iter().for_each(|&v| peeled.insert_alone(v));
            let state =
                CoreRound { remaining: &remaining, k: k_max, layout: buckets.layout(), moved: &moved };
            let (next, changed) = state.round(graph, run, directions, &level)?;
            // All bits of `moved` are of `changed` vertices, so whole words can be cleared.
            changed.iter().for_each(|&v| moved.set_word(v as usize / 64, 0));
            buckets.insert(run, &changed, priority)?;
            level = next;
        }
    }
    Ok(KCore { coreness: remaining.into_vec(), order, k_max, rounds: run.rounds() })
}
