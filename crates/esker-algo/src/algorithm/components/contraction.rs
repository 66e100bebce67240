//! Connected components by decomposition and contraction [1], for `wcc`.
//!
//! A low-diameter decomposition makes clusters. Each cluster becomes one vertex of a new graph, with an edge
//! where an edge joins two clusters; its components, found recursively, give those of the original graph.
//! With constant `beta`, the new graph has O(n) edges in expectation after one decomposition, however many
//! the original has [2], so it is built in memory. If it has more than n / 8 edges all the same, the graph is
//! decomposed again at half the rate; after several attempts the clusters are linked by union-find, which
//! builds nothing.
//!
//! State: the cluster of each vertex, named by its centre. Memory: that of a decomposition, then at most 8
//! bytes and three ids per vertex for the graphs of all levels together. Reads: those of the decompositions,
//! and every list once more per decomposition.
//!
//! [1] J. Shun, L. Dhulipala, G. Blelloch, "A Simple and Practical Linear-Work Parallel Algorithm for
//!     Connectivity", SPAA 2014.
//! [2] L. Dhulipala et al., "Sage: Parallel Semi-Asymmetric Graph Algorithms for NVRAMs", VLDB 2020, appendix
//!     C.2.

use std::sync::atomic::{AtomicBool, Ordering};

use esker_graph::{Csr, Direction, Flow, Graph, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex};
use rayon::slice::ParallelSliceMut;

use crate::algorithm::components::ldd::{self, LddOptions, decompose};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{UnionFind, VertexArray, each_vertex, frequent};

/// The most decompositions tried per graph.
const ATTEMPTS: u64 = 4;
/// Vertices sampled to find the largest cluster.
const SAMPLED_VERTICES: usize = 1024;
/// The most levels of contraction before the rest is linked.
const LEVELS_MAX: u64 = 24;

/// Estimates memory and reads of components by contraction.
pub(crate) fn estimate(shape: Shape, beta: f64) -> Estimate {
    let search = ldd::estimate(shape, &LddOptions { beta, trees: false }, false);
    // Two arrays in addition to the result; the pairs, while sorted, are freed when the graph is built. The
    // contracted graph has at most a quarter as many vertices, and so on at each level.
    let quotient = shape.num_vertices * (8 + 2 * size_of::<VertexId>() as u64);
    Estimate {
        memory_bytes: search.memory_bytes.max(quotient) + shape.num_vertices * size_of::<VertexId>() as u64,
        read_bytes: search.read_bytes + shape.list_bytes(),
    }
}

/// A contracted graph is built if it has at most one edge per this many vertices.
const PAIRS_SHARE: usize = 8;

/// An edge between two clusters.
type ClusterPair = (VertexId, VertexId, ());

/// The components of the graph with clusters as vertices and `pairs` as edges, in terms of the original
/// vertices.
fn join(
    run: &Run,
    clusters: VertexArray,
    mut pairs: Vec<ClusterPair>,
    n: usize,
    beta: f64,
    level: u64,
) -> Result<Vec<VertexId>, Stop> {
    // Only clusters that have neighbours are numbered.
    let mut centres: Vec<VertexId> = pairs.iter().flat_map(|&(a, b, ())| [a, b]).collect();
    run.install(|| centres.par_sort_unstable());
    centres.dedup();
    let numbers = VertexArray::filled(run, n, 0);
    centres.iter().enumerate().for_each(|(i, &centre)| numbers.set(centre, vertex(i)));
    for (a, b, ()) in &mut pairs {
        (*a, *b) = (numbers.get(*a), numbers.get(*b));
    }
    let quotient = Csr::undirected(centres.len(), &pairs)?;
    drop(pairs);
    let names = contract(&quotient.graph(), run, beta, level + 1)?;
    drop(quotient);
    let above = VertexArray::from_fn(run, n, vertex);
    centres.iter().zip(&names).for_each(|(&centre, &name)| above.set(centre, centres[name as usize]));
    each_vertex(run, n, |v| clusters.set(v, above.get(clusters.get(v))))?;
    Ok(clusters.into_vec())
}

/// The pairs of adjacent clusters, each once, the lesser first; `None` if there are more than about n / 8.
fn pairs<G: Graph>(
    graph: &G,
    run: &Run,
    clusters: &VertexArray,
) -> Result<Option<Vec<ClusterPair>>, G::Error> {
    let limit = clusters.len() / (PAIRS_SHARE * run.threads()) + 64;
    let largest = frequent(clusters.len(), SAMPLED_VERTICES, |v| clusters.get(v));
    let visitor = FindPairs { clusters, largest, limit, overflow: AtomicBool::new(false) };
    let found = graph.scan(run, Direction::Out, Select::All, &visitor)?;
    if visitor.overflow.into_inner() {
        return Ok(None);
    }
    let mut pairs = found.concat();
    run.install(|| pairs.par_sort_unstable());
    pairs.dedup();
    Ok(Some(pairs))
}

