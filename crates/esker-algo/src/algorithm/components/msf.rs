//! Minimum spanning forest: a cycle-free set of edges of least total weight that connects every connected
//! component.
//!
//! Borůvka's algorithm [1]: in each round every component selects the lightest edge that leaves it. Ties go
//! to the edge with the lesser ends, so no cycles arise and the forest does not depend on threads. Three
//! rules avoid rereading lists. Each vertex remembers its lightest edge out of its component and searches
//! again only once that edge is inside. A vertex with no edge out of its component is finished. One
//! component, in most graphs the giant one, selects nothing, since the other components meet its edges.
//!
//! State: a union-find parent per vertex, its lightest edge out of its component, and the best edge of each
//! component. Work: O(m log n) at worst. Memory: four ids and 8 bytes per vertex, n/8 bytes, and two ids and
//! a weight per edge of the forest, twice. Reads: every list with its weights in the first round; later, the
//! lists of vertices whose lightest edge came to be inside a component.
//!
//! [1] O. Borůvka, "O jistém problému minimálním", 1926; the parallel form: S. Chung, A. Condon, "Parallel
//!     implementation of Borůvka's minimum spanning tree algorithm", IPPS 1996.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use esker_graph::{
    Bitmap, Direction, Flow, Graph, NONE, Piece, Run, Select, Stop, VertexId, Visitor, vertex,
};
use rayon::slice::ParallelSliceMut;

use crate::estimate::{Estimate, Shape};
use crate::primitive::{Ranked, UnionFind, VertexArray, VertexValues, each_vertex, need_undirected};

/// The ends of an edge, and its weight.
type WeightedEdge<W> = (VertexId, VertexId, W);

/// A minimum spanning forest.
#[derive(Debug, Clone, PartialEq)]
pub struct Msf<W> {
    /// The edges with their weights, lesser end first, ascending by ends.
    pub edges: Vec<(VertexId, VertexId, W)>,
    /// The sum of the weights, added in the order of the edges.
    pub weight: f64,
    /// Number of trees, isolated vertices included.
    pub trees: usize,
    /// Number of rounds.
    pub rounds: usize,
}

/// Estimates memory and reads. Memory is an upper bound; reads are the expected amount.
pub fn estimate(shape: Shape) -> Estimate {
    let (n, id_bytes) = (shape.num_vertices, size_of::<VertexId>() as u64);
    let edge_bytes = (2 * id_bytes + shape.weight_bytes).next_multiple_of(id_bytes.max(shape.weight_bytes));
    Estimate {
        memory_bytes: n * (4 * id_bytes + 8 + 2 * edge_bytes) + n.div_ceil(64) * 8,
        read_bytes: 2 * shape.weighted_list_bytes(),
    }
}

/// Vertices sampled to find the largest component.
const SAMPLED_VERTICES: usize = 1024;
/// Locks for the state of a vertex, used where several threads hold pieces of its list.
const LOCKS: usize = 64;

/// The state of Borůvka's algorithm.
struct Boruvka {
    /// The components. Between rounds every vertex points at its root.
    sets: UnionFind,
    /// For each vertex, the other end of its lightest edge out of its component; [`NONE`] if there is no such
    /// edge; a vertex of the same component if the edge has to be searched again.
    nearest: VertexArray,
    /// The ranks of the weights of these edges.
    ranks: VertexValues<u64>,
    /// For the root of each component, the vertex that has the lightest edge; [`NONE`] if none was found.
    best: VertexArray,
    locks: Vec<Mutex<()>>,
}

/// The order of edges: by weight rank, then by ends.
type EdgeKey = (u64, VertexId, VertexId);

impl Boruvka {
    fn new(run: &Run, n: usize) -> Self {
        Self {
            sets: UnionFind::new(run, n),
            nearest: VertexArray::from_fn(run, n, vertex),
            ranks: VertexValues::filled(run, n, 0),
            best: VertexArray::filled(run, n, NONE),
            locks: (0..LOCKS).map(|_| Mutex::new(())).collect(),
        }
    }

    /// The key of the edge stored for `v`.
    #[inline(always)]
    fn key(&self, v: VertexId) -> EdgeKey {
        let u = self.nearest.get(v);
        if u == NONE { (u64::MAX, NONE, NONE) } else { (self.ranks.get(v), u.min(v), u.max(v)) }
    }

    /// Collects in `open` the vertices outside component `skip` whose lightest edge is now inside, and clears
    /// these edges. Returns their number.
    fn reopen(&self, run: &Run, open: &mut Bitmap, skip: VertexId) -> Result<usize, Stop> {
        open.clear();
        let counts = run.share_ranges(
            self.nearest.len(),
            1 << 14,
            || 0,
            |count: &mut usize, range| {
                for v in range.map(vertex) {
                    let (nearest, own) = (self.nearest.get(v), self.sets.above(v));
                    if nearest != NONE && own != skip && self.sets.above(nearest) == own {
                        self.nearest.set(v, NONE);
                        open.insert_alone(v);
                        *count += 1;
                    }
                }
                Ok::<(), Stop>(())
            },
        )?;
        Ok(counts.into_iter().sum())
    }

