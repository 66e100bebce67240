//! Neighbour lists that a worker reads again and again while versions come: kept in memory, and changed with
//! each version.

use esker_format::Result;
use esker_graph::VertexId;

/// Bytes of a list, besides its entries.
const HEADER_BYTES: usize = size_of::<Vec<VertexId>>();
const ENTRY_BYTES: usize = size_of::<VertexId>();

/// The lists that were read, of one version. Memory: 24 bytes a vertex, and an id for each entry, up to twice
/// as much for lists that grow; all together no more than a limit.
pub(super) struct KeptLists {
    /// Empty: the list is not kept, or it has no entries.
    lists: Vec<Vec<VertexId>>,
    /// Bytes of the lists that are not taken out, with room for entries to come.
    held: usize,
    held_max: usize,
}

impl KeptLists {
    /// Keeps lists of at most `held_max` bytes in all.
    pub(super) fn new(held_max: usize) -> Self {
        Self { lists: Vec::new(), held: 0, held_max }
    }

    /// Brings the lists to the next version, which has `vertices` vertices, adds edges and removes others.
    /// Time: linear in what it adds, and in the lists that it removes entries from, but for sorting the
    /// removals.
    pub(super) fn advance(
        &mut self,
        vertices: usize,
        added: &[(VertexId, VertexId)],
        removed: &[(VertexId, VertexId)],
    ) {
        if vertices.saturating_mul(HEADER_BYTES) > self.held_max / 2 {
            *self = Self::new(self.held_max);
            return;
        }
        self.held += (vertices - self.lists.len()) * HEADER_BYTES;
        self.lists.resize_with(vertices, Vec::new);
        let ends =
            |&(u, v): &(VertexId, VertexId)| [(u, v), (v, u)].into_iter().take(1 + usize::from(u != v));
        let mut gone: Vec<_> = removed.iter().flat_map(ends).collect();
        gone.sort_unstable();
        for gone in gone.chunk_by(|one, next| one.0 == next.0) {
            let list = &mut self.lists[gone[0].0 as usize];
            list.retain(|&other| gone.binary_search_by_key(&other, |&(_, other)| other).is_err());
            if list.is_empty() {
                // It is read again.
                self.held -= std::mem::take(list).capacity() * ENTRY_BYTES;
            }
        }
        for (v, other) in added.iter().flat_map(ends) {
            let list = &mut self.lists[v as usize];
            if !list.is_empty() {
                let before = list.capacity();
                list.push(other);
                self.held += (list.capacity() - before) * ENTRY_BYTES;
            }
        }
        if self.held > self.held_max {
            *self = Self::new(self.held_max);
            self.lists.resize_with(vertices, Vec::new);
            self.held = vertices * HEADER_BYTES;
        }
    }

    /// Takes out the list of a vertex, in any order, which `read` reads if it is not kept.
    /// [`KeptLists::put_back`] is to follow.
    ///
    /// # Errors
    /// Those of `read`.
    pub(super) fn take(
        &mut self,
        v: VertexId,
        read: impl FnOnce() -> Result<Vec<VertexId>>,
    ) -> Result<Vec<VertexId>> {
        match self.lists.get_mut(v as usize).map(std::mem::take) {
            Some(list) if !list.is_empty() => {
                self.held -= list.capacity() * ENTRY_BYTES;
                Ok(list)
            }
            _ => read(),
        }
    }

    /// Keeps a list that was taken out, if there is room.
    pub(super) fn put_back(&mut self, v: VertexId, list: Vec<VertexId>) {
        let bytes = list.capacity() * ENTRY_BYTES;
        if let Some(place) = self.lists.get_mut(v as usize)
            && self.held + bytes <= self.held_max
        {
            self.held += bytes;
            *place = list;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use esker_graph::random::Random;

    use super::*;

    const VERTICES: VertexId = 20;

    #[test]
    fn lists_are_those_of_every_version_and_within_the_limit() {
        for limit in [0, 700, 1000, 1200, 1500, 1 << 20] {
            let (mut lists, mut random, mut reads) = (KeptLists::new(limit), Random::new(limit as u64), 0);
            let mut edges: BTreeSet<(VertexId, VertexId)> = BTreeSet::new();
            for version in 0..40 {
                let mut draw = || (random.index(VERTICES as usize) as VertexId, random.index(4) as VertexId);
                let drawn: BTreeSet<_> = (0..20).map(|_| draw()).map(|(u, v)| (u.min(v), u.max(v))).collect();
                let (removed, added): (Vec<_>, Vec<_>) = drawn.iter().partition(|edge| edges.contains(edge));
                edges.retain(|edge| !removed.contains(edge));
                edges.extend(&added);
                lists.advance(VERTICES as usize, &added, &removed);
                for v in 0..VERTICES {
                    let has = |&&(a, b): &&(VertexId, VertexId)| a == v || b == v;
                    let expected: Vec<_> =
                        edges.iter().filter(has).map(|&(a, b)| if a == v { b } else { a }).collect();
                    let read = || {
                        reads += 1;
                        Ok(expected.clone())
                    };
                    let mut list = lists.take(v, read).expect("a list");
                    lists.put_back(v, list.clone());
                    list.sort_unstable();
                    let expected: Vec<_> =
                        expected.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
                    assert_eq!(list, expected, "limit {limit}, version {version}");
                }
                let entries: usize = lists.lists.iter().map(Vec::capacity).sum();
                assert_eq!(lists.held, lists.lists.len() * HEADER_BYTES + entries * ENTRY_BYTES);
                assert!(lists.held <= limit, "limit {limit}: {}", lists.held);
            }
            let all = 40 * VERTICES as usize;
            assert_eq!(reads == all, limit < 1000, "limit {limit}: {reads} of {all} lists were read");
        }
    }
}
