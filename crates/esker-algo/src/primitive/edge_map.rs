//! `edge_map`: applies an operator to the edges that leave a frontier and returns the next frontier.
//!
//! *Push* follows the out-edges of the members; several may meet at one target, so the operator updates it
//! atomically. *Pull* goes over the in-edges of every vertex that still wants something and stops as soon as
//! it has enough; one thread holds the vertex, so the operator writes plainly. The direction follows Ligra's
//! rule [1] (`Way::choose`). Searches [2], whose pulls stop early, compare estimated costs instead
//! (`Way::choose_stopping`).
//!
//! Push is chunked as in Sage [3]: each worker collects its part of the next frontier by itself, and a vertex
//! enters it once, so intermediate memory is O(n) whatever the degree of the frontier. A round that pushes
//! costs O(members + arcs that leave them), never O(n): graphs of high diameter have thousands of tiny
//! rounds.
//!
//! [1] J. Shun, G. Blelloch, "Ligra: A Lightweight Graph Processing Framework for Shared Memory", PPoPP 2013.
//! [2] S. Beamer, K. Asanović, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012.
//! [3] L. Dhulipala et al., "Sage: Parallel Semi-Asymmetric Graph Algorithms for NVRAMs", VLDB 2020, appendix
//!     A.
//! [4] K. Iwabuchi, "NETALX and DegAwareRHH", thesis, section 3.4.4.4.

use esker_graph::{Bitmap, Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor, Weight};

use super::frontier::Frontier;
use super::vertex_map::FoundMembers;

/// A round pulls if the frontier and the arcs that leave it are more than this fraction of the arcs before it
/// and of all vertices, each of which a pull looks at.
const PULL_DIVISOR: u64 = 20;
/// An arc of a push of a search costs as much as this number of arcs that a pull looks at.
const PUSH_COST: u64 = 3;
/// After a pull a search pulls again if the frontier and its arcs are more than this fraction of the arcs
/// before it and of all vertices.
const PULL_AGAIN_DIVISOR: u64 = 8;
/// A pull skips this number of vertices in the time of one arc.
const SKIPS: u64 = 4;
/// Where lists come in parts all over a scan, a round with a larger load pulls: it would go through most
/// parts anyway, and a pull leaves out parts without an end that matters.
const SCATTERED_PUSH_MAX: u64 = 1 << 16;
/// A push that follows fewer arcs than one in this many vertices removes repeats by sorting; one that follows
/// more, by a bitmap over all vertices.
const SORT_DIVISOR: u64 = 64;
/// A push with a smaller load stays on the calling thread: two or three microseconds.
const ALONE_ARCS_MAX: u64 = 1 << 9;
/// The same unless the threads of the run are awake: about ten microseconds.
const ASLEEP_ARCS_MAX: u64 = 1 << 11;

/// A push has room for as many vertices as it has members, up to this number; a list that grows from nothing
/// is copied several times.
const ROOM_MAX: usize = 1 << 10;

/// What is done at each edge, and which vertices enter the next frontier.
pub trait EdgeOp<W: Weight>: Sync {
    /// Whether [`EdgeOp::push`] may return true more than once in a round for one target. Repeats are then
    /// removed.
    const REPEATS: bool = false;

    /// As [`Visitor::BOXED`], for both directions of a round.
    const BOXED: bool = false;

    /// Whether anything may still change at `dst`. Asked before each edge to it.
    #[inline(always)]
    fn wants(&self, _dst: VertexId) -> bool {
        true
    }

    /// Handles an edge while other threads may handle edges to `dst`, so updates must be atomic. Returns
    /// whether `dst` enters the next frontier through this edge.
    fn push(&self, src: VertexId, dst: VertexId, weight: W) -> bool;

    /// As [`EdgeOp::push`] while no other thread handles any edge, so plain stores suffice. Called only if
    /// `dst` is wanted.
    #[inline(always)]
    fn push_alone(&self, src: VertexId, dst: VertexId, weight: W) -> bool {
        self.push(src, dst, weight)
    }

    /// Handles an edge while this thread alone handles edges to `dst`, so plain stores suffice. Returns
    /// whether `dst` enters the next frontier; several edges to one `dst` may return true.
    #[inline(always)]
    fn pull(&self, dst: VertexId, src: VertexId, weight: W) -> bool {
        self.push(src, dst, weight)
    }
}

/// Which way a round goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Along the out-edges of the members.
    Push,
    /// Along the in-edges of all vertices.
    Pull,
}