/// Collects the pairs of adjacent clusters.
struct FindPairs<'a> {
    clusters: &'a VertexArray,
    /// The largest cluster. The scan skips its lists and meets its edges from their other ends.
    largest: VertexId,
    /// The most pairs that one worker may hold.
    limit: usize,
    overflow: AtomicBool,
}

impl<W: Weight> Visitor<W> for FindPairs<'_> {
    type State = Vec<ClusterPair>;

    const BOXED: bool = true;

    fn new_state(&self) -> Self::State {
        Vec::new()
    }

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.clusters.get(v) != self.largest
    }

    #[inline(always)]
    fn visit(&self, pairs: &mut Self::State, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let own = self.clusters.get(v);
        for &u in piece.targets {
            let other = self.clusters.get(u);
            // Any other edge is met from both ends.
            if own < other || other == self.largest {
                pairs.push((own.min(other), own.max(other), ()));
                if pairs.len() == self.limit && !self.compact(pairs) {
                    return Flow::Enough;
                }
            }
        }
        Flow::More
    }
}

impl FindPairs<'_> {
    #[cold]
    fn compact(&self, pairs: &mut Vec<ClusterPair>) -> bool {
        pairs.sort_unstable();
        pairs.dedup();
        if pairs.len() > self.limit / 2 {
            self.overflow.store(true, Ordering::Relaxed);
            pairs.clear();
        }
        !self.overflow.load(Ordering::Relaxed)
    }
}

/// Links clusters joined by an edge.
fn link<G: Graph>(graph: &G, run: &Run, clusters: VertexArray) -> Result<Vec<VertexId>, G::Error> {
    let n = clusters.len();
    let sets = UnionFind::new(run, n);
    graph.scan(run, Direction::Out, Select::All, &LinkClusters { clusters: &clusters, sets: &sets })?;
    sets.flatten(run)?;
    each_vertex(run, n, |v| clusters.set(v, sets.above(clusters.get(v))))?;
    Ok(clusters.into_vec())
}

/// Links the clusters at the ends of each edge.
struct LinkClusters<'a> {
    clusters: &'a VertexArray,
    sets: &'a UnionFind,
}

impl<W: Weight> Visitor<W> for LinkClusters<'_> {
    type State = ();

    const BOXED: bool = true;

    fn new_state(&self) {}

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let own = self.clusters.get(v);
        for &u in piece.targets {
            let other = self.clusters.get(u);
            if own < other {
                self.sets.link(own, other);
            }
        }
        Flow::More
    }
}

/// The least vertex of each vertex's component in an undirected graph.
pub(crate) fn components<G: Graph>(graph: &G, run: &Run, beta: f64) -> Result<Vec<VertexId>, G::Error> {
    let n = graph.num_vertices();
    let names = VertexArray::from(contract(graph, run, beta, 0)?);
    let least = VertexArray::from_fn(run, n, vertex);
    each_vertex(run, n, |v| {
        // The first vertices of a component write; later, greater ones change nothing.
        least.lower(names.get(v), v);
    })?;
    each_vertex(run, n, |v| names.set(v, least.get(names.get(v))))?;
    Ok(names.into_vec())
}

/// A representative of each vertex's component, the same for the whole component.
fn contract<G: Graph>(graph: &G, run: &Run, beta: f64, level: u64) -> Result<Vec<VertexId>, G::Error> {
    let n = graph.num_vertices();
    for attempt in 0..ATTEMPTS {
        let options = LddOptions { beta: (beta / (1 << attempt) as f64).max(1e-3), trees: false };
        let seed = run.seed() ^ (level * ATTEMPTS + attempt + 1) << 48;
        let clusters = VertexArray::from(decompose(graph, run, &options, seed, false)?.clusters);
        if attempt + 1 == ATTEMPTS || level == LEVELS_MAX {
            return link(graph, run, clusters);
        }
        let Some(pairs) = pairs(graph, run, &clusters)? else { continue };
        if pairs.is_empty() {
            return Ok(clusters.into_vec());
        }
        return Ok(join(run, clusters, pairs, n, beta, level)?);
    }
    unreachable!("the last attempt returns")
}
