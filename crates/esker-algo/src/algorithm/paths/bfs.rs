//! Breadth-first search: a parent and a depth for every vertex reachable from the sources.
//!
//! Direction-optimising [1]: `edge_map` pushes along out-edges while the frontier is small and pulls along
//! in-edges once many of the remaining arcs leave it. Estimated costs decide when, or thresholds, if they are
//! given. Threads race to claim a vertex, so which vertex of the previous level becomes its parent may vary
//! between runs. A `deterministic` run picks the least, by reading the lists once more. Depths never vary.
//!
//! With a greatest depth or a target, the search ends once all vertices of that depth, or of the target's,
//! are found. Then the answer is that of the whole search, where every vertex farther away counts as
//! unreached.
//!
//! State: a parent per vertex, `NONE` until it is reached; depths likewise. Work: O(n + m). Memory per
//! vertex: one id for parents, one for depths, if requested; up to 1.25 for frontiers. Reads per round: push,
//! the lists of the frontier; pull, the in-lists of unreached vertices up to the first parent. A graph
//! without in-edges always pushes.
//!
//! [1] S. Beamer, K. Asanović, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012.

use esker_graph::{Direction, Flow, Graph, NONE, Piece, Run, Select, Stop, VertexId, Visitor, Weight};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{
    EdgeOp, Frontier, SwitchThresholds, VertexArray, Way, edge_map_way, need_source, need_target,
};

/// Options of [`bfs`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BfsOptions {
    /// Whether to return depths.
    pub depths: bool,
    /// Whether to return parents. A search for depths alone writes half as much.
    pub parents: bool,
    /// The greatest depth; vertices farther away count as unreached. `None`: no limit.
    pub depth_max: Option<VertexId>,
    /// The search stops at the depth of this vertex; vertices farther away count as unreached. `None`: no
    /// target.
    pub target: Option<VertexId>,
    /// When the search turns from push to pull and back. `None`: each round goes the way that
    /// [`Way::choose_stopping`] finds cheaper.
    pub thresholds: Option<SwitchThresholds>,
}

impl Default for BfsOptions {
    fn default() -> Self {
        Self { depths: true, parents: true, depth_max: None, target: None, thresholds: None }
    }
}

impl BfsOptions {
    /// Whether the search ends with the vertices at `depth`, which are in the frontier.
    fn ends_at(&self, depth: VertexId, marks: &SearchLabels) -> bool {
        self.depth_max.is_some_and(|most| depth >= most)
            || self.target.is_some_and(|target| marks.reached().get(target) != NONE)
    }

    /// A search for depths alone keeps no parents: then a depth says that a vertex is reached.
    fn keeps_parents(&self) -> bool {
        self.parents || !self.depths
    }

    /// A deterministic search needs depths to choose the least parent.
    fn keeps_depths(&self, deterministic: bool) -> bool {
        self.depths || deterministic
    }
}

/// The result of a breadth-first search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bfs {
    /// The parent of each vertex: itself for a source, [`NONE`] if unreached. Empty unless requested.
    pub parents: Vec<VertexId>,
    /// The number of edges from the nearest source to each vertex, [`NONE`] if unreached. `None` unless
    /// requested.
    pub depths: Option<Vec<VertexId>>,
    /// Number of vertices reached, including the sources.
    pub reached: usize,
    /// Sum of the out-degrees of the vertices searched from: those reached, but for the last level of a
    /// search that ended early.
    pub arcs: u64,
    /// Number of rounds: one for each depth that occurs.
    pub rounds: usize,
    /// Number of rounds that pulled.
    pub pulls: usize,
}

/// Estimates memory and reads. Reads are an upper bound.
pub fn estimate(shape: Shape, options: &BfsOptions, deterministic: bool) -> Estimate {
    let ids = 1 + u64::from(options.keeps_parents()) + u64::from(options.keeps_depths(deterministic));
    let id_bytes = size_of::<VertexId>() as u64;
    let lists = 1 + u64::from(deterministic && options.keeps_parents());
    Estimate {
        memory_bytes: shape.num_vertices * (ids * id_bytes) + shape.num_vertices.div_ceil(64) * 8 * 2,
        read_bytes: shape.list_bytes() * lists,
    }
}

/// Parents and depths, or one of the two; [`NONE`] for a vertex that is not reached.
struct SearchLabels {
    parents: Option<VertexArray>,
    depths: Option<VertexArray>,
}

impl SearchLabels {
    fn new(run: &Run, n: usize, options: &BfsOptions) -> Self {
        let array = |is_kept: bool| is_kept.then(|| VertexArray::filled(run, n, NONE));
        Self {
            parents: array(options.keeps_parents()),
            depths: array(options.keeps_depths(run.deterministic())),
        }
    }

    /// The array that says which vertices are reached.
    fn reached(&self) -> &VertexArray {
        self.parents.as_ref().or(self.depths.as_ref()).expect("a search keeps parents or depths")
    }

    /// The operator of a round that reaches vertices at `depth`.
    fn at(&self, depth: VertexId) -> Mark<'_> {
        let depths = self.depths.as_ref().filter(|_| self.parents.is_some());
        Mark { reached: self.reached(), by_parent: self.parents.is_some(), depths, depth }
    }

    /// Marks the sources as reached and returns each once.
    fn start(&self, n: usize, sources: &[VertexId]) -> Result<Vec<VertexId>, Stop> {
        let mut list = Vec::with_capacity(sources.len());
        for &source in sources {
            need_source(source, n)?;
            if EdgeOp::<()>::push(&self.at(0), source, source, ()) {
                list.push(source);
            }
        }
        Ok(list)
    }
}

