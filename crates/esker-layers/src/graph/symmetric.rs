//! A directed graph as an undirected one, without a copy: the list of a vertex is its out-list and its in-list, merged as it is read.
//!
//! Where a graph keeps one edge between two vertices at most, `a -> b` and `b -> a` become one edge with the smaller of their weights. In
//! a multigraph, each directed edge becomes an undirected one. A self-loop stays in its list once.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use esker_format::{Error, Result};
use esker_graph::{
    AnyVisitor, Extents, Flow, Piece, Reservation, Run, Select, Sink, Source, Units, VertexId, drive, vertex,
};

use super::list_by_list::ListByList;
use super::side::Side;
use super::weight::ColumnWeight;

/// Arcs that are merged before they are handed over.
const PIECE_LEN: usize = 1 << 12;
/// Vertices whose lists one unit of work measures.
const GRAIN: usize = 1 << 12;

/// Both directions of a directed graph.
///
/// Cost of opening: every list is read once, because degrees are those of merged lists. Memory: 8 bytes a vertex.
pub(super) struct SymmetricSide<'a, W> {
    out: Side<'a, W>,
    incoming: Side<'a, W>,
    multigraph: bool,
    /// Arcs before each vertex, and in all.
    offsets: Vec<u64>,
    _memory: Reservation,
}

impl<'a, W: ColumnWeight> SymmetricSide<'a, W> {
    /// Verifies and reads all lists of a graph of `num_vertices` vertices.
    pub(super) fn new(
        out: Side<'a, W>,
        incoming: Side<'a, W>,
        multigraph: bool,
        num_vertices: usize,
        run: &Run,
    ) -> Result<Self> {
        let bytes = Self::bytes(num_vertices as u64);
        let memory = run.budget().reserve("the degrees of an undirected view", bytes)?;
        out.prepare(run)?;
        incoming.prepare(run)?;
        let degrees: Vec<AtomicU64> = (0..=num_vertices).map(|_| AtomicU64::new(0)).collect();
        run.share_ranges(
            num_vertices,
            GRAIN,
            || (),
            |(), range| {
                range.into_iter().try_for_each(|v| {
                    let (v, mut degree) = (vertex(v), 0);
                    both(&out, &incoming, v, |lists| degree = Merge::new(v, lists, multigraph).count())?;
                    degrees[v as usize + 1].store(degree as u64, Relaxed);
                    Ok::<_, Error>(())
                })
            },
        )?;
        let mut sum = 0;
        let sums = degrees.into_iter().map(|degree| {
            sum += degree.into_inner();
            sum
        });
        Ok(Self { offsets: sums.collect(), out, incoming, multigraph, _memory: memory })
    }

    /// Memory for a number of vertices.
    pub(super) const fn bytes(num_vertices: u64) -> u64 {
        (num_vertices + 1) * 8
    }

    pub(super) fn num_arcs(&self) -> u64 {
        self.offsets.last().copied().unwrap_or(0)
    }
}

/// Two lists with their weights, sorted.
type Pair<'l, W> = [(&'l [VertexId], &'l [W]); 2];

/// Calls `f` with the out-list and the in-list of `v`.
fn both<W: ColumnWeight, R>(
    out: &Side<'_, W>,
    incoming: &Side<'_, W>,
    v: VertexId,
    f: impl FnOnce(Pair<'_, W>) -> R,
) -> Result<R> {
    out.with_list(v, |targets, weights| {
        incoming.with_list(v, |sources, their_weights| f([(targets, weights), (sources, their_weights)]))
    })?
}

/// Two lists on their way to one.
struct Merge<'l, W> {
    lists: Pair<'l, W>,
    /// The neighbour whose two copies are one arc: the vertex itself in a multigraph, else every one.
    joined: Option<VertexId>,
}

impl<'l, W: ColumnWeight> Merge<'l, W> {
    fn new(v: VertexId, lists: Pair<'l, W>, multigraph: bool) -> Self {
        Self { lists, joined: multigraph.then_some(v) }
    }

    /// The rest, once one of the lists is at its end.
    fn rest(&self) -> Option<(&'l [VertexId], &'l [W])> {
        let [a, b] = self.lists;
        if b.0.is_empty() {
            Some(a)
        } else if a.0.is_empty() {
            Some(b)
        } else {
            None
        }
    }

    /// Moves at most [`PIECE_LEN`] arcs to the end of the buffers, until one list is at its end.
    fn advance(&mut self, targets: &mut Vec<VertexId>, weights: &mut Vec<W>) {
        let [(a, a_weights), (b, b_weights)] = self.lists;
        let (mut i, mut j) = (0, 0);
        for _ in 0..PIECE_LEN {
            if i == a.len() || j == b.len() {
                break;
            }
            let (x, y) = (a[i], b[j]);
            let joins = x == y && self.joined.is_none_or(|v| v == x);
            targets.push(x.min(y));
            weights.push(match (joins, x <= y) {
                (true, _) => a_weights[i].smaller(b_weights[j]),
                (false, true) => a_weights[i],
                (false, false) => b_weights[j],
            });
            i += usize::from(x <= y);
            j += usize::from(y < x || joins);
        }
        self.lists = [(&a[i..], &a_weights[i..]), (&b[j..], &b_weights[j..])];
    }

