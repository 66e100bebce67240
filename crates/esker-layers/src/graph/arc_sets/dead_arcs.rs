//! Deleted arcs, as a sorted list of targets for each of some vertices.

use esker_graph::{VertexId, vertex};

use crate::graph::arc_sets::unit::{UNIT_LEN, UnitLists};

/// A sorted list of targets for each of some vertices.
///
/// Memory: that of [`UnitLists`], and the targets.
#[derive(Debug, Default)]
pub(crate) struct DeadArcs {
    units: Vec<DeadUnit>,
    num_arcs: usize,
}

/// The lists of [`UNIT_LEN`] vertices.
#[derive(Debug, Default)]
pub(crate) struct DeadUnit {
    lists: UnitLists,
    targets: Box<[VertexId]>,
}

impl DeadUnit {
    /// From the vertices with lists, ascending, where the list of each ends, and all targets.
    pub(crate) fn new(lists: &[(VertexId, u32)], targets: Vec<VertexId>) -> Self {
        Self { lists: UnitLists::new(lists), targets: targets.into() }
    }
}

impl DeadArcs {
    /// The arcs of consecutive units, from the first vertex on.
    pub(crate) fn new(units: Vec<DeadUnit>) -> Self {
        let num_arcs = units.iter().map(|unit| unit.targets.len()).sum();
        Self { units, num_arcs }
    }

    /// The lists of sorted arcs, in a graph of `num_vertices` vertices.
    pub(crate) fn from_sorted(num_vertices: usize, arcs: &[(VertexId, VertexId)]) -> Self {
        let (mut units, mut rest) = (Vec::new(), arcs);
        for unit in 1..=num_vertices.div_ceil(UNIT_LEN) {
            let (own, others) = rest.split_at(rest.partition_point(|arc| (arc.0 as usize) < unit * UNIT_LEN));
            rest = others;
            let (mut lists, mut end) = (Vec::new(), 0);
            for list in own.chunk_by(|a, b| a.0 == b.0) {
                end += list.len() as u32;
                lists.push((list[0].0, end));
            }
            units.push(DeadUnit::new(&lists, own.iter().map(|arc| arc.1).collect()));
        }
        Self::new(units)
    }

    /// Bytes for `num_lists` lists of `num_arcs` arcs together, in a graph of `num_vertices` vertices.
    pub(crate) fn bytes(num_vertices: u64, num_lists: u64, num_arcs: u64) -> u64 {
        UnitLists::bytes(num_vertices, num_lists, num_arcs) + num_arcs * size_of::<VertexId>() as u64
    }

    /// Whether `v` has a list.
    #[inline(always)]
    pub(crate) fn has(&self, v: VertexId) -> bool {
        let v = v as usize;
        self.units.get(v / UNIT_LEN).is_some_and(|unit| unit.lists.has(v % UNIT_LEN))
    }

    /// Each vertex with a list, and the list.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (VertexId, &[VertexId])> {
        (0..self.units.len()).flat_map(|unit| self.iter_unit(unit))
    }

    /// Each vertex of a unit with a list, and the list.
    pub(crate) fn iter_unit(&self, unit: usize) -> impl Iterator<Item = (VertexId, &[VertexId])> {
        let DeadUnit { lists, targets } = &self.units[unit];
        let own = lists.iter_words(0..lists.num_words());
        own.map(move |(within, list)| (vertex(unit * UNIT_LEN + within), &targets[list]))
    }

    /// Whether no vertex has a list.
    pub(crate) fn is_empty(&self) -> bool {
        self.num_arcs == 0
    }

    /// Number of units.
    pub(crate) fn num_units(&self) -> usize {
        self.units.len()
    }

    /// Number of arcs of all lists.
    pub(crate) fn num_arcs(&self) -> usize {
        self.num_arcs
    }

    /// The list of `v`, sorted; empty if it has none.
    #[inline]
    pub(crate) fn targets(&self, v: VertexId) -> &[VertexId] {
        let Some(unit) = self.units.get(v as usize / UNIT_LEN) else { return &[] };
        &unit.targets[unit.lists.entries(v as usize % UNIT_LEN)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_found_by_their_vertices() {
        let far = 2 * UNIT_LEN as VertexId + 70;
        let expected: [(VertexId, &[VertexId]); 5] =
            [(3, &[1, 9]), (63, &[5]), (64, &[2, 4, 8]), (199, &[7]), (far, &[3, 4])];
        let arcs: Vec<_> = expected.iter().flat_map(|&(v, list)| list.iter().map(move |&u| (v, u))).collect();
        let dead_arcs = DeadArcs::from_sorted(far as usize + 1, &arcs);
        for v in 0..far + 300 {
            let list = expected.iter().find(|(other, _)| *other == v).map_or(&[][..], |(_, list)| list);
            assert_eq!((dead_arcs.targets(v), dead_arcs.has(v)), (list, !list.is_empty()), "of vertex {v}");
        }
        assert_eq!(dead_arcs.iter().collect::<Vec<_>>(), expected);
        assert_eq!(dead_arcs.iter_unit(0).collect::<Vec<_>>(), expected[..4]);
        assert_eq!((dead_arcs.num_units(), dead_arcs.iter_unit(1).count(), dead_arcs.num_arcs()), (3, 0, 9));
    }
}
