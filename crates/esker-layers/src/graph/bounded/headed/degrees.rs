//! Heads that hold the neighbours of highest degree.
//!
//! A search from below looks for any neighbour in the frontier. Hubs are there first, so they are what a head
//! should hold. If vertices are numbered by descending degree, they are the first neighbours of each list;
//! else they are chosen when the head is made (NETALX, section 3.4.3). They are the first neighbours in any
//! order of the vertices if the graph is a multigraph, if heads have more than [`CHOSEN_HEAD_LEN_MAX`]
//! neighbours, and if they are gathered for a run with weights.

use std::cmp::Reverse;

use esker_format::{CHOSEN_HEAD_LEN_MAX, HeadOrder, Result};
use esker_graph::{Run, VertexId, vertex};

use super::lists::directions;
use crate::graph::mapped::dense::DenseLists;
use crate::layer::{ListExtents, PlainLayer};

/// Longer heads hold the first neighbours.
const CHOSEN_LEN_MAX: usize = CHOSEN_HEAD_LEN_MAX as usize;
/// Neighbours that are ranked between two selections.
const CHUNK: usize = 1 << 12;
/// Vertices that are compared with others at one distance.
const COMPARED: usize = 1 << 12;
/// Distances at which vertices are compared: half of their number, a quarter, and so on.
const DISTANCES: usize = 6;
/// Vertices count as ordered by degree if at most one in this number has a lower degree than a vertex far
/// behind it.
const ASCENTS_SHARE: usize = 16;

/// The degree of each vertex: the arcs of its stored lists, out and in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListDegrees<'a> {
    out: ListExtents<'a>,
    /// `None`: no in-lists are stored, or they are the out-lists.
    incoming: Option<ListExtents<'a>>,
}

impl<'a> ListDegrees<'a> {
    /// The degrees in a complete layer.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`]; [`esker_format::Error::Invalid`] if the layer is not complete;
    /// cancellation.
    pub(crate) fn for_layer(layer: &'a PlainLayer, run: &Run) -> Result<Self> {
        let mut lists = Vec::new();
        for (_, section) in directions(layer) {
            lists.push(DenseLists::new(section.main(), run)?.extents());
        }
        let mut lists = lists.into_iter();
        Ok(Self { out: lists.next().unwrap_or(ListExtents::Offsets(&[0])), incoming: lists.next() })
    }

    /// The degrees of lists that begin and end at these offsets.
    #[cfg(test)]
    pub(super) const fn new(out: &'a [u64]) -> Self {
        Self { out: ListExtents::Offsets(out), incoming: None }
    }

    /// The arcs of `v`, out and in.
    #[inline(always)]
    fn total_degree(&self, v: VertexId) -> u64 {
        let incoming = self.incoming.map_or(0, |lists| lists.degree(v as usize));
        (self.out.degree(v as usize) + incoming) as u64
    }

    /// Whether vertices are numbered by descending degree, except for what changed since. Compares some
    /// thousands of pairs of vertices that lie far apart.
    fn descend(&self) -> bool {
        let n = self.out.len();
        let (mut pairs, mut ascents) = (0, 0);
        for distance in (1..=DISTANCES).map(|halvings| n >> halvings).filter(|&distance| distance > 0) {
            let firsts = n - distance;
            let count = firsts.min(COMPARED);
            for first in (0..count).map(|i| i * firsts / count) {
                pairs += 1;
                ascents += usize::from(
                    self.total_degree(vertex(first)) < self.total_degree(vertex(first + distance)),
                );
            }
        }
        ascents * ASCENTS_SHARE <= pairs
    }

    /// The neighbours that heads of a length should hold. In a multigraph, the first ones: a head that holds
    /// some copies of an edge would have to say which.
    pub(super) fn best_order(&self, multigraph: bool, head_len: usize) -> HeadOrder {
        if multigraph || head_len > CHOSEN_LEN_MAX || self.descend() {
            HeadOrder::First
        } else {
            HeadOrder::Degree
        }
    }
}

