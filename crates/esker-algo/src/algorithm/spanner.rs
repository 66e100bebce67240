//! O(k)-spanner: few edges of an undirected graph along which every distance grows by a factor of at most O(k).
//!
//! Miller, Peng, Vladu and Xu [1]: the edges of the search trees of a low-diameter decomposition with the rate
//! ln(n) / 2k, and one edge between any two clusters that have some between them: the least. In expectation there are
//! O(n^(1 + 1/k)) of them; with k = log2(n), as Sage has it, O(n). If no vertex is more than r steps from its centre, the
//! ends of an edge of the graph are at most 4r + 1 steps apart in the spanner.
//!
//! Work O(n + m), and a sort of the pairs of clusters. Memory: that of the decomposition with trees; 16 bytes (with ids of 64
//! bits 32) for each pair of clusters and worker, twice; two ids an edge of the spanner. Reads: what the decomposition does,
//! and the lists outside the largest cluster once more. Which edges are found depends on timing, but not in a
//! `deterministic` run.
//!
//! [1] G. Miller, R. Peng, A. Vladu, S. C. Xu, "Improved Parallel Algorithms for Spanners and Hopsets", SPAA 2015.

use esker_graph::{Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor, Weight, vertex};

use super::ldd::{self, LddOptions, decompose};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{frequent, need_undirected};

/// How a spanner is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpannerOptions {
    /// Up to a constant, how many times longer distances may get: at least 1. `None`: log2 of the number of vertices,
    /// rounded up.
    pub k: Option<usize>,
}

/// A spanner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanner {
    /// Its edges: first those of the trees, from parent to child, then those between clusters.
    pub edges: Vec<(VertexId, VertexId)>,
    /// How many of them are of the trees.
    pub tree_edges: usize,
    /// For each vertex the centre of its cluster.
    pub clusters: Vec<VertexId>,
    /// No vertex is more steps than this from its centre along edges of the spanner.
    pub radius: usize,
    /// How many steps in the spanner are at most between the ends of an edge of the graph: 4 radius + 1.
    pub stretch: usize,
    /// The k for which it was made.
    pub k: usize,
}

/// A decomposition of a rate up to this makes at most one pair of clusters for so many vertices, wherever it was measured: one for six on a
/// path, for ten or more on rings and grids, and next to none where vertices have random neighbours.
const RATE_MAX: f64 = 0.5;
const PAIRS_SHARE: u64 = 4;

/// What a spanner will take, if there are no more pairs of clusters than vertices, as is expected, or with the default k a quarter of that; an
/// upper bound of the reading.
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

/// Finds a spanner of an undirected graph. Weights are ignored.
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a directed graph; [`esker_graph::Stop::OverBudget`]; the first list that cannot
/// be read; cancellation.
pub fn spanner<G: Graph>(graph: &G, run: &Run, options: &SpannerOptions) -> Result<Spanner, G::Error> {
    let needed = estimate(Shape::of(graph), options, run.deterministic()).memory_bytes;
    run.begin("spanner", needed)?;
    need_undirected(graph, "a spanner")?;
    run.install(|| span(graph, run, chosen(graph.num_vertices(), options)))
}

fn span<G: Graph>(graph: &G, run: &Run, k: usize) -> Result<Spanner, G::Error> {
    let n = graph.num_vertices();
    let found = decompose(graph, run, &ldd_options(n, k), run.seed(), run.deterministic())?;
    run.round(n)?;
    let most = frequent(n, SAMPLED_VERTICES, |v| found.clusters[v as usize]);
    let cuts = Cuts { clusters: &found.clusters, most };
    let mut between = Vec::new();
    for mut part in graph.scan(run, Direction::Out, Select::All, &cuts)? {
        part.tidy();
        between.append(&mut part.cuts);
    }
    keep_least(&mut between);
    let parents = found.trees.map(|trees| trees.parents).unwrap_or_default();
    let mut edges = Vec::with_capacity(n - found.count + between.len());
    edges.extend(parents.into_iter().zip((0..n).map(vertex)).filter(|(parent, v)| parent != v));
    let tree_edges = edges.len();
    edges.extend(between.iter().map(|cut| cut.edge));
    let (clusters, radius) = (found.clusters, found.radius);
    Ok(Spanner { edges, tree_edges, clusters, radius, stretch: 4 * radius + 1, k })
}

/// An edge between two clusters; the lesser cluster first, and the end in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cut {
    between: (VertexId, VertexId),
    edge: (VertexId, VertexId),
}

/// Leaves of each pair of clusters the least edge, in order.
fn keep_least(cuts: &mut Vec<Cut>) {
    cuts.sort_unstable();
    cuts.dedup_by_key(|cut| cut.between);
}

/// Vertices looked at to find the largest cluster.
const SAMPLED_VERTICES: usize = 1024;
/// Slots for pairs met lately.
const RECENT: usize = 1 << 10;
/// Edges that a worker collects before it looks for the first time which of them are of the same pair.
const COLLECTED: usize = 1 << 14;

/// What one worker found.
struct Found {
    cuts: Vec<Cut>,
    /// At a slot that the pair determines, an edge that was collected. It says without search that a later one is not less.
    recent: Vec<Option<Cut>>,
    limit: usize,
}

impl Found {
    #[inline(always)]
    fn add(&mut self, cut: Cut) {
        let (a, b) = (u64::from(cut.between.0), u64::from(cut.between.1));
        let mixed = (a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b).wrapping_mul(0xd605_bbb5_8c8a_bbfd);
        let recent = &mut self.recent[(mixed >> 54) as usize % RECENT];
        if recent.is_some_and(|recent| recent.between == cut.between && recent.edge <= cut.edge) {
            return;
        }
        *recent = Some(cut);
        self.cuts.push(cut);
        if self.cuts.len() == self.limit {
            self.tidy();
        }
    }

    /// Drops all but the least edge of each pair. The next time is when there are twice as many, so this takes O(log n)
    /// for each edge that was added.
    fn tidy(&mut self) {
        keep_least(&mut self.cuts);
        self.limit = (2 * self.cuts.len()).max(COLLECTED);
    }
}

struct Cuts<'a> {
    clusters: &'a [VertexId],
    /// The largest cluster, of which no list is read: its edges are met from their other ends.
    most: VertexId,
}

impl<W: Weight> Visitor<W> for Cuts<'_> {
    type State = Found;

    fn new_state(&self) -> Found {
        Found { cuts: Vec::new(), recent: vec![None; RECENT], limit: COLLECTED }
    }

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.clusters[v as usize] != self.most
    }

    #[inline(always)]
    fn visit(&self, found: &mut Found, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let own = self.clusters[v as usize];
        for &u in piece.targets {
            let other = self.clusters[u as usize];
            // Any edge between other clusters is met from both ends.
            if own < other {
                found.add(Cut { between: (own, other), edge: (v, u) });
            } else if other == self.most {
                found.add(Cut { between: (other, own), edge: (u, v) });
            }
        }
        Flow::More
    }
}
