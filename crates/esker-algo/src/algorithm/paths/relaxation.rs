//! Label-correcting searches: rounds that relax the edges of vertices whose labels changed, until none
//! changes.
//!
//! Shared by searches whose labels are a least fixed point. The label of a vertex may change while the vertex
//! is being relaxed: every change puts it in the next frontier, so the final labels are the least fixed point
//! in any order. A frontier is a list in which each vertex occurs once.

use std::sync::atomic::{AtomicBool, Ordering};

use esker_graph::{Bitmap, Direction, Flow, Graph, NONE, Piece, Run, Select, VertexId, Visitor, Weight};

use crate::primitive::{
    ArrayValue, BucketOrder, Buckets, EdgeOp, Frontier, VertexArray, VertexValues, concat, edge_map,
    is_small, vertex_map,
};

/// How labels spread along edges. Lower labels are better.
pub(crate) trait LabelRule<W>: Sync {
    /// The type of a label.
    type Label: ArrayValue;

    /// As [`Visitor::BOXED`].
    const BOXED: bool = false;

    /// The label that a vertex with `label` offers over an edge, and whether it is valid. Called for every
    /// edge, so it should have no branches.
    fn offer(&self, label: Self::Label, edge: W) -> (Self::Label, bool);
}

/// A rule under which no edge improves a label.
pub(crate) trait BucketRule<W>: LabelRule<W> {
    /// The bucket of a label, which ascends with the label; `None` for unreached vertices.
    fn bucket(&self, label: Self::Label) -> Option<u64>;
}

/// The labels of a search and the rule by which they spread.
pub(crate) struct Relaxation<'a, W, R: LabelRule<W>> {
    pub(crate) rule: &'a R,
    pub(crate) labels: &'a VertexValues<R::Label>,
    /// Set once a label is not valid.
    pub(crate) fault: AtomicBool,
    /// Vertices in the next frontier, during a round.
    seen: Bitmap,
}

impl<'a, W: Weight, R: LabelRule<W>> Relaxation<'a, W, R> {
    pub(crate) fn new(rule: &'a R, labels: &'a VertexValues<R::Label>) -> Self {
        Self { rule, labels, fault: AtomicBool::new(false), seen: Bitmap::new(labels.len()) }
    }

    /// Relaxes the edges that leave `frontier`. Returns the vertices whose label changed with `enters(old,
    /// new)` true. If `parents` is given, stores the vertex that lowered each label; if several race, any of
    /// them.
    pub(crate) fn round<G: Graph<Weight = W>>(
        &self,
        graph: &G,
        run: &Run,
        frontier: &[VertexId],
        parents: Option<&VertexArray>,
        enters: impl Fn(R::Label, R::Label) -> bool + Sync,
    ) -> Result<Vec<VertexId>, G::Error> {
        let select = Select::List(frontier);
        let found = if is_small(graph, run, &[Direction::Out], frontier) {
            let push = RelaxEdges::<_, _, _, true> { relax: self, parents, enters };
            graph.scan(run.single_threaded(), Direction::Out, select, &push)?
        } else {
            graph.scan(
                run,
                Direction::Out,
                select,
                &RelaxEdges::<_, _, _, false> { relax: self, parents, enters },
            )?
        };
        let next = concat(found);
        next.iter().for_each(|&v| self.seen.set_word(v as usize / 64, 0));
        Ok(next)
    }

    /// Relaxes everything reachable from the labelled vertices, best bucket first.
    pub(crate) fn by_buckets<const BITS: u32, G: Graph<Weight = W>>(
        &self,
        graph: &G,
        run: &Run,
    ) -> Result<(), G::Error>
    where
        R: BucketRule<W>,
    {
        let bucket = |v: VertexId| self.rule.bucket(self.labels.get(v));
        let mut buckets = Buckets::<BITS>::new(run, self.labels.len(), BucketOrder::Increasing, bucket)?;
        while let Some((at, mut frontier)) = buckets.next(run, bucket)? {
            let layout = buckets.layout();
            let enters = |old, new| {
                let new = self.rule.bucket(new).unwrap_or(at);
                new == at || self.rule.bucket(old).is_none_or(|old| layout.leaves(old, new))
            };
            while !frontier.is_empty() && !self.fault.load(Ordering::Relaxed) {
                run.round(frontier.len())?;
                // Vertices in the current bucket continue at once; the others wait for their bucket.
                let mut moved = self.round(graph, run, &frontier, None, enters)?;
                frontier.clear();
                frontier.extend(moved.extract_if(.., |v| bucket(*v) == Some(at)));
                buckets.insert(run, &moved, bucket)?;
            }
        }
        Ok(())
    }
}

/// Edges examined together.
const CHUNK: usize = 64;

/// Relaxes the out-edges of the frontier.
struct RelaxEdges<'a, 'b, W, R: LabelRule<W>, E, const ALONE: bool> {
    relax: &'a Relaxation<'b, W, R>,
    parents: Option<&'a VertexArray>,
    enters: E,
}

impl<W: Weight, R: LabelRule<W>, E: Fn(R::Label, R::Label) -> bool + Sync, const ALONE: bool> Visitor<W>
    for RelaxEdges<'_, '_, W, R, E, ALONE>
{
    type State = Vec<VertexId>;

    // Of graphs without weights, a breadth-first search answers the same sooner.
    const BOXED: bool = R::BOXED || size_of::<W>() == 0;

    fn new_state(&self) -> Vec<VertexId> {
        Vec::new()
    }

    #[inline(always)]
    fn visit(&self, next: &mut Vec<VertexId>, src: VertexId, piece: Piece<'_, W>) -> Flow {
        let Relaxation { rule, labels, fault, seen } = self.relax;
        let from = labels.get(src);
        for (targets, edges) in piece.targets.chunks(CHUNK).zip(piece.weights.chunks(CHUNK)) {
            // Whether a label improves is unpredictable, so improvements are selected without branches.
            let mut better = [0u8; CHUNK];
            let (mut count, mut faults) = (0, false);
            for (i, (&dst, &edge)) in targets.iter().zip(edges).enumerate() {
                let (offer, is_valid) = rule.offer(from, edge);
                faults |= !is_valid;
                better[count % CHUNK] = i as u8;
                count += usize::from(is_valid & (offer < labels.get(dst)));
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

/// A search tree of the edges for which `tight` is true, from `source`. The parent is the least possible
/// vertex of the previous level. Because the search goes level by level, the tree has no cycles even if tight
/// edges form some.
pub(crate) fn tight_tree<G: Graph>(
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
        let adopt = TightParent { parents: &parents, visited: &visited, tight: &tight };
        frontier = edge_map(graph, run, &frontier, &adopt)?;
    }
    Ok(parents.into_vec())
}

/// Gives a vertex the least parent among the frontier vertices with a tight edge to it.
struct TightParent<'a, T> {
    parents: &'a VertexArray,
    visited: &'a Bitmap,
    tight: &'a T,
}

impl<W: Weight, T: Fn(VertexId, VertexId, W) -> bool + Sync> EdgeOp<W> for TightParent<'_, T> {
    // Once after a search of many rounds, and only where parents are asked for.
    const BOXED: bool = true;

    #[inline(always)]
    fn wants(&self, dst: VertexId) -> bool {
        !self.visited.get(dst)
    }

    #[inline(always)]
    fn push(&self, src: VertexId, dst: VertexId, edge: W) -> bool {
        (self.tight)(src, dst, edge) && self.parents.lower(dst, src) == Some(NONE)
    }
}
