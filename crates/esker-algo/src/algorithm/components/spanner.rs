//! O(k)-spanner: few edges of an undirected graph along which every distance grows by a factor of at most
//! O(k).
//!
//! Miller, Peng, Vladu and Xu [1]: the edges of the search trees of a low-diameter decomposition with rate
//! ln(n) / 2k, and for each pair of adjacent clusters the least edge between them. The expected number of
//! edges is O(n^(1 + 1/k)); with k = log2(n), as in Sage, O(n). If every vertex is at most r edges from its
//! centre, the ends of an edge of the graph are at most 4r + 1 edges apart in the spanner.
//!
//! State: the cluster and parent of each vertex, and the edges between clusters. Work: O(n + m), plus sorting
//! the pairs of clusters. Memory: that of the decomposition with trees; 16 bytes (32 with 64-bit ids) per
//! pair of clusters and worker, twice; two ids per edge of the spanner. Reads: those of the decomposition,
//! and the lists outside the largest cluster once more. Which edges are found depends on timing, except in a
//! `deterministic` run.
//!
//! [1] G. Miller, R. Peng, A. Vladu, S. C. Xu, "Improved Parallel Algorithms for Spanners and Hopsets",
//!     SPAA 2015.

use esker_graph::{Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor, Weight, vertex};

use crate::algorithm::components::ldd::{self, LddOptions, decompose};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{frequent, need_undirected};

/// Options of [`spanner`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpannerOptions {
    /// The factor, up to a constant, by which distances may grow: at least 1. `None`: log2 of the number of
    /// vertices, rounded up.
    pub k: Option<usize>,
}

/// A spanner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanner {
    /// The edges: first those of the trees, from parent to child, then those between clusters.
    pub edges: Vec<(VertexId, VertexId)>,
    /// Number of tree edges.
    pub tree_edges: usize,
    /// The centre of each vertex's cluster.
    pub clusters: Vec<VertexId>,
    /// An upper bound of the number of spanner edges from a vertex to its centre.
    pub radius: usize,
    /// An upper bound of the distance in the spanner between the ends of an edge of the graph: 4 radius + 1.
    pub stretch: usize,
    /// The value of k used.
    pub k: usize,
}

/// In all measurements, decompositions with at most this rate gave at most one pair of clusters per six
/// vertices (on a path), per ten or more (rings and grids), or almost none (random neighbours).
const RATE_MAX: f64 = 0.5;
/// So an estimate assumes at most one pair of clusters per this many vertices.
const PAIRS_SHARE: u64 = 4;

/// Estimates memory and reads. Assumes at most as many pairs of clusters as vertices, which is expected, or a
/// quarter of that with the default k. Reads are an upper bound.
pub fn estimate(shape: Shape, options: &SpannerOptions, deterministic: bool) -> Estimate {
    let (n, id_bytes) = (shape.num_vertices, size_of::<VertexId>() as u64);
    let decomposition = ldd_options(n as usize, chosen(n as usize, options));
    let search = ldd::estimate(shape, &decomposition, deterministic);
    let pairs = if decomposition.beta <= RATE_MAX { n.div_ceil(PAIRS_SHARE) } else { n };
    Estimate {
        memory_bytes: search.memory_bytes.max((3 * n + 8 * pairs) * id_bytes) + (n + 4 * pairs) * id_bytes,
        read_bytes: search.read_bytes + shape.list_bytes(),
    }
}

fn chosen(n: usize, options: &SpannerOptions) -> usize {
    options.k.unwrap_or_else(|| n.next_power_of_two().trailing_zeros() as usize).max(1)
}

fn ldd_options(n: usize, k: usize) -> LddOptions {
    let beta = (n.max(2) as f64).ln() / (2.0 * k as f64);
    LddOptions { beta: beta.clamp(1e-3, 20.0), trees: true }
}

/// An edge between two clusters, the lesser cluster and its end of the edge first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ClusterEdge {
    clusters: (VertexId, VertexId),
    ends: (VertexId, VertexId),
}

/// Sorts the edges and keeps only the least edge of each pair of clusters.
fn keep_least(edges: &mut Vec<ClusterEdge>) {
    edges.sort_unstable();
    edges.dedup_by_key(|edge| edge.clusters);
}

