//! Label correcting: rounds that relax the edges that leave vertices whose labels changed, until none changes.
//!
//! Shared by searches whose labels are the least that some rule allows. A vertex may be relaxed while its own label
//! changes: what counts is that each change is followed by a round with the vertex in its frontier, so the labels at the end
//! are the least fixed point, whatever the order. Frontiers are lists in which each vertex stands once.

use std::sync::atomic::{AtomicBool, Ordering};

use esker_graph::{Bitmap, Direction, Flow, Graph, NONE, Piece, Run, Select, VertexId, Visitor, Weight};

use crate::primitive::{
    Buckets, EdgeOp, Frontier, Order, Value, VertexArray, VertexValues, concat, edge_map, is_small,
    vertex_map,
};

/// How labels spread. Less is better.
pub(super) trait Rule<W>: Sync {
    /// What vertices are labelled with.
    type Label: Value;

    /// The label that a vertex with `label` offers over an edge, and whether it can be told. Without branches, where that is possible: it
    /// is asked of every edge.
    fn offer(&self, label: Self::Label, edge: W) -> (Self::Label, bool);
}

/// A rule by which no label over an edge is better than the one before it.
pub(super) trait Ordered<W>: Rule<W> {
    /// The bucket of a label, which ascends with it; `None` of vertices not reached.
    fn bucket(&self, label: Self::Label) -> Option<u64>;
}

/// Labels that spread along edges.
pub(super) struct Relax<'a, W, R: Rule<W>> {
    pub(super) rule: &'a R,
    pub(super) labels: &'a VertexValues<R::Label>,
    /// Set once a label cannot be told.
    pub(super) fault: AtomicBool,
    /// Vertices in the next frontier, while a round goes on.
    seen: Bitmap,
}

impl<'a, W: Weight, R: Rule<W>> Relax<'a, W, R> {
    pub(super) fn new(rule: &'a R, labels: &'a VertexValues<R::Label>) -> Self {
        Self { rule, labels, fault: AtomicBool::new(false), seen: Bitmap::new(labels.len()) }
    }

    /// Relaxes the edges that leave `frontier`. Those vertices whose change of label `enters` allows. `parents`, if wanted: for each
    /// vertex the one over which its label came, or one of those if several came at once.
    pub(super) fn round<G: Graph<Weight = W>>(
        &self,
        graph: &G,
        run: &Run,
        frontier: &[VertexId],
        parents: Option<&VertexArray>,
        enters: impl Fn(R::Label, R::Label) -> bool + Sync,
    ) -> Result<Vec<VertexId>, G::Error> {
        let select = Select::List(frontier);
        let found = if is_small(graph, run, &[Direction::Out], frontier) {
            let push = Push::<_, _, _, true> { relax: self, parents, enters };
            graph.scan(run.alone(), Direction::Out, select, &push)?
        } else {
            graph.scan(
                run,
                Direction::Out,
                select,
                &Push::<_, _, _, false> { relax: self, parents, enters },
            )?
        };
        let next = concat(found);
        next.iter().for_each(|&v| self.seen.set_word(v as usize / 64, 0));
        Ok(next)
    }

    /// Relaxes all from `source` on, the vertices of the best bucket first.
    pub(super) fn by_buckets<const BITS: u32, G: Graph<Weight = W>>(
        &self,
        graph: &G,
        run: &Run,
    ) -> Result<(), G::Error>
    where
        R: Ordered<W>,
    {
        let bucket = |v: VertexId| self.rule.bucket(self.labels.get(v));
        let mut buckets = Buckets::<BITS>::new(run, self.labels.len(), Order::Increasing, bucket)?;
        while let Some((at, mut frontier)) = buckets.next(run, bucket)? {
            let layout = buckets.layout();
            let enters = |old, new| {
                let new = self.rule.bucket(new).unwrap_or(at);
                new == at || self.rule.bucket(old).is_none_or(|old| layout.leaves(old, new))
            };
            while !frontier.is_empty() && !self.fault.load(Ordering::Relaxed) {
                run.round(frontier.len())?;
                // Who is in the bucket at hand stays; the others wait for theirs.
                let mut moved = self.round(graph, run, &frontier, None, enters)?;
                frontier.clear();
                frontier.extend(moved.extract_if(.., |v| bucket(*v) == Some(at)));
                buckets.insert(run, &moved, bucket)?;
            }
        }
        Ok(())
    }
}

/// Edges that are looked at side by side.
const CHUNK: usize = 64;

struct Push<'a, 'b, W, R: Rule<W>, E, const ALONE: bool> {
    relax: &'a Relax<'b, W, R>,
    parents: Option<&'a VertexArray>,
    enters: E,
}

impl<W: Weight, R: Rule<W>, E: Fn(R::Label, R::Label) -> bool + Sync, const ALONE: bool> Visitor<W>
    for Push<'_, '_, W, R, E, ALONE>
{
    type State = Vec<VertexId>;

    fn new_state(&self) -> Vec<VertexId> {
        Vec::new()
    }

    #[inline(always)]
    fn visit(&self, next: &mut Vec<VertexId>, src: VertexId, piece: Piece<'_, W>) -> Flow {
        let Relax { rule, labels, fault, seen } = self.relax;
        let from = labels.get(src);
        for (targets, edges) in piece.targets.chunks(CHUNK).zip(piece.weights.chunks(CHUNK)) {
            // Which labels change cannot be predicted, so they are picked without branches.
            let mut better = [0u8; CHUNK];
            let (mut count, mut faults) = (0, false);
            for (i, (&dst, &edge)) in targets.iter().zip(edges).enumerate() {
                let (offer, is_told) = rule.offer(from, edge);
                faults |= !is_told;
                better[count % CHUNK] = i as u8;
                count += usize::from(is_told & (offer < labels.get(dst)));
            }
            if faults {
                fault.store(true, Ordering::Relaxed);
            }
            for &i in &better[..count] {
                let (dst, edge) = (targets[usize::from(i)], edges[usize::from(i)]);
                let (new, _) = rule.offer(from, edge);
                let old = if ALONE { labels.lower_alone(dst, new) } else { labels.lower(dst, new) };
                let Some(old) = old else { continue };
                if let Some(parents) = self.parents {
                    parents.set(dst, src);
                }
                if (self.enters)(old, new) && seen.insert(dst) {
                    next.push(dst);
                }
            }
        }
        Flow::More
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
    let visited = Bitmap::new(n);
    parents.set(source, source);
    let mut frontier = Frontier::one(graph, source);
    while !frontier.is_empty() {
        run.check()?;
        vertex_map(run, &frontier, |v| {
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
    visited: &'a Bitmap,
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
