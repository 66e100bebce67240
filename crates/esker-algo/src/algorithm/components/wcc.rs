//! Weakly connected components: for every vertex the smallest vertex of its component.
//!
//! Afforest [1]: a union-find forest in which every vertex points at a lower one of its component. First each
//! vertex is linked to a few neighbours only, which in most graphs already makes the largest component nearly
//! whole. A sample of the vertices then says which component is the largest; its vertices are skipped, and
//! the lists of all others are linked in full. An edge that leaves the largest component is met from its
//! other end; a directed graph kept without in-edges has no other end, so no vertex is skipped. Roots are
//! always the lowest vertex, so the answer is the same for any number of threads.
//!
//! Where a scan hands over lists in parts, one scan links every edge instead.
//!
//! Another method contracts a low-diameter decomposition (`contraction.rs`).
//!
//! Work O(n + m) in practice (links take O(log n) steps at worst). Memory: one id a vertex. Reads: the head
//! of every list; then the lists outside the largest component, in both directions if directed.
//!
//! [1] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph
//!     Sampling", IPDPS 2018.

use esker_graph::{Direction, Flow, Graph, NONE, Patch, Piece, Run, Select, Stop, VertexId, Visitor, Weight};

use crate::algorithm::components::contraction;
use crate::algorithm::components::ldd::need_rate;
use crate::estimate::{Estimate, Shape};
use crate::primitive::{UnionFind, need_undirected};

/// The method of finding components.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum WccMethod {
    /// Union-find on a sample, then on the rest: the fastest on every graph that was measured.
    #[default]
    UnionFind,
    /// Decomposition into clusters of low diameter, which are contracted; of undirected graphs. Linear work
    /// whatever the graph, and rounds instead of long ways up trees.
    Contraction {
        /// Rate of the decomposition, from 0.001 to 20.
        beta: f64,
    },
}

/// How components are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WccOptions {
    /// The method.
    pub method: WccMethod,
    /// Neighbours of each vertex to which it is linked before the largest component is sought.
    pub sampled_neighbours: usize,
    /// Vertices looked at to find the largest component.
    pub sampled_vertices: usize,
}

impl Default for WccOptions {
    fn default() -> Self {
        Self { method: WccMethod::UnionFind, sampled_neighbours: 2, sampled_vertices: 1024 }
    }
}

/// The weakly connected components of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wcc {
    /// For each vertex the smallest vertex of its component.
    pub labels: Vec<VertexId>,
    /// Number of components.
    pub components: usize,
}

/// What finding components by union-find will take; the reading is an upper bound.
pub fn estimate(shape: Shape) -> Estimate {
    let directions = if shape.directed && shape.in_edges { 2 } else { 1 };
    Estimate {
        memory_bytes: shape.num_vertices * size_of::<VertexId>() as u64,
        read_bytes: shape.list_bytes() * directions,
    }
}

/// What finding components by the given method will take; upper bounds.
pub fn estimate_method(shape: Shape, method: WccMethod) -> Estimate {
    match method {
        WccMethod::UnionFind => estimate(shape),
        WccMethod::Contraction { beta } => contraction::estimate(shape, beta),
    }
}

/// Finds the components.
///
/// ```
/// use esker_algo::algorithm::components::wcc::{WccOptions, wcc};
/// use esker_graph::{Csr, Run};
///
/// let csr = Csr::directed(5, &[(3, 1, ()), (4, 2, ())])?;
/// let found = wcc(&csr.graph(), &Run::with_threads(2)?, &WccOptions::default())?;
/// assert_eq!((found.components, found.labels), (3, vec![0, 1, 2, 1, 2]));
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`esker_graph::Stop::OverBudget`]; [`esker_graph::Stop::Unsuitable`] for contraction of a directed graph,
/// or with a rate out of range; the first list that cannot be read; cancellation.
pub fn wcc<G: Graph>(graph: &G, run: &Run, options: &WccOptions) -> Result<Wcc, G::Error> {
    let needed = estimate_method(Shape::of(graph), options.method).memory_bytes;
    let run = &run.begin("weakly connected components", needed)?;
    match options.method {
        WccMethod::UnionFind => run.install(|| unite(graph, run, options)),
        WccMethod::Contraction { beta } => {
            need_undirected(graph, "connectivity by contraction")?;
            need_rate(beta)?;
            let labels = run.install(|| contraction::components(graph, run, beta))?;
            let components = labels.iter().enumerate().filter(|&(v, &label)| v == label as usize).count();
            Ok(Wcc { labels, components })
        }
    }
}