/// The place of a neighbour in its head: by descending degree, then by ascending id.
type Rank = (Reverse<u64>, VertexId);

/// Chooses the neighbours of highest degree of one list after the other. Takes memory at the first list.
pub(super) struct HeadChoice<'a> {
    degrees: ListDegrees<'a>,
    head_len: usize,
    /// The neighbours that may be in the head, in any order.
    ranks: Vec<Rank>,
}

impl<'a> HeadChoice<'a> {
    pub(super) fn new(degrees: ListDegrees<'a>, head_len: usize) -> Self {
        Self { degrees, head_len, ranks: Vec::new() }
    }

    /// Bytes of memory, at most, for heads of at most [`CHOSEN_HEAD_LEN_MAX`].
    pub(super) const fn bytes() -> u64 {
        (2 * (CHOSEN_LEN_MAX + CHUNK) * size_of::<Rank>()) as u64
    }

    /// Takes a part of a list. The targets must be vertices.
    pub(super) fn add(&mut self, targets: &[VertexId]) {
        if self.ranks.capacity() == 0 {
            self.ranks.reserve_exact(2 * (self.head_len + CHUNK));
        }
        for targets in targets.chunks(CHUNK) {
            let Self { degrees, ranks, .. } = self;
            ranks.extend(targets.iter().map(|&target| (Reverse(degrees.total_degree(target)), target)));
            if self.ranks.len() >= 2 * self.head_len + CHUNK {
                self.select();
            }
        }
    }

    /// Forgets those that cannot be in the head.
    fn select(&mut self) {
        if self.head_len > 0 && self.head_len < self.ranks.len() {
            self.ranks.select_nth_unstable(self.head_len - 1);
        }
        self.ranks.truncate(self.head_len);
    }

    /// Writes the head of the list whose parts were taken, and begins the next list.
    pub(super) fn finish(&mut self, head: &mut [VertexId]) {
        self.select();
        self.ranks.sort_unstable();
        debug_assert_eq!(head.len(), self.ranks.len(), "a head of all parts");
        head.iter_mut().zip(self.ranks.drain(..)).for_each(|(place, (_, target))| *place = target);
    }
}

/// The heads to gather.
#[derive(Clone, Copy)]
pub(super) struct WantedHeads<'a> {
    pub(super) head_len: usize,
    pub(super) order: HeadOrder,
    pub(super) degrees: ListDegrees<'a>,
}

impl<'a> WantedHeads<'a> {
    pub(super) fn choice(&self) -> HeadChoice<'a> {
        HeadChoice::new(self.degrees, self.head_len)
    }
}

/// The entries of a list that its chosen head leaves out.
#[derive(Debug, Default)]
pub(super) struct OutsideHead {
    /// The vertex whose head is at hand.
    v: Option<VertexId>,
    /// This head by ascending id.
    head: Vec<VertexId>,
    outside: Vec<VertexId>,
}