    /// Selects the lightest edge out of each component except `skip`.
    fn select_edges<W: Ranked>(&self, run: &Run, skip: VertexId) -> Result<Vec<Vec<WeightedEdge<W>>>, Stop> {
        let n = self.nearest.len();
        each_vertex(run, n, |v| {
            let root = self.sets.above(v);
            if self.nearest.get(v) == NONE || root == skip {
                return;
            }
            let mut best = self.best.get(root);
            while (best == NONE || self.key(v) < self.key(best)) && !self.best.claim(root, best, v) {
                best = self.best.get(root);
            }
        })?;
        run.share_ranges(n, 1 << 14, Vec::new, |selected, range| {
            for root in range.map(vertex) {
                let v = self.best.get(root);
                if v == NONE {
                    continue;
                }
                self.best.set(root, NONE);
                let (rank, low, high) = self.key(v);
                // Two components may have selected the same edge.
                if self.sets.link(low, high) {
                    selected.push((low, high, W::of_rank(rank)));
                }
            }
            Ok(())
        })
    }
}

/// An edge that leaves the component of a vertex.
#[derive(Clone, Copy)]
struct LeavingEdge {
    key: EdgeKey,
    /// Its end in another component.
    end: VertexId,
}

/// Finds the lightest edge of each vertex out of its component.
struct FindLightest<'a> {
    search: &'a Boruvka,
    /// Whether every vertex is still its own component.
    are_single: bool,
    not_a_number: AtomicBool,
}

impl FindLightest<'_> {
    /// The lightest edge of a piece that leaves the component, if there is one.
    #[inline(always)]
    fn lightest<W: Ranked>(&self, v: VertexId, piece: Piece<'_, W>) -> Option<LeavingEdge> {
        let own = self.search.sets.above(v);
        let mut lightest: Option<LeavingEdge> = None;
        for (&u, &weight) in piece.targets.iter().zip(piece.weights) {
            let Some(rank) = weight.rank() else {
                self.not_a_number.store(true, Ordering::Relaxed);
                continue;
            };
            // Most edges are too heavy, which is known without looking up the other end.
            if lightest.is_some_and(|least| rank > least.key.0) {
                continue;
            }
            let key = (rank, u.min(v), u.max(v));
            let other = if self.are_single { u } else { self.search.sets.above(u) };
            if other != own && lightest.is_none_or(|least| key < least.key) {
                lightest = Some(LeavingEdge { key, end: u });
            }
        }
        lightest
    }

    /// Keeps an edge as the lightest of `v` if it is lighter than the one kept.
    #[inline(always)]
    fn keep_lighter(&self, v: VertexId, edge: LeavingEdge) {
        if edge.key < self.search.key(v) {
            self.search.ranks.set(v, edge.key.0);
            self.search.nearest.set(v, edge.end);
        }
    }
}

impl<W: Ranked> Visitor<W> for FindLightest<'_> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        if let Some(lightest) = self.lightest(v, piece) {
            if piece.exclusive {
                self.keep_lighter(v, lightest);
            } else {
                let _held = self.search.locks[v as usize % LOCKS].lock();
                self.keep_lighter(v, lightest);
            }
        }
        Flow::More
    }
}

/// Finds the minimum spanning forest of an undirected graph. Weights may be negative.
///
/// ```
/// use esker_algo::algorithm::components::msf::msf;
/// use esker_graph::{Csr, Run};
///
/// let csr = Csr::undirected(4, &[(0, 1, 1.0), (1, 2, 2.0), (2, 0, 3.0)])?;
/// let found = msf(&csr.graph(), &Run::with_threads(2)?)?;
/// assert_eq!((found.edges.len(), found.weight, found.trees), (2, 3.0, 2)); // vertex 3 is a tree, too
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed graph or a weight that is NaN; [`Stop::OverBudget`]; the first list
/// that cannot be read; cancellation.
pub fn msf<G: Graph<Weight: Ranked>>(graph: &G, run: &Run) -> Result<Msf<G::Weight>, G::Error> {
    let run = &run.begin("minimum spanning forest", estimate(Shape::of(graph)).memory_bytes)?;
    need_undirected(graph, "minimum spanning forest")?;
    run.install(|| find(graph, run))
}

fn find<G: Graph<Weight: Ranked>>(graph: &G, run: &Run) -> Result<Msf<G::Weight>, G::Error> {
    let n = graph.num_vertices();
    let search = Boruvka::new(run, n);
    let mut open = Bitmap::new(n);
    let (mut skip, mut edges) = (NONE, Vec::new());
    let mut left = search.reopen(run, &mut open, skip)?;
    loop {
        run.round(left)?;
        let select = if left == n { Select::All } else { Select::Bits(&open) };
        let finder = FindLightest {
            search: &search,
            are_single: run.rounds() == 1,
            not_a_number: AtomicBool::new(false),
        };
        graph.scan(run, Direction::Out, select, &finder)?;
        if finder.not_a_number.into_inner() {
            return Err(Stop::unsuitable(
                "cannot compute a minimum spanning forest: a weight is not a number".to_owned(),
            )
            .into());
        }
        let selected = search.select_edges(run, skip)?;
        if selected.iter().all(Vec::is_empty) {
            break;
        }
        selected.into_iter().for_each(|part| edges.extend(part));
        search.sets.flatten(run)?;
        skip = search.sets.frequent_root(SAMPLED_VERTICES);
        left = search.reopen(run, &mut open, skip)?;
    }
    edges.par_sort_unstable_by_key(|&(u, v, _)| (u, v));
    // A sum of nothing would be -0.
    let weight = edges
        .iter()
        .map(|edge: &WeightedEdge<G::Weight>| edge.2.as_f64())
        .fold(0.0, |sum, weight| sum + weight);
    Ok(Msf { weight, trees: n - edges.len(), edges, rounds: run.rounds() })
}
