//! Label correcting: rounds that relax the edges that leave vertices whose labels changed, until none changes.
//!
//! Shared by searches whose labels are the least that some rule allows. A vertex may be relaxed while its own label changes: what
//! counts is that each change is followed by a round with the vertex in its frontier, so the labels at the end are the least
//! fixed point, whatever the order.

use std::sync::atomic::{AtomicBool, Ordering};

use esker_graph::{Graph, NONE, Run, VertexId, Weight};

use crate::primitive::{EdgeOp, Frontier, Value, VertexArray, VertexValues, Way, edge_map, edge_map_way};

/// How labels spread. Less is better.
pub(super) trait Rule<W>: Sync {
    /// What vertices are labelled with.
    type Label: Value;

    /// The label that a vertex with `label` offers over an edge; `None` if it cannot be told.
    fn over(&self, label: Self::Label, edge: W) -> Option<Self::Label>;

    /// Whether a vertex enters the next frontier by a change of its label.
    #[inline(always)]
    fn enters(&self, _old: Self::Label, _new: Self::Label) -> bool {
        true
    }
}

/// Labels that spread along edges.
pub(super) struct Relax<'a, W, R: Rule<W>> {
    pub(super) rule: R,
    pub(super) labels: &'a VertexValues<R::Label>,
    /// For each vertex the one over which its label came, or one of those if several came at once; if wanted.
    pub(super) parents: Option<&'a VertexArray>,
    /// Set once a label cannot be told.
    pub(super) fault: &'a AtomicBool,
}

/// Of ten arcs, how many must leave the frontier for a round to go over all of them from the other side, which costs less for
/// each arc but cannot pass over any.
const PULL_TENTHS: u64 = 7;

impl<W: Weight, R: Rule<W>> Relax<'_, W, R> {
    /// Relaxes the edges that leave `frontier`. The vertices that enter the next.
    pub(super) fn round<G: Graph<Weight = W>>(
        &self,
        graph: &G,
        run: &Run,
        frontier: &Frontier,
    ) -> Result<Frontier, G::Error> {
        let most = u128::from(frontier.arcs()) * 10 > u128::from(graph.num_arcs() * PULL_TENTHS);
        let pull = most && graph.has(esker_graph::Direction::In) && run.threads() > 1;
        edge_map_way(graph, run, if pull { Way::Pull } else { Way::Push }, frontier, self)
    }

    #[inline(always)]
    fn note(&self, dst: VertexId, src: VertexId, old: R::Label, new: R::Label) -> bool {
        if let Some(parents) = self.parents {
            parents.set(dst, src);
        }
        self.rule.enters(old, new)
    }

    #[inline(always)]
    fn offer(&self, src: VertexId, edge: W) -> Option<R::Label> {
        let offer = self.rule.over(self.labels.get(src), edge);
        if offer.is_none() {
            self.fault.store(true, Ordering::Relaxed);
        }
        offer
    }
}

impl<W: Weight, R: Rule<W>> EdgeOp<W> for Relax<'_, W, R> {
    const REPEATS: bool = true;

    #[inline(always)]
    fn push(&self, src: VertexId, dst: VertexId, edge: W) -> bool {
        let Some(new) = self.offer(src, edge) else { return false };
        self.labels.lower(dst, new).is_some_and(|old| self.note(dst, src, old, new))
    }

    #[inline(always)]
    fn push_alone(&self, src: VertexId, dst: VertexId, edge: W) -> bool {
        let Some(new) = self.offer(src, edge) else { return false };
        self.labels.lower_alone(dst, new).is_some_and(|old| self.note(dst, src, old, new))
    }

    #[inline(always)]
    fn pull(&self, dst: VertexId, src: VertexId, edge: W) -> bool {
        self.push_alone(src, dst, edge)
    }
}

/// A tree of edges that are `tight`, from `source` to all that such edges lead to: of the vertices a level up, the least is
/// the parent. A search level by level makes no circles, even where tight edges do.
pub(super) fn tight_tree<G: Graph>(
    graph: &G,
    run: &Run,
    source: VertexId,
    tight: impl Fn(VertexId, VertexId, G::Weight) -> bool + Sync,
) -> Result<Vec<VertexId>, G::Error> {
    let n = graph.num_vertices();
    let parents = VertexArray::filled(run, n, NONE);
    let visited = esker_graph::Bitmap::new(n);
    parents.set(source, source);
    let mut frontier = Frontier::one(graph, source);
    while !frontier.is_empty() {
        run.check()?;
        crate::primitive::vertex_map(run, &frontier, |v| {
            visited.insert(v);
        })?;
        let adopt = Adopt { parents: &parents, visited: &visited, tight: &tight };
        frontier = edge_map(graph, run, &frontier, &adopt)?;
    }
    Ok(parents.into_vec())
}

/// Gives a vertex the least parent among the vertices of the frontier from which a tight edge leads to it.
struct Adopt<'a, T> {
    parents: &'a VertexArray,
    visited: &'a esker_graph::Bitmap,
    tight: &'a T,
}

impl<W: Weight, T: Fn(VertexId, VertexId, W) -> bool + Sync> EdgeOp<W> for Adopt<'_, T> {
    #[inline(always)]
    fn wants(&self, dst: VertexId) -> bool {
        !self.visited.get(dst)
    }

    #[inline(always)]
    fn push(&self, src: VertexId, dst: VertexId, edge: W) -> bool {
        (self.tight)(src, dst, edge) && self.parents.lower(dst, src) == Some(NONE)
    }
}
