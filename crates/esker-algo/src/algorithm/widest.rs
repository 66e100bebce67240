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

use std::sync::atomic::AtomicBool;

use esker_graph::{Graph, Run, Stop, VertexId};
use rayon::prelude::*;

use super::relaxation::{Relax, Rule, tight_tree};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{Buckets, Frontier, Layout, Order, VertexValues};
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
    let fault = AtomicBool::new(false);
    match options.method {
        WidestMethod::Buckets => by_buckets(graph, run, &labels, &fault)?,
        WidestMethod::Rounds => {
            let relax = Relax { rule: Narrowest, labels: &labels, parents: None, fault: &fault };
            let mut frontier = Frontier::one(graph, source);
            while !frontier.is_empty() {
                run.round(frontier.len())?;
                frontier = relax.round(graph, run, &frontier)?;
            }
        }
    }
    if fault.into_inner() {
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
    fn over(&self, label: W::Width, edge: W) -> Option<W::Width> {
        edge.width().map(|edge| {
            let edge = W::turn(edge);
            if label < edge { edge } else { label }
        })
    }
}

/// The same, of which only what changes its bucket, or comes into the one at hand, is told.
struct NarrowestInBuckets {
    layout: Layout<BITS>,
    /// The bucket at hand.
    at: u64,
}

impl<W: Width> Rule<W> for NarrowestInBuckets {
    type Label = W::Width;

    #[inline(always)]
    fn over(&self, label: W::Width, edge: W) -> Option<W::Width> {
        Narrowest.over(label, edge)
    }

    #[inline(always)]
    fn enters(&self, old: W::Width, new: W::Width) -> bool {
        let (old, new) = (W::turn(old), W::bucket(W::turn(new)));
        new == self.at || old == W::UNREACHED || self.layout.leaves(W::bucket(old), new)
    }
}

fn by_buckets<G: Graph>(
    graph: &G,
    run: &Run,
    labels: &VertexValues<<G::Weight as Width>::Width>,
    fault: &AtomicBool,
) -> Result<(), G::Error>
where
    G::Weight: Width,
{
    let bucket = |v: VertexId| {
        let width = <G::Weight as Width>::turn(labels.get(v));
        (width != <G::Weight as Width>::UNREACHED).then(|| <G::Weight as Width>::bucket(width))
    };
    let mut buckets = Buckets::<BITS>::new(run, graph.num_vertices(), Order::Decreasing, bucket)?;
    while let Some((at, members)) = buckets.next(run, bucket)? {
        let rule = NarrowestInBuckets { layout: buckets.layout(), at };
        let relax = Relax { rule, labels, parents: None, fault };
        let mut frontier = Frontier::from_list(graph, members);
        while !frontier.is_empty() {
            run.round(frontier.len())?;
            let next = relax.round(graph, run, &frontier)?;
            let (stay, moved) = next.list().iter().partition::<Vec<_>, _>(|&&v| bucket(v) == Some(at));
            buckets.insert(run, &moved, bucket)?;
            frontier = Frontier::from_list(graph, stay);
        }
    }
    Ok(())
}