impl OutsideHead {
    /// The entries of a part of the list of `v` that are not in its head. Lists ascend, and no neighbour
    /// occurs twice.
    pub(super) fn part_outside(&mut self, v: VertexId, head: &[VertexId], part: &[VertexId]) -> &[VertexId] {
        if self.v != Some(v) {
            self.v = Some(v);
            self.head.clear();
            self.head.extend_from_slice(head);
            self.head.sort_unstable();
        }
        let first = part.first().copied().unwrap_or(0);
        let mut skipped = &self.head[self.head.partition_point(|&target| target < first)..];
        self.outside.clear();
        for &target in part {
            match skipped.split_first() {
                Some((&skip, rest)) if skip == target => skipped = rest,
                _ => self.outside.push(target),
            }
        }
        &self.outside
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Where each of some lists begins.
    fn offsets(degrees: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut sum = 0;
        let ends = degrees.into_iter().map(|degree| {
            sum += degree;
            sum
        });
        std::iter::once(0).chain(ends).collect()
    }

    proptest! {
        #![proptest_config(esker_format::testing::cases(200))]
        #[test]
        fn a_head_and_the_rest_are_the_list(
            degrees in prop::collection::vec(0_u64..20, 1..400),
            members in prop::collection::vec(any::<prop::sample::Index>(), 0..400),
            head_len in 0_usize..50,
            part_len in 1_usize..100,
        ) {
            let offsets = offsets(degrees.iter().copied());
            let mut list: Vec<VertexId> = members.iter().map(|member| vertex(member.index(degrees.len()))).collect();
            list.sort_unstable();
            list.dedup();
            let mut choice = HeadChoice::new(ListDegrees { incoming: Some(ListExtents::Offsets(&offsets)), ..ListDegrees::new(&offsets) }, head_len);
            let mut head = vec![0; list.len().min(head_len)];
            list.chunks(part_len).for_each(|part| choice.add(part));
            choice.finish(&mut head);
            let mut expected = list.clone();
            expected.sort_by_key(|&target| (Reverse(degrees[target as usize]), target));
            prop_assert_eq!(&head, &expected[..head.len()]);
            let mut rest = OutsideHead::default();
            let mut all = head.clone();
            for part in list.chunks(part_len) {
                // Parts of several lists arrive in any order. The other list has no head, so all of it is
                // left.
                prop_assert_eq!(rest.part_outside(3, &[], part), part);
                all.extend_from_slice(rest.part_outside(7, &head, part));
            }
            prop_assert_eq!(all.len(), list.len());
            all.sort_unstable();
            prop_assert_eq!(all, list);
        }
    }

    #[test]
    fn long_lists_are_chosen_from_within_the_memory() {
        let n = 100_000;
        let offsets = offsets((0..n).map(|v| v * 7919 % 10_007));
        let mut choice = HeadChoice::new(ListDegrees::new(&offsets), CHOSEN_LEN_MAX);
        let list: Vec<VertexId> = (0..n as usize).map(vertex).collect();
        let mut head = vec![0; CHOSEN_LEN_MAX];
        choice.add(&list);
        choice.finish(&mut head);
        let mut expected = list;
        expected.sort_by_key(|&v| (Reverse(u64::from(v) * 7919 % 10_007), v));
        assert_eq!(head, expected[..CHOSEN_LEN_MAX]);
        assert!((choice.ranks.capacity() * size_of::<Rank>()) as u64 <= HeadChoice::bytes());
    }

    #[test]
    fn heads_of_the_first_neighbours_take_no_memory_for_a_choice_however_long_they_are() {
        // Each thread once took 32 bytes a neighbour, which nobody counted; a forged length was an overflow.
        let choice = HeadChoice::new(ListDegrees::new(&[0]), usize::MAX);
        assert_eq!(choice.ranks.capacity(), 0);
    }

    #[test]
    fn an_order_by_degree_is_noticed_even_if_degrees_changed_a_little() {
        let n = 100_000_u64;
        let powers = |v: u64| 1_000_000 / (v + 10);
        let order = |degrees: &dyn Fn(u64) -> u64, n: u64| {
            let offsets = offsets((0..n).map(degrees));
            ListDegrees::new(&offsets).best_order(false, 8)
        };
        assert_eq!(order(&powers, n), HeadOrder::First);
        assert_eq!(order(&|v| powers(v) + u64::from(v % 20 == 0), n), HeadOrder::First);
        assert_eq!(order(&|v| powers(v * 7919 % n), n), HeadOrder::Degree);
        assert_eq!(order(&|v| v * 7919 % 32, n), HeadOrder::Degree);
        assert_eq!(order(&|v| v, n), HeadOrder::Degree);
        for small in 0..4 {
            assert_eq!(order(&|_| 1, small), HeadOrder::First, "{small} vertices");
        }
        let offsets = offsets(0..n);
        let degrees = ListDegrees::new(&offsets);
        assert_eq!(degrees.best_order(true, 8), HeadOrder::First);
        assert_eq!(degrees.best_order(false, CHOSEN_LEN_MAX + 1), HeadOrder::First);
    }
}
