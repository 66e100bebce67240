//! Arcs of some vertices, as sorted lists.

use std::ops::Range;

use esker_graph::{VertexId, vertex};

use crate::stack::Marks;

/// A sorted list of targets for each of some vertices.
///
/// Memory: for each vertex of the graph a bit and a sixteenth of an id, 8 bytes for each vertex with a list, and the targets.
#[derive(Debug)]
pub(super) struct Missing {
    has: Marks,
    /// Vertices with lists before each 64.
    before: Vec<VertexId>,
    starts: Vec<usize>,
    targets: Vec<VertexId>,
}

impl Missing {
    /// From the vertices with lists, ascending, and the length of each list.
    pub(super) fn new(num_vertices: usize, lists: &[(VertexId, u32)], targets: Vec<VertexId>) -> Self {
        let mut has = Marks::new(num_vertices);
        lists.iter().for_each(|&(v, _)| has.insert(v as usize));
        let mut before = Vec::with_capacity(num_vertices.div_ceil(64));
        let mut count = 0;
        for word in 0..num_vertices.div_ceil(64) {
            before.push(count);
            count += has.word(word).count_ones() as VertexId;
        }
        let mut starts = Vec::with_capacity(lists.len() + 1);
        starts.push(0);
        let mut start = 0;
        starts.extend(lists.iter().map(|&(_, len)| {
            start += len as usize;
            start
        }));
        Self { has, before, starts, targets }
    }

    /// Bytes for `num_lists` lists of `num_arcs` arcs together, in a graph of `num_vertices` vertices.
    pub(super) fn bytes(num_vertices: u64, num_lists: u64, num_arcs: u64) -> u64 {
        let id = size_of::<VertexId>() as u64;
        num_vertices.div_ceil(64) * (8 + id) + (num_lists + 1) * size_of::<usize>() as u64 + num_arcs * id
    }

    /// The vertices with lists.
    pub(super) fn vertices(&self) -> &Marks {
        &self.has
    }

    /// Each vertex with a list, and the list.
    pub(super) fn iter(&self) -> impl Iterator<Item = (VertexId, &[VertexId])> {
        self.iter_range(0..64 * self.before.len())
    }

    /// The same of a range of vertices that begins at a multiple of 64.
    pub(super) fn iter_range(&self, range: Range<usize>) -> impl Iterator<Item = (VertexId, &[VertexId])> {
        let first = self.before.get(range.start / 64).map_or(0, |&before| before as usize);
        let lists = self.starts[first..].windows(2).map(|pair| &self.targets[pair[0]..pair[1]]);
        self.has.iter_range(range.start, range.end).map(vertex).zip(lists)
    }

    /// Number of arcs of all lists.
    pub(super) fn num_arcs(&self) -> usize {
        self.targets.len()
    }

    /// The list of `v`, sorted; empty if it has none.
    #[inline]
    pub(super) fn of(&self, v: VertexId) -> &[VertexId] {
        let word = self.has.word(v as usize / 64);
        if word >> (v % 64) & 1 == 0 {
            return &[];
        }
        let below = (word & ((1 << (v % 64)) - 1)).count_ones() as usize;
        let at = self.before[v as usize / 64] as usize + below;
        &self.targets[self.starts[at]..self.starts[at + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_found_by_their_vertices() {
        let lists = [(3, 2), (63, 1), (64, 3), (199, 1)];
        let missing = Missing::new(200, &lists, vec![1, 9, 5, 2, 4, 8, 7]);
        let expected: [(VertexId, &[VertexId]); 4] =
            [(3, &[1, 9]), (63, &[5]), (64, &[2, 4, 8]), (199, &[7])];
        for v in 0..200 {
            let list = expected.iter().find(|(other, _)| *other == v).map_or(&[][..], |(_, list)| list);
            assert_eq!(missing.of(v), list, "of vertex {v}");
        }
        assert_eq!(missing.iter().collect::<Vec<_>>(), expected);
        assert_eq!(missing.iter_range(64..199).collect::<Vec<_>>(), expected[2..3]);
        assert_eq!(missing.iter_range(128..200).collect::<Vec<_>>(), expected[3..]);
        assert_eq!((missing.iter_range(256..300).count(), missing.num_arcs()), (0, 7));
    }
}