impl Way {
    /// The cheaper way for a frontier that has `remaining_arcs` arcs of the graph before it: pull if those
    /// that leave it are more than one in twenty of them and of the vertices, and in-edges are kept.
    pub fn choose<G: Graph>(graph: &G, frontier: &Frontier, remaining_arcs: u64) -> Self {
        let (load, pull_load) = loads(graph, frontier, remaining_arcs);
        let push_max = pull_load / PULL_DIVISOR;
        let push_max = if graph.is_scattered() { push_max.min(SCATTERED_PUSH_MAX) } else { push_max };
        if load > push_max && graph.has(Direction::In) { Self::Pull } else { Self::Push }
    }

    /// The cheaper way of a round of a search after one that went the `last` way. In a pull each of the
    /// `unreached` vertices looks at its list up to the first member of the frontier.
    ///
    /// If one in `k` of the remaining arcs leaves the frontier, a pull looks at `k` arcs of such a list, or
    /// at all. How many arcs lead to vertices that cannot be reached is unknown, so once a search pulls, it
    /// does so until the frontier and its arcs are few. Where few lists cannot be read by themselves at once,
    /// as from a disk, [`Way::choose`] decides.
    pub fn choose_stopping<G: Graph>(
        graph: &G,
        frontier: &Frontier,
        unreached: usize,
        remaining_arcs: u64,
        last: Self,
    ) -> Self {
        if !graph.has(Direction::In) {
            return Self::Push;
        }
        if !graph.is_at_hand() {
            return Self::choose(graph, frontier, remaining_arcs);
        }
        let (load, pull_load) = loads(graph, frontier, remaining_arcs);
        if last == Self::Pull {
            return if load > pull_load / PULL_AGAIN_DIVISOR { Self::Pull } else { Self::Push };
        }
        let looks = unreached as f64 * remaining_arcs as f64 / frontier.arcs().max(1) as f64;
        let pull_arcs = looks.min(remaining_arcs as f64) + remaining_arcs.min(unreached as u64) as f64;
        let skips = (graph.num_vertices() as u64 / SKIPS) as f64;
        if (load * PUSH_COST) as f64 > pull_arcs + skips { Self::Pull } else { Self::Push }
    }
}

/// The load of a push (vertices of the frontier and the arcs that leave them) and of a pull (all vertices and
/// the remaining arcs).
fn loads<G: Graph>(graph: &G, frontier: &Frontier, remaining_arcs: u64) -> (u64, u64) {
    (frontier.arcs() + frontier.len() as u64, remaining_arcs + graph.num_vertices() as u64)
}

/// When a search turns, by two thresholds [2, 4]. A growing frontier is pulled once the load of a push is
/// more than one in `alpha` of that of a pull, and a shrinking one is pushed again once it is less than one
/// in `beta`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SwitchThresholds {
    /// The greater, the earlier a search pulls.
    pub alpha: f64,
    /// The greater, the later a search pushes again.
    pub beta: f64,
}

impl SwitchThresholds {
    /// The thresholds that [`Way::choose`] uses in both directions.
    pub const DEFAULT: Self = Self { alpha: PULL_DIVISOR as f64, beta: PULL_DIVISOR as f64 };

    /// The way of the next round, after a round of the given way from `before` vertices.
    pub fn choose<G: Graph>(
        self,
        graph: &G,
        frontier: &Frontier,
        remaining_arcs: u64,
        way: Way,
        before: usize,
    ) -> Way {
        let (load, pull_load) = loads(graph, frontier, remaining_arcs);
        let (load, pull_load) = (load as f64, pull_load as f64);
        match way {
            _ if !graph.has(Direction::In) => Way::Push,
            Way::Push if frontier.len() > before && load > pull_load / self.alpha => Way::Pull,
            Way::Pull if frontier.len() < before && load < pull_load / self.beta => Way::Push,
            way => way,
        }
    }
}