/// Gives an unreached vertex its parent and depth.
struct Mark<'a> {
    /// The array that says which vertices are reached, by their parents or depths.
    reached: &'a VertexArray,
    /// Whether `reached` holds parents.
    by_parent: bool,
    /// The depths, if they are wanted beside parents.
    depths: Option<&'a VertexArray>,
    /// The depth of the vertices that this round reaches.
    depth: VertexId,
}

impl Mark<'_> {
    /// What `reached` gets for a vertex that is reached from `src`.
    #[inline(always)]
    fn of(&self, src: VertexId) -> VertexId {
        if self.by_parent { src } else { self.depth }
    }
}

impl<W: Weight> EdgeOp<W> for Mark<'_> {
    #[inline(always)]
    fn wants(&self, dst: VertexId) -> bool {
        self.reached.get(dst) == NONE
    }

    #[inline(always)]
    fn push(&self, src: VertexId, dst: VertexId, _: W) -> bool {
        let first = self.reached.claim(dst, NONE, self.of(src));
        if let (true, Some(depths)) = (first, self.depths) {
            depths.set(dst, self.depth);
        }
        first
    }

    #[inline(always)]
    fn push_alone(&self, src: VertexId, dst: VertexId, weight: W) -> bool {
        self.pull(dst, src, weight)
    }

    #[inline(always)]
    fn pull(&self, dst: VertexId, src: VertexId, _: W) -> bool {
        self.reached.set(dst, self.of(src));
        if let Some(depths) = self.depths {
            depths.set(dst, self.depth);
        }
        true
    }
}

/// Replaces each parent by the least possible one.
fn least_parents<G: Graph>(
    graph: &G,
    run: &Run,
    parents: &VertexArray,
    depths: &VertexArray,
) -> Result<(), G::Error> {
    let direction = if graph.has(Direction::In) { Direction::In } else { Direction::Out };
    let visitor = LeastParents { direction, parents, depths };
    graph.scan(run, direction, Select::All, &visitor)?;
    Ok(())
}

/// Lowers each parent to the least neighbour of the previous level.
struct LeastParents<'a> {
    direction: Direction,
    parents: &'a VertexArray,
    depths: &'a VertexArray,
}

impl<W: Weight> Visitor<W> for LeastParents<'_> {
    type State = ();

    const BOXED: bool = true;

    fn new_state(&self) {}

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.parents.get(v) != NONE
    }

    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let depth = self.depths.get(v);
        for &other in piece.targets {
            let (parent, child) = match self.direction {
                Direction::In => (other, v),
                Direction::Out => (v, other),
            };
            // If an edge leads one level down, its upper end is reached, so that depth is not `NONE`.
            if self.direction == Direction::In && depth > 0 && self.depths.get(other) == depth - 1
                || self.direction == Direction::Out && self.depths.get(other) == depth + 1
            {
                self.parents.lower(child, parent);
            }
        }
        Flow::More
    }
}

/// Searches from `sources` along out-edges.
///
/// ```
/// use esker_algo::algorithm::paths::bfs::{BfsOptions, bfs};
/// use esker_graph::{Csr, NONE, Run};
///
/// let csr = Csr::directed(5, &[(0, 1, ()), (1, 2, ()), (0, 2, ()), (2, 3, ())])?;
/// let run = Run::with_threads(2)?;
/// let found = bfs(&csr.graph(), &run, &[0], &BfsOptions::default())?;
/// assert_eq!(found.depths, Some(vec![0, 1, 1, 2, NONE]));
/// assert_eq!((found.reached, found.parents[3]), (4, 2));
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Unsuitable`] if a source or the target is not a vertex; [`Stop::OverBudget`]; the first list that
/// cannot be read; cancellation.
pub fn bfs<G: Graph>(
    graph: &G,
    run: &Run,
    sources: &[VertexId],
    options: &BfsOptions,
) -> Result<Bfs, G::Error> {
    let run = &run.begin(
        "breadth-first search",
        estimate(Shape::of(graph), options, run.deterministic()).memory_bytes,
    )?;
    run.install(|| search(graph, run, sources, options))
}

fn search<G: Graph>(
    graph: &G,
    run: &Run,
    sources: &[VertexId],
    options: &BfsOptions,
) -> Result<Bfs, G::Error> {
    let n = graph.num_vertices();
    if let Some(target) = options.target {
        need_target(target, n)?;
    }
    let marks = SearchLabels::new(run, n, options);
    let mut frontier = Frontier::from_list(graph, marks.start(n, sources)?);
    let (mut reached, mut arcs, mut depth, mut pulls) = (0, 0, 0, 0);
    let (mut last_way, mut last_len) = (Way::Push, 0);
    while !frontier.is_empty() {
        run.round(frontier.len())?;
        reached += frontier.len();
        if options.ends_at(depth, &marks) {
            break;
        }
        let remaining = graph.num_arcs() - arcs;
        let way = match options.thresholds {
            None => Way::choose_stopping(graph, &frontier, n - reached, remaining, last_way),
            Some(thresholds) => thresholds.choose(graph, &frontier, remaining, last_way, last_len),
        };
        (last_way, last_len) = (way, frontier.len());
        pulls += usize::from(way == Way::Pull);
        arcs += frontier.arcs();
        depth += 1;
        frontier = edge_map_way(graph, run, way, &frontier, &marks.at(depth))?;
    }
    let SearchLabels { parents, depths } = marks;
    if let (true, Some(parents), Some(depths)) = (run.deterministic(), &parents, &depths) {
        least_parents(graph, run, parents, depths)?;
    }
    Ok(Bfs {
        parents: parents.filter(|_| options.parents).map(VertexArray::into_vec).unwrap_or_default(),
        depths: depths.filter(|_| options.depths).map(VertexArray::into_vec),
        reached,
        arcs,
        rounds: run.rounds(),
        pulls,
    })
}
