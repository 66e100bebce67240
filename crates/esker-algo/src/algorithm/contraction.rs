//! Connected components by decomposition and contraction [1], for `wcc`.
//!
//! A low-diameter decomposition makes clusters; each becomes one vertex of a new graph, in which those between which an
//! edge runs are neighbours; the components of that graph, found in the same way, are those of the first. With a
//! constant `beta` the new graph has O(n) edges in expectation after one decomposition, however many the first had [2]:
//! it is built in memory. Should it have more than n / 8 all the same, the graph is decomposed again, with half the rate;
//! after some attempts the clusters are linked by union-find, for which nothing is built.
//!
//! Memory: as a decomposition, and then 8 bytes and three ids a vertex at most, for the graphs of all levels together. Reads: what decompositions do, and every
//! list once more for each.
//!
//! [1] J. Shun, L. Dhulipala, G. Blelloch, "A Simple and Practical Linear-Work Parallel Algorithm for Connectivity",
//!     SPAA 2014.
//! [2] L. Dhulipala et al., "Sage: Parallel Semi-Asymmetric Graph Algorithms for NVRAMs", VLDB 2020, appendix C.2.

use std::sync::atomic::{AtomicBool, Ordering};

use esker_graph::{Csr, Direction, Flow, Graph, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex};
use rayon::slice::ParallelSliceMut;

use super::ldd::{self, LddOptions, decompose};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{UnionFind, VertexArray, each_vertex, frequent};

/// Decompositions of one graph that are tried.
const ATTEMPTS: u64 = 4;
/// Vertices looked at to find the largest cluster.
const SAMPLED_VERTICES: usize = 1024;
/// Graphs that are made of one another before the rest is linked.
const LEVELS_MAX: u64 = 24;

/// What components by contraction will take.
pub(super) fn estimate(shape: Shape, beta: f64) -> Estimate {
    let search = ldd::estimate(shape, &LddOptions { beta, trees: false }, false);
    // Two arrays beside the answer; pairs, while they are sorted, are gone when the graph is made. What a graph of at most a quarter as many
    // vertices takes comes on top, and so on.
    let quotient = shape.num_vertices * (8 + 2 * size_of::<VertexId>() as u64);
    Estimate {
        memory_bytes: search.memory_bytes.max(quotient) + shape.num_vertices * size_of::<VertexId>() as u64,
        read_bytes: search.read_bytes + shape.list_bytes(),
    }
}

/// A graph is made if there is no more than one pair of clusters for so many vertices.
const PAIRS_SHARE: usize = 8;

/// An edge between two clusters.
type Pair = (VertexId, VertexId, ());

/// The least vertex of the component of each vertex of an undirected graph.
pub(super) fn components<G: Graph>(graph: &G, run: &Run, beta: f64) -> Result<Vec<VertexId>, G::Error> {
    let n = graph.num_vertices();
    let names = VertexArray::from(contract(graph, run, beta, 0)?);
    let least = VertexArray::from_fn(run, n, vertex);
    each_vertex(run, n, |v| {
        // Of a component, only what is met before its least vertex lowers anything.
        least.lower(names.get(v), v);
    })?;
    each_vertex(run, n, |v| names.set(v, least.get(names.get(v))))?;
    Ok(names.into_vec())
}

/// Some vertex of the component for each vertex, the same for all of a component.
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

/// The components of the graph that has clusters as vertices and `pairs` as edges, named by vertices of the first.
fn join(
    run: &Run,
    clusters: VertexArray,
    mut pairs: Vec<Pair>,
    n: usize,
    beta: f64,
    level: u64,
) -> Result<Vec<VertexId>, Stop> {
    // Only clusters that have neighbours get numbers.
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

/// The pairs of clusters between which edges run, each once, the lesser first; `None` if more than about n / 8 were met.
fn pairs<G: Graph>(graph: &G, run: &Run, clusters: &VertexArray) -> Result<Option<Vec<Pair>>, G::Error> {
    let limit = clusters.len() / (PAIRS_SHARE * run.threads()) + 64;
    let most = frequent(clusters.len(), SAMPLED_VERTICES, |v| clusters.get(v));
    let visitor = Between { clusters, most, limit, overflow: AtomicBool::new(false) };
    let found = graph.scan(run, Direction::Out, Select::All, &visitor)?;
    if visitor.overflow.into_inner() {
        return Ok(None);
    }
    let mut pairs = found.concat();
    run.install(|| pairs.par_sort_unstable());
    pairs.dedup();
    Ok(Some(pairs))
}

struct Between<'a> {
    clusters: &'a VertexArray,
    /// The largest cluster, of which no list is read: its edges are met from their other ends.
    most: VertexId,
    /// Pairs that one worker may hold.
    limit: usize,
    overflow: AtomicBool,
}

impl<W: Weight> Visitor<W> for Between<'_> {
    type State = Vec<Pair>;

    fn new_state(&self) -> Self::State {
        Vec::new()
    }

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.clusters.get(v) != self.most
    }

    #[inline(always)]
    fn visit(&self, pairs: &mut Self::State, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let own = self.clusters.get(v);
        for &u in piece.targets {
            let other = self.clusters.get(u);
            // Any other edge is met from both ends.
            if own < other || other == self.most {
                pairs.push((own.min(other), own.max(other), ()));
                if pairs.len() == self.limit && !self.make_room(pairs) {
                    return Flow::Enough;
                }
            }
        }
        Flow::More
    }
}

impl Between<'_> {
    #[cold]
    fn make_room(&self, pairs: &mut Vec<Pair>) -> bool {
        pairs.sort_unstable();
        pairs.dedup();
        if pairs.len() > self.limit / 2 {
            self.overflow.store(true, Ordering::Relaxed);
            pairs.clear();
        }
        !self.overflow.load(Ordering::Relaxed)
    }
}

/// Links the clusters that have edges between them.
fn link<G: Graph>(graph: &G, run: &Run, clusters: VertexArray) -> Result<Vec<VertexId>, G::Error> {
    let n = clusters.len();
    let sets = UnionFind::new(run, n);
    graph.scan(run, Direction::Out, Select::All, &Link { clusters: &clusters, sets: &sets })?;
    sets.flatten(run)?;
    each_vertex(run, n, |v| clusters.set(v, sets.above(clusters.get(v))))?;
    Ok(clusters.into_vec())
}

struct Link<'a> {
    clusters: &'a VertexArray,
    sets: &'a UnionFind,
}

impl<W: Weight> Visitor<W> for Link<'_> {
    type State = ();

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