/// Applies `op` to the edges that leave `frontier`, pushing or pulling as is cheaper. Returns the next
/// frontier: the vertices for which `op` returned true.
///
/// ```
/// use esker_algo::primitive::{EdgeOp, Frontier, VertexArray, edge_map};
/// use esker_graph::{Csr, NONE, Run, VertexId};
///
/// /// Gives each vertex that has no parent yet one.
/// struct Adopt<'a>(&'a VertexArray);
///
/// impl EdgeOp<()> for Adopt<'_> {
///     fn wants(&self, dst: VertexId) -> bool {
///         self.0.get(dst) == NONE
///     }
///
///     fn push(&self, src: VertexId, dst: VertexId, _weight: ()) -> bool {
///         self.0.claim(dst, NONE, src) // sources race: the first one wins
///     }
/// }
///
/// let csr = Csr::directed(4, &[(0, 1, ()), (0, 2, ()), (1, 3, ())])?;
/// let (graph, run) = (csr.graph(), Run::with_threads(2)?);
/// let parents = VertexArray::filled(&run, 4, NONE);
/// parents.set(0, 0);
/// let next = edge_map(&graph, &run, &Frontier::one(&graph, 0), &Adopt(&parents))?;
/// assert_eq!(next.len(), 2);
/// assert_eq!(parents.into_vec(), [0, 0, 0, NONE]);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// The first list that cannot be read, or cancellation.
pub fn edge_map<G: Graph, O: EdgeOp<G::Weight>>(
    graph: &G,
    run: &Run,
    frontier: &Frontier,
    op: &O,
) -> Result<Frontier, G::Error> {
    edge_map_way(graph, run, Way::choose(graph, frontier, graph.num_arcs()), frontier, op)
}

/// As [`edge_map`], in the given way.
///
/// # Errors
/// As [`edge_map`]; [`esker_graph::Stop::Unsuitable`] for a pull on a graph that is kept without in-edges.
pub fn edge_map_way<G: Graph, O: EdgeOp<G::Weight>>(
    graph: &G,
    run: &Run,
    way: Way,
    frontier: &Frontier,
    op: &O,
) -> Result<Frontier, G::Error> {
    match way {
        Way::Push => push(graph, run, frontier, op),
        Way::Pull => pull(graph, run, frontier, op),
    }
}

/// Follows the out-edges of the frontier. Each worker collects the vertices that enter the next frontier;
/// these parts are joined at the end.
fn push<G: Graph, O: EdgeOp<G::Weight>>(
    graph: &G,
    run: &Run,
    frontier: &Frontier,
    op: &O,
) -> Result<Frontier, G::Error> {
    let n = graph.num_vertices();
    let few = frontier.arcs() < n as u64 / SORT_DIVISOR;
    let seen = (O::REPEATS && !few).then(|| Bitmap::new(n));
    let seen = seen.as_ref();
    let room = frontier.len().min(ROOM_MAX);
    let load = frontier.arcs() + frontier.len() as u64;
    let is_short = load <= ALONE_ARCS_MAX || load <= ASLEEP_ARCS_MAX && !run.short_step();
    let mut found = if run.threads() == 1 || is_short {
        let visitor = Push::<G, O, true> { graph, op, seen, room };
        graph.scan(run.single_threaded(), Direction::Out, frontier.select(), &visitor)?
    } else {
        let visitor = Push::<G, O, false> { graph, op, seen, room };
        graph.scan(run, Direction::Out, frontier.select(), &visitor)?
    };
    found.iter_mut().for_each(|found| found.count(graph));
    let mut next = FoundMembers::join(n, found);
    if O::REPEATS && few {
        let mut list = next.list().into_owned();
        list.sort_unstable();
        list.dedup();
        next = Frontier::from_list(graph, list);
    }
    Ok(next)
}

/// The visitor of a push. `ALONE`: a single thread scans.
struct Push<'a, G, O, const ALONE: bool> {
    graph: &'a G,
    op: &'a O,
    /// The vertices that entered the next frontier, if `op` may return true several times for one.
    seen: Option<&'a Bitmap>,
    /// Vertices that each worker has room for at first.
    room: usize,
}

impl<G: Graph, O: EdgeOp<G::Weight>, const ALONE: bool> Visitor<G::Weight> for Push<'_, G, O, ALONE> {
    type State = FoundMembers;

    const BOXED: bool = O::BOXED;

    fn new_state(&self) -> FoundMembers {
        FoundMembers::with_room(self.room)
    }

    #[inline(always)]
    fn visit(&self, found: &mut FoundMembers, src: VertexId, piece: Piece<'_, G::Weight>) -> Flow {
        for (&dst, &weight) in piece.targets.iter().zip(piece.weights) {
            if !self.op.wants(dst) {
                continue;
            }
            let joins =
                if ALONE { self.op.push_alone(src, dst, weight) } else { self.op.push(src, dst, weight) };
            if joins && self.seen.is_none_or(|seen| seen.insert(dst)) {
                found.add(dst);
            }
        }
        found.count_many(self.graph);
        Flow::More
    }

    #[inline(always)]
    fn visit_back(&self, found: &mut FoundMembers, dst: VertexId, sources: Piece<'_, G::Weight>) {
        if self.op.wants(dst) {
            for (&src, weight) in sources.targets.iter().zip(sources.weights) {
                let weights = std::slice::from_ref(weight);
                self.visit(found, src, Piece { targets: &[dst], weights, exclusive: sources.exclusive });
            }
        }
    }
}

