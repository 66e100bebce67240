//! Widest paths from one source: to each vertex the path whose narrowest edge is widest.
//!
//! Two ways, both of Sage [1]. *By rounds*, as Bellman-Ford: relax what leaves the vertices whose width changed. *By
//! buckets*, as Dijkstra's algorithm with a bucket for each width, the widest first: a vertex that is taken out has
//! its final width, so each list is read once. Widths of more than nine bits are bucketed by these, and a bucket is
//! relaxed until it is at rest.
//!
//! A width is one of the weights, so nothing overflows, and the widths do not depend on threads or timing. Work: O(n + m) and a
//! round for each width by buckets; O(n m) at worst by rounds. Memory, bytes a vertex: the weight for widths, up to 2.25 ids for
//! frontiers; 5 ids for buckets. Reads: by buckets, the list of each reached vertex once, or a few times if widths are
//! fine; by rounds, the lists of vertices whose width changed.
//!
//! [1] L. Dhulipala et al., "Sage: Parallel Semi-Asymmetric Graph Algorithms for NVRAMs", VLDB 2020.

use std::sync::atomic::Ordering;

use esker_graph::{Graph, Run, Stop, VertexId};
use rayon::prelude::*;

use super::relaxation::{Ordered, Relax, Rule, tight_tree};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{Buckets, VertexValues};
use crate::widths::Width;

/// How widest paths are sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WidestMethod {
    /// By buckets, the widest first.
    #[default]
    Buckets,
    /// By rounds, as Bellman-Ford.
    Rounds,
}

/// What is wanted, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WidestOptions {
    /// How they are sought; the widths do not depend on it.
    pub method: WidestMethod,
    /// Whether the edges by which vertices are reached are wanted; for these the lists are read once more.
    pub parents: bool,
}

/// Widths of paths from a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Widest<W: Width> {
    /// The width of the widest path to each vertex: [`Width::SOURCE`] for the source, [`Width::UNREACHED`] where there is
    /// none.
    pub widths: Vec<W::Width>,
    /// For each vertex the one before it on a widest path: itself for the source, [`esker_graph::NONE`] where
    /// unreached; if asked for.
    pub parents: Option<Vec<VertexId>>,
    /// Number of vertices reached, the source included.
    pub reached: usize,
    /// Rounds.
    pub rounds: usize,
}

/// Logarithm of the open buckets.
const BITS: u32 = 8;

/// What the search will take; the reading is what is common.
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

/// Finds the widths from `source`. A graph without weights has edges of width 1.
///
/// # Errors
/// [`Stop::Unsuitable`] if the source is not a vertex, or the width of an edge is not a number or [`Width::UNREACHED`]; [`Stop::OverBudget`];
/// the first list that cannot be read; cancellation.
pub fn widest<G: Graph>(
    graph: &G,
    run: &Run,
    source: VertexId,
    options: &WidestOptions,
) -> Result<Widest<G::Weight>, G::Error>
where
    G::Weight: Width,
{
    let n = graph.num_vertices();
    run.begin("widest paths", estimate(Shape::of(graph), options).memory_bytes)?;
    if source as usize >= n {
        return Err(Stop::Unsuitable(format!("source {source} is not a vertex: there are {n}")).into());
    }
    run.install(|| search(graph, run, source, options))
}

fn search<G: Graph>(
    graph: &G,
    run: &Run,
    source: VertexId,
    options: &WidestOptions,
) -> Result<Widest<G::Weight>, G::Error>
where
    G::Weight: Width,
{
    let n = graph.num_vertices();
    let turned = <G::Weight as Width>::turn;
    let labels = VertexValues::filled(run, n, turned(<G::Weight as Width>::UNREACHED));
    labels.set(source, turned(<G::Weight as Width>::SOURCE));
    let relax = Relax::new(&Narrowest, &labels);
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
        return Err(Stop::Unsuitable(
            "an edge has a width that is not a number, or the one that stands for unreached".to_owned(),
        )
        .into());
    }
    let widths: Vec<_> = labels.into_vec().into_par_iter().map(turned).collect();
    let rounds = run.rounds();
    let tight = |u: VertexId, v: VertexId, edge: G::Weight| {
        let (before, after) = (widths[u as usize], widths[v as usize]);
        edge.width().is_some_and(|edge| after == if edge < before { edge } else { before })
    };
    let parents = if options.parents { Some(tight_tree(graph, run, source, tight)?) } else { None };
    let reached = widths.iter().filter(|&&width| width != <G::Weight as Width>::UNREACHED).count();
    Ok(Widest { widths, parents, reached, rounds })
}

/// A path is as wide as its narrowest edge. Labels are widths turned round.
struct Narrowest;

impl<W: Width> Rule<W> for Narrowest {
    type Label = W::Width;

    #[inline(always)]
    fn offer(&self, label: W::Width, edge: W) -> (W::Width, bool) {
        edge.width().map_or((label, false), |edge| {
            let edge = W::turn(edge);
            (if label < edge { edge } else { label }, true)
        })
    }
}

impl<W: Width> Ordered<W> for Narrowest {
    #[inline(always)]
    fn bucket(&self, label: W::Width) -> Option<u64> {
        let width = W::turn(label);
        (width != W::UNREACHED).then(|| u64::MAX - W::bucket(width))
    }
}