    /// How many arcs there are.
    fn count(&self) -> usize {
        let [(a, _), (b, _)] = self.lists;
        let (mut i, mut j, mut joined) = (0, 0, 0);
        while i < a.len() && j < b.len() {
            let (x, y) = (a[i], b[j]);
            let joins = x == y && self.joined.is_none_or(|v| v == x);
            joined += usize::from(joins);
            i += usize::from(x <= y);
            j += usize::from(y < x || joins);
        }
        a.len() + b.len() - joined
    }

    /// Calls `take` with the merged list.
    fn give(mut self, take: &mut dyn FnMut(&[VertexId], &[W])) {
        let (mut targets, mut weights) = (Vec::new(), Vec::new());
        loop {
            match self.rest() {
                Some((rest, rest_weights)) if targets.is_empty() => return take(rest, rest_weights),
                Some((rest, rest_weights)) => {
                    targets.extend_from_slice(rest);
                    weights.extend_from_slice(rest_weights);
                    return take(&targets, &weights);
                }
                None => self.advance(&mut targets, &mut weights),
            }
        }
    }

    /// Hands over the merged list of `v`, in pieces.
    fn hand_over(
        mut self,
        v: VertexId,
        sink: &mut dyn Sink<W>,
        (targets, weights): (&mut Vec<VertexId>, &mut Vec<W>),
    ) {
        loop {
            // What is left of one list needs no copy.
            if let Some((targets, weights)) = self.rest() {
                if !targets.is_empty() {
                    sink.visit_one(v, Piece { targets, weights, exclusive: true });
                }
                return;
            }
            targets.clear();
            weights.clear();
            self.advance(targets, weights);
            let piece = Piece { targets, weights, exclusive: true };
            if sink.visit_one(v, piece) == Flow::Enough {
                return;
            }
        }
    }
}

impl<W: ColumnWeight> Extents for SymmetricSide<'_, W> {
    fn num_vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    fn entries_before(&self, v: usize) -> usize {
        v + self.offsets[v] as usize
    }

    fn degree(&self, v: VertexId) -> usize {
        (self.offsets[v as usize + 1] - self.offsets[v as usize]) as usize
    }
}

impl<W: ColumnWeight> Source<W, Error> for SymmetricSide<'_, W> {
    fn degree(&self, v: VertexId) -> usize {
        Extents::degree(self, v)
    }

    fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        drive(run, self, Units::default(), select, &|| {
            let (mut targets, mut weights) = (Vec::new(), Vec::new());
            ListByList::boxed(visitor, move |v, sink| {
                both(&self.out, &self.incoming, v, |lists| {
                    Merge::new(v, lists, self.multigraph).hand_over(v, sink, (&mut targets, &mut weights));
                })
            })
        })
    }

    fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[W])) -> Result<()> {
        both(&self.out, &self.incoming, v, |lists| {
            Merge::new(v, lists, self.multigraph).give(take);
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The list of vertex 0 in an undirected graph, and how many arcs were counted.
    fn merged(
        out: &[(VertexId, i32)],
        incoming: &[(VertexId, i32)],
        multigraph: bool,
    ) -> Vec<(VertexId, i32)> {
        let ([a, b], [x, y]) = (
            [out, incoming].map(|list| list.iter().map(|arc| arc.0).collect::<Vec<_>>()),
            [out, incoming].map(|list| list.iter().map(|arc| arc.1).collect::<Vec<_>>()),
        );
        let merge = || Merge::new(0, [(&a, &x), (&b, &y)], multigraph);
        let mut found = Vec::new();
        merge().give(&mut |targets, weights| {
            found = targets.iter().copied().zip(weights.iter().copied()).collect();
        });
        assert_eq!(merge().count(), found.len());
        found
    }

    #[test]
    fn edges_both_ways_become_one_or_stay_two() {
        let (out, incoming) = ([(0, 9), (1, 5), (3, 2)], [(0, 9), (1, 4), (2, 7), (3, 3)]);
        assert_eq!(merged(&out, &incoming, false), [(0, 9), (1, 4), (2, 7), (3, 2)]);
        assert_eq!(merged(&out, &incoming, true), [(0, 9), (1, 5), (1, 4), (2, 7), (3, 2), (3, 3)]);
    }

    fn list(longest: usize) -> impl Strategy<Value = Vec<(VertexId, i32)>> {
        prop::collection::btree_map(0..20_000 as VertexId, any::<i32>(), 0..longest)
            .prop_map(|arcs| arcs.into_iter().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_merged_list_is_the_union(out in list(10_000), incoming in list(10_000)) {
            let mut incoming = incoming;
            // A self-loop is in both lists.
            incoming.retain(|arc| arc.0 != 0);
            incoming.splice(0..0, out.first().filter(|arc| arc.0 == 0).copied());
            let mut expected: std::collections::BTreeMap<VertexId, i32> = out.iter().copied().collect();
            for &(source, weight) in &incoming {
                let least = expected.entry(source).or_insert(weight);
                *least = weight.min(*least);
            }
            prop_assert_eq!(merged(&out, &incoming, false), expected.into_iter().collect::<Vec<_>>());
            let mut each: Vec<_> = out.iter().chain(incoming.iter().filter(|arc| arc.0 != 0)).copied().collect();
            each.sort_by_key(|arc| arc.0);
            prop_assert_eq!(merged(&out, &incoming, true), each);
        }
    }
}