/// Follows the in-edges of the vertices that `op` wants, up to the first edges that are enough.
fn pull<G: Graph, O: EdgeOp<G::Weight>>(
    graph: &G,
    run: &Run,
    frontier: &Frontier,
    op: &O,
) -> Result<Frontier, G::Error> {
    let current = frontier.bits(run)?;
    let next = Bitmap::new(graph.num_vertices());
    let visitor = Pull { graph, op, current: &current, next: &next, words_apart: graph.words_apart() };
    let counts = graph.scan(run, Direction::In, Select::All, &visitor)?;
    let len = counts.iter().map(|c| c.len).sum();
    let arcs = counts.iter().map(|c| c.arcs).sum();
    Ok(Frontier::from_counted_bits(next, len, arcs))
}

/// The visitor of a pull.
struct Pull<'a, G, O> {
    graph: &'a G,
    op: &'a O,
    current: &'a Bitmap,
    next: &'a Bitmap,
    words_apart: bool,
}

/// Size of the part of the next frontier that one worker found.
#[derive(Debug, Default)]
struct Count {
    len: usize,
    arcs: u64,
}

impl<G: Graph, O: EdgeOp<G::Weight>> Visitor<G::Weight> for Pull<'_, G, O> {
    type State = Count;

    const BOXED: bool = O::BOXED;

    fn new_state(&self) -> Count {
        Count::default()
    }

    #[inline(always)]
    fn wants(&self, dst: VertexId) -> bool {
        self.op.wants(dst)
    }

    #[inline(always)]
    fn minds(&self, src: VertexId) -> bool {
        self.current.get(src)
    }

    #[inline(always)]
    fn visit(&self, count: &mut Count, dst: VertexId, piece: Piece<'_, G::Weight>) -> Flow {
        if !piece.exclusive {
            return self.visit_shared(count, dst, piece);
        }
        let mut joins = false;
        let mut flow = Flow::More;
        for (&src, &weight) in piece.targets.iter().zip(piece.weights) {
            if self.current.get(src) {
                joins |= self.op.pull(dst, src, weight);
                if !self.op.wants(dst) {
                    flow = Flow::Enough;
                    break;
                }
            }
        }
        if joins && !self.next.get(dst) {
            if self.words_apart {
                self.next.insert_alone(dst);
            } else {
                self.next.insert(dst);
            }
            self.count(count, dst);
        }
        flow
    }

    #[inline(always)]
    fn visit_back(&self, count: &mut Count, src: VertexId, vertices: Piece<'_, G::Weight>) {
        if !self.current.get(src) {
            return;
        }
        let alone = vertices.exclusive;
        for (&dst, &weight) in vertices.targets.iter().zip(vertices.weights) {
            if !self.op.wants(dst) {
                continue;
            }
            let joins = if alone { self.op.pull(dst, src, weight) } else { self.op.push(src, dst, weight) };
            if !joins || self.next.get(dst) {
                continue;
            }
            if alone && self.words_apart {
                self.next.insert_alone(dst);
                self.count(count, dst);
            } else if self.next.insert(dst) {
                self.count(count, dst);
            }
        }
    }
}

impl<G: Graph, O: EdgeOp<G::Weight>> Pull<'_, G, O> {
    /// Visits a piece while other threads may hold pieces of the same vertex: every update is atomic.
    #[cold]
    #[inline(never)]
    fn visit_shared(&self, count: &mut Count, dst: VertexId, piece: Piece<'_, G::Weight>) -> Flow {
        for (&src, &weight) in piece.targets.iter().zip(piece.weights) {
            if !self.op.wants(dst) {
                return Flow::Enough;
            }
            if self.current.get(src) && self.op.push(src, dst, weight) && self.next.insert(dst) {
                self.count(count, dst);
            }
        }
        Flow::More
    }

    #[inline(always)]
    fn count(&self, count: &mut Count, dst: VertexId) {
        count.len += 1;
        count.arcs += self.graph.degree(Direction::Out, dst) as u64;
    }
}
