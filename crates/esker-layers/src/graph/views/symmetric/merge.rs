//! Merges two sorted lists.

use esker_graph::{Flow, Piece, Sink, VertexId};

use crate::graph::weight::ColumnWeight;

/// Arcs that are merged before they are handed over.
const PIECE_LEN: usize = 1 << 12;

/// Two lists with their weights, sorted.
pub(super) type BothLists<'l, W> = [(&'l [VertexId], &'l [W]); 2];

/// Two lists on their way to one.
pub(super) struct Merge<'l, W> {
    lists: BothLists<'l, W>,
    /// The neighbour whose two copies are one arc: the vertex itself in a multigraph, else every one.
    joined: Option<VertexId>,
}

impl<'l, W: ColumnWeight> Merge<'l, W> {
    pub(super) fn new(v: VertexId, lists: BothLists<'l, W>, multigraph: bool) -> Self {
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
                // Copies of a loop may lie in another order in the other list.
                (true, _) if self.joined.is_some() => a_weights[i],
                (true, _) => a_weights[i].smaller(b_weights[j]),
                (false, true) => a_weights[i],
                (false, false) => b_weights[j],
            });
            i += usize::from(x <= y);
            j += usize::from(y < x || joins);
        }
        self.lists = [(&a[i..], &a_weights[i..]), (&b[j..], &b_weights[j..])];
    }

    /// Number of arcs of the merged list.
    pub(super) fn count(&self) -> usize {
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
    pub(super) fn with_merged(mut self, take: &mut dyn FnMut(&[VertexId], &[W])) {
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
    pub(super) fn hand_over(
        mut self,
        v: VertexId,
        sink: &mut dyn Sink<W>,
        targets: &mut Vec<VertexId>,
        weights: &mut Vec<W>,
    ) {
        loop {
            // The rest of one list needs no copy.
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
        merge().with_merged(&mut |targets, weights| {
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
