//! Widest paths from one source: for each vertex, the path whose narrowest edge is widest.
//!
//! Two methods, both from Sage [1]. *By rounds*, as in Bellman-Ford: each round relaxes the edges of the
//! vertices whose width changed. *By buckets*, as in Dijkstra's algorithm: one bucket per width, the widest
//! first; a vertex has its final width when it is taken out, so each list is read once. Only the leading bit
//! of a width and the nine bits after it select a bucket; a bucket that holds several widths is relaxed until
//! it converges.
//!
//! A width is one of the weights, so nothing overflows, and widths do not depend on threads or timing. State:
//! a width per vertex in reversed order, so that relaxation lowers it. Work: by buckets, O(n + m) and one
//! round per width; by rounds, O(n m) at worst. Memory per vertex: one weight for widths, up to 2.25 ids for
//! frontiers; 4 ids for buckets. Reads: by buckets, the list of each reached vertex once, or a few times if
//! buckets hold several widths; by rounds, the lists of vertices whose width changed.
//!
//! [1] L. Dhulipala et al., "Sage: Parallel Semi-Asymmetric Graph Algorithms for NVRAMs", VLDB 2020.

use std::sync::atomic::Ordering;

use esker_graph::{Graph, Run, Stop, VertexId};
use rayon::prelude::*;

use crate::algorithm::paths::relaxation::{BucketRule, LabelRule, Relaxation, tight_tree};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{Buckets, VertexValues, need_source};
use crate::widths::Width;

/// How widest paths are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WidestMethod {
    /// By buckets, the widest first.
    #[default]
    Buckets,
    /// By rounds, as in Bellman-Ford.
    Rounds,
}

/// Options of [`widest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WidestOptions {
    /// The method; widths do not depend on it.
    pub method: WidestMethod,
    /// Whether to return parents. They take one more pass over the lists.
    pub parents: bool,
}

/// Widths of paths from a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Widest<W: Width> {
    /// The width of the widest path to each vertex: [`Width::SOURCE`] for the source, [`Width::UNREACHED`] if
    /// there is none.
    pub widths: Vec<W::Width>,
    /// The previous vertex on a widest path to each vertex: the source itself for the source,
    /// [`esker_graph::NONE`] if unreached. `None` unless requested.
    pub parents: Option<Vec<VertexId>>,
    /// Number of vertices reached, including the source.
    pub reached: usize,
    /// Number of rounds.
    pub rounds: usize,
}

/// Base-2 logarithm of the number of open buckets.
const BITS: u32 = 8;

/// Estimates memory and reads. Memory is an upper bound; reads are typical.
pub fn estimate(shape: Shape, options: &WidestOptions) -> Estimate {
    let n = shape.num_vertices;
    let id_bytes = size_of::<VertexId>() as u64;
    let (buckets, lists) = match options.method {
        WidestMethod::Buckets => (Buckets::<BITS>::bytes_max(n), 1),
        WidestMethod::Rounds => (0, 4),
    };
    Estimate {
        memory_bytes: n * (2 * shape.weight_bytes.max(4) + 3 * id_bytes) + n.div_ceil(64) * 8 * 3 + buckets,
        read_bytes: shape.weighted_list_bytes() * (lists + u64::from(options.parents)),
    }
}

/// A path is as wide as its narrowest edge. Labels are widths in reversed order.
struct NarrowestEdge;

impl<W: Width> LabelRule<W> for NarrowestEdge {
    type Label = W::Width;

    #[inline(always)]
    fn offer(&self, label: W::Width, edge: W) -> (W::Width, bool) {
        edge.width().map_or((label, false), |edge| {
            let edge = W::reverse(edge);
            (if label < edge { edge } else { label }, true)
        })
    }
}

impl<W: Width> BucketRule<W> for NarrowestEdge {
    #[inline(always)]
    fn bucket(&self, label: W::Width) -> Option<u64> {
        let width = W::reverse(label);
        (width != W::UNREACHED).then(|| u64::MAX - W::bucket(width))
    }
}

/// Computes the widths from `source`. Without weights, every edge has width 1.
///
/// ```
/// use esker_algo::algorithm::paths::widest::{WidestOptions, widest};
/// use esker_graph::{Csr, Run};
///
/// let csr = Csr::directed(3, &[(0, 1, 2.0), (0, 2, 9.0), (2, 1, 5.0)])?;
/// let found = widest(&csr.graph(), &Run::with_threads(1)?, 0, &WidestOptions::default())?;
/// assert_eq!(found.widths[1], 5.0); // by vertex 2
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Unsuitable`] if the source is not a vertex, or an edge has a width that is NaN or
/// [`Width::UNREACHED`]; [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn widest<G: Graph<Weight: Width>>(
    graph: &G,
    run: &Run,
    source: VertexId,
    options: &WidestOptions,
) -> Result<Widest<G::Weight>, G::Error> {
    let n = graph.num_vertices();
    let run = &run.begin("widest paths", estimate(Shape::of(graph), options).memory_bytes)?;
    need_source(source, n)?;
    run.install(|| search(graph, run, source, options))
}

fn search<G: Graph<Weight: Width>>(
    graph: &G,
    run: &Run,
    source: VertexId,
    options: &WidestOptions,
) -> Result<Widest<G::Weight>, G::Error> {
    let n = graph.num_vertices();
    let reversed = <G::Weight as Width>::reverse;
    let labels = VertexValues::filled(run, n, reversed(<G::Weight as Width>::UNREACHED));
    labels.set(source, reversed(<G::Weight as Width>::SOURCE));
    let relax = Relaxation::new(&NarrowestEdge, &labels);
    match options.method {
        WidestMethod::Buckets => relax.by_buckets::<BITS, G>(graph, run)?,
        WidestMethod::Rounds => {
            let mut frontier = vec![source];
            while !frontier.is_empty() {
                run.round(frontier.len())?;
                frontier = relax.round(graph, run, &frontier, None, |_, _| true)?;
            }
        }
    }
    let failed = relax.fault.load(Ordering::Relaxed);
    drop(relax);
    if failed {
        let message = "cannot compute widest paths: an edge has a width that is not a number, or the least value \
                       of its type, which stands for unreached";
        return Err(Stop::unsuitable(message.to_owned()).into());
    }
    let widths: Vec<_> = labels.into_vec().into_par_iter().map(reversed).collect();
    let rounds = run.rounds();
    let tight = |u: VertexId, v: VertexId, edge: G::Weight| {
        let (before, after) = (widths[u as usize], widths[v as usize]);
        edge.width().is_some_and(|edge| after == if edge < before { edge } else { before })
    };
    let parents = if options.parents { Some(tight_tree(graph, run, source, tight)?) } else { None };
    let reached = widths.iter().filter(|&&width| width != <G::Weight as Width>::UNREACHED).count();
    Ok(Widest { widths, parents, reached, rounds })
}
