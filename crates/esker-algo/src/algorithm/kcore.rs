//! k-core: for every vertex the largest k such that it lies in a part of the graph where all have at least k neighbours.
//!
//! Peeling by buckets [1, 2]: the vertices of the least remaining degree go, which lowers the degrees of their
//! neighbours, until none is left; the degree at which a vertex goes is its coreness, and the order in which they go is
//! a degeneracy order: no vertex has more later neighbours than its coreness. Degrees are lowered one arc at a time by fetch-and-add, in place;
//! of those who lower one, exactly one sees it arrive at the level at hand, or leave its bucket. The paper's histogram
//! saves atomic additions where many arcs meet; here, most do not get that far: a vertex at or below the level is passed over.
//!
//! Edges count whichever way they go, parallel ones each; loops do not. Coreness never varies between runs. The order
//! varies within a round; in a `deterministic` run it ascends.
//!
//! Work O(n + m), and O(log degree) moves a vertex. Memory: ids a vertex: coreness, order, 5 for buckets, up to 3 for what changed
//! in a round; and a bit. Reads: all lists once for loops, and the list of each vertex once, when it goes.
//!
//! [1] L. Dhulipala, G. Blelloch, J. Shun, "Julienne: A Framework for Parallel Graph Algorithms using Work-efficient
//!     Bucketing", SPAA 2017.
//! [2] L. Dhulipala et al., "Sage: Parallel Semi-Asymmetric Graph Algorithms for NVRAMs", VLDB 2020, 4.3.4.

use esker_graph::{Bitmap, Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor, Weight};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    Buckets, Layout, Order, VertexArray, both_ways, concat, degrees_without_loops, is_small, scan_neighbours,
};

/// Logarithm of the open buckets. Few, because most degrees fall far before they come up.
const BITS: u32 = 1;
/// Added to a number, it makes it one less.
const LESS_ONE: VertexId = VertexId::MAX;
/// Neighbours looked at side by side.
const CHUNK: usize = 64;

/// The cores of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KCore {
    /// The coreness of each vertex.
    pub coreness: Vec<VertexId>,
    /// All vertices in degeneracy order: coreness ascends, and none has more later neighbours than that.
    pub order: Vec<VertexId>,
    /// The largest coreness, which is the degeneracy of the graph; 0 without vertices.
    pub k_max: VertexId,
    /// Rounds, in each of which all vertices that can go do.
    pub rounds: usize,
}

/// What the decomposition will take; the reading is exact.
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

/// Finds the coreness of every vertex.
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a directed graph that is kept without its in-edges; [`esker_graph::Stop::OverBudget`]; the first
/// list that cannot be read; cancellation.
pub fn kcore<G: Graph>(graph: &G, run: &Run) -> Result<KCore, G::Error> {
    run.begin("k-core", estimate(Shape::of(graph)).memory_bytes)?;
    run.install(|| peel(graph, run))
}

/// The decomposition, within a run that has begun.
pub(super) fn peel<G: Graph>(graph: &G, run: &Run) -> Result<KCore, G::Error> {
    let n = graph.num_vertices();
    let ways = both_ways(graph)?;
    // Degrees while vertices remain, then coreness.
    let left = degrees_without_loops(graph, run, ways)?;
    let peeled = Bitmap::new(n);
    let priority = |v: VertexId| (!peeled.get(v)).then(|| u64::from(left.get(v)));
    let mut buckets = Buckets::<BITS>::new(run, n, Order::Increasing, priority)?;
    let moved = Bitmap::new(n);
    let mut order = Vec::with_capacity(n);
    let mut k_max = 0;
    while let Some((k, mut level)) = buckets.next(run, priority)? {
        k_max = k as VertexId;
        while !level.is_empty() {
            run.round(level.len())?;
            if run.deterministic() {
                level.sort_unstable();
            }
            order.extend_from_slice(&level);
            level.iter().for_each(|&v| peeled.insert_alone(v));
            let state = Peel { left: &left, k: k_max, layout: buckets.layout(), moved: &moved };
            let (next, changed) = state.round(graph, run, ways, &level)?;
            changed.iter().for_each(|&v| moved.set_word(v as usize / 64, 0));
            buckets.insert(run, &changed, priority)?;
            level = next;
        }
    }
    Ok(KCore { coreness: left.into_vec(), order, k_max, rounds: run.rounds() })
}

/// A round of level `k`.
struct Peel<'a> {
    left: &'a VertexArray,
    k: VertexId,
    layout: Layout<BITS>,
    /// Vertices that left their bucket in this round.
    moved: &'a Bitmap,
}

/// What one worker found: vertices that go in the next round, and those that left their bucket.
#[derive(Debug, Default)]
struct Found {
    next: Vec<VertexId>,
    moved: Vec<VertexId>,
}

impl Peel<'_> {
    /// Lowers the degrees of the neighbours of those that go. Those that go next, and those that moved.
    fn round<G: Graph>(
        self,
        graph: &G,
        run: &Run,
        ways: &[Direction],
        level: &[VertexId],
    ) -> Result<(Vec<VertexId>, Vec<VertexId>), G::Error> {
        let select = Select::List(level);
        let found = if is_small(graph, run, ways, level) {
            scan_neighbours(graph, run.alone(), ways, select, &Lower::<true>(self))?
        } else {
            scan_neighbours(graph, run, ways, select, &Lower::<false>(self))?
        };
        let (next, moved): (Vec<_>, Vec<_>) =
            found.into_iter().map(|found| (found.next, found.moved)).unzip();
        Ok((concat(next), concat(moved)))
    }
}

/// Lowers the degree of each neighbour above the level by one.
struct Lower<'a, const ALONE: bool>(Peel<'a>);

impl<W: Weight, const ALONE: bool> Visitor<W> for Lower<'_, ALONE> {
    type State = Found;

    fn new_state(&self) -> Found {
        Found::default()
    }

    #[inline(always)]
    fn visit(&self, found: &mut Found, _: VertexId, piece: Piece<'_, W>) -> Flow {
        for targets in piece.targets.chunks(CHUNK) {
            // Who is above the level cannot be predicted, so they are picked without branches.
            let mut above = [0; CHUNK];
            let mut count = 0;
            for &u in targets {
                above[count % CHUNK] = u;
                count += usize::from(self.0.left.get(u) > self.0.k);
            }
            above[..count].iter().for_each(|&u| self.lower(found, u));
        }
        Flow::More
    }
}

impl<const ALONE: bool> Lower<'_, ALONE> {
    /// Lowers the degree of `u`, which was above the level when last seen.
    #[inline(always)]
    fn lower(&self, found: &mut Found, u: VertexId) {
        let Peel { left, k, layout, moved } = &self.0;
        let old = if ALONE {
            let now = left.get(u);
            left.set(u, now - VertexId::from(now > *k));
            now
        } else {
            left.add(u, LESS_ONE)
        };
        if old == k + 1 {
            found.next.push(u);
        } else if old <= *k {
            if !ALONE {
                left.add(u, 1); // Others were faster: it already goes.
            }
        } else if layout.leaves(u64::from(old), u64::from(old - 1)) && moved.insert(u) {
            found.moved.push(u);
        }
    }
}