/// By union-find, within a run that has begun.
pub(crate) fn unite<G: Graph>(graph: &G, run: &Run, options: &WccOptions) -> Result<Wcc, G::Error> {
    let n = graph.num_vertices();
    let sets = UnionFind::new(run, n);
    run.round(n)?;
    if graph.is_scattered() {
        // Lists come in parts, from all over: reading all of them once is less than reading the head of each.
        graph.scan(run, Direction::Out, Select::All, &Unite(&sets))?;
        return Ok(finish(sets, run)?);
    }
    let sample = NeighbourSample { sets: &sets, head: options.sampled_neighbours };
    graph.scan(run, Direction::Out, Select::All, &sample)?;
    run.round(n)?;
    let all_seen_from_elsewhere = graph.has(Direction::In);
    let skip = if all_seen_from_elsewhere { sets.frequent_root(options.sampled_vertices) } else { NONE };
    let rest = Rest { sets: &sets, skip };
    graph.scan(run, Direction::Out, Select::All, &rest)?;
    if graph.is_directed() && all_seen_from_elsewhere {
        graph.scan(run, Direction::In, Select::All, &rest)?;
    }
    Ok(finish(sets, run)?)
}

fn finish(sets: UnionFind, run: &Run) -> Result<Wcc, Stop> {
    let components = sets.flatten(run)?;
    Ok(Wcc { labels: sets.into_vec(), components })
}

/// Links each vertex to its first neighbours. Links may be lost: those that matter are in lists that are not
/// skipped later.
struct NeighbourSample<'a> {
    sets: &'a UnionFind,
    /// Neighbours taken of each piece.
    head: usize,
}

impl<W: Weight> Visitor<W> for NeighbourSample<'_> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let mut above = self.sets.above(v);
        for &other in piece.targets.iter().take(self.head) {
            above = self.sets.lean(v, above, other);
        }
        Flow::Enough
    }
}

/// Links each vertex outside the largest set to all of its neighbours.
struct Rest<'a> {
    sets: &'a UnionFind,
    /// The root of the largest set; [`NONE`]: no vertex is skipped.
    skip: VertexId,
}

impl<W: Weight> Visitor<W> for Rest<'_> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        // That root may be linked to a lower one meanwhile, so the way up ends at it.
        self.sets.settle(v, self.skip) != self.skip
    }

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        for &other in piece.targets {
            self.sets.link(v, other);
            self.sets.shorten(v);
        }
        Flow::More
    }
}

/// Links both ends of every edge, whichever end it is handed to.
struct Unite<'a>(&'a UnionFind);

impl Unite<'_> {
    #[inline(always)]
    fn link_all(&self, v: VertexId, others: &[VertexId]) {
        let mut above = self.0.above(v);
        for &other in others {
            if self.0.above(other) != above {
                self.0.link(v, other);
                self.0.shorten(v);
                self.0.shorten(other);
                above = self.0.above(v);
            }
        }
    }
}

impl<W: Weight> Visitor<W> for Unite<'_> {
    type State = ();

    const STOPS: bool = false;

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        self.link_all(v, piece.targets);
        Flow::More
    }

    /// Every edge is handed to some end, and one is enough.
    fn visit_patch(&self, (): &mut (), patch: &Patch<'_, W>) {
        for (row, range) in patch.iter() {
            self.link_all(row, &patch.columns[range]);
        }
    }
}