/// Vertices sampled to find the largest cluster.
const SAMPLED_VERTICES: usize = 1024;
/// Slots for recently collected edges.
const RECENT: usize = 1 << 10;
/// Edges that a worker collects before it first removes repeated pairs.
const COLLECTED: usize = 1 << 14;

/// The edges that one worker found.
struct ClusterEdges {
    edges: Vec<ClusterEdge>,
    /// For a hash of the pair, a recently collected edge. Skips later edges of the same pair that are not
    /// less.
    recent: Vec<Option<ClusterEdge>>,
    limit: usize,
}

impl ClusterEdges {
    #[inline(always)]
    fn add(&mut self, edge: ClusterEdge) {
        let (a, b) = (u64::from(edge.clusters.0), u64::from(edge.clusters.1));
        let mixed = (a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b).wrapping_mul(0xd605_bbb5_8c8a_bbfd);
        let recent = &mut self.recent[(mixed >> 54) as usize % RECENT];
        if recent.is_some_and(|recent| recent.clusters == edge.clusters && recent.ends <= edge.ends) {
            return;
        }
        *recent = Some(edge);
        self.edges.push(edge);
        if self.edges.len() == self.limit {
            self.compact();
        }
    }

    /// Keeps only the least edge of each pair. Runs again once the number of edges has doubled, so it takes
    /// O(log n) per added edge.
    fn compact(&mut self) {
        keep_least(&mut self.edges);
        self.limit = (2 * self.edges.len()).max(COLLECTED);
    }
}

/// Finds the least edge between each pair of clusters.
struct FindClusterEdges<'a> {
    clusters: &'a [VertexId],
    /// The largest cluster. The scan skips its lists and meets its edges from their other ends.
    largest: VertexId,
}

impl<W: Weight> Visitor<W> for FindClusterEdges<'_> {
    type State = ClusterEdges;

    const BOXED: bool = true;

    fn new_state(&self) -> ClusterEdges {
        ClusterEdges { edges: Vec::new(), recent: vec![None; RECENT], limit: COLLECTED }
    }

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.clusters[v as usize] != self.largest
    }

    #[inline(always)]
    fn visit(&self, found: &mut ClusterEdges, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let own = self.clusters[v as usize];
        for &u in piece.targets {
            let other = self.clusters[u as usize];
            // Any other edge between clusters is met from both ends.
            if own < other {
                found.add(ClusterEdge { clusters: (own, other), ends: (v, u) });
            } else if other == self.largest {
                found.add(ClusterEdge { clusters: (other, own), ends: (u, v) });
            }
        }
        Flow::More
    }
}

/// Finds a spanner of an undirected graph. Weights are ignored.
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a directed graph; [`esker_graph::Stop::OverBudget`]; the first list
/// that cannot be read; cancellation.
pub fn spanner<G: Graph>(graph: &G, run: &Run, options: &SpannerOptions) -> Result<Spanner, G::Error> {
    let needed = estimate(Shape::of(graph), options, run.deterministic()).memory_bytes;
    let run = &run.begin("spanner", needed)?;
    need_undirected(graph, "a spanner")?;
    run.install(|| span(graph, run, chosen(graph.num_vertices(), options)))
}

fn span<G: Graph>(graph: &G, run: &Run, k: usize) -> Result<Spanner, G::Error> {
    let n = graph.num_vertices();
    let found = decompose(graph, run, &ldd_options(n, k), run.seed(), run.deterministic())?;
    run.round(n)?;
    let largest = frequent(n, SAMPLED_VERTICES, |v| found.clusters[v as usize]);
    let finder = FindClusterEdges { clusters: &found.clusters, largest };
    let mut between = Vec::new();
    for mut part in graph.scan(run, Direction::Out, Select::All, &finder)? {
        part.compact();
        between.append(&mut part.edges);
    }
    keep_least(&mut between);
    let parents = found.trees.map(|trees| trees.parents).unwrap_or_default();
    let mut edges = Vec::with_capacity(n - found.count + between.len());
    edges.extend(parents.into_iter().zip((0..n).map(vertex)).filter(|(parent, v)| parent != v));
    let tree_edges = edges.len();
    edges.extend(between.iter().map(|edge| edge.ends));
    let (clusters, radius) = (found.clusters, found.radius);
    Ok(Spanner { edges, tree_edges, clusters, radius, stretch: 4 * radius + 1, k })
}
