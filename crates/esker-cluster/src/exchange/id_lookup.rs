//! Finds own vertices by the external ids that other shards ask for.

use esker_format::{Error, Result};
use esker_graph::{NONE, Operation, VertexId, message, vertex};
use esker_store::Version;
use esker_store::ids::{ExternalId, IdMap};

use crate::model::owner::Owners;
use crate::net::wire::{Taker, Travels};

/// Ids looked up together.
const LOOK_UP_LEN: usize = 1 << 10;

/// Finds own vertices by their ids. Other shards ask for most of them, and each look-up in the map of a
/// version waits for memory several times.
///
/// Memory: 12 to 24 bytes a vertex, and 6 to 12 with the index.
pub(crate) struct OwnIds<'s> {
    ids: &'s IdMap,
    owners: Owners,
    vertices: Vec<VertexId>,
    /// The hashes of their ids; those of integers differ.
    hashes: Vec<u64>,
    /// Places of vertices by their hashes, with open addressing; a power of two, of which at least a third
    /// are [`NONE`].
    slots: Vec<VertexId>,
}

impl<'s> OwnIds<'s> {
    pub(crate) fn new(ids: &'s IdMap, owners: Owners) -> Self {
        Self { ids, owners, vertices: Vec::new(), hashes: Vec::new(), slots: vec![NONE] }
    }

    pub(crate) fn push(&mut self, v: VertexId, hash: u64) {
        self.vertices.push(v);
        self.hashes.push(hash);
    }

    /// The vertices, in the order in which they were pushed.
    pub(crate) fn into_vertices(self) -> Vec<VertexId> {
        self.vertices
    }

    /// Has all vertices found that were pushed.
    pub(crate) fn index(&mut self) {
        let len = self.hashes.len();
        self.slots = vec![NONE; (len + len / 2 + 1).next_power_of_two()];
        for place in 0..len {
            let mut slot = self.first_slot(self.hashes[place]);
            while self.slots[slot] != NONE {
                slot = self.next_slot(slot);
            }
            self.slots[slot] = vertex(place);
        }
    }

    /// The upper bits of the hashes of own vertices are alike.
    #[inline]
    fn first_slot(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn next_slot(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    /// As [`IdMap::vertices_of`], for at most [`LOOK_UP_LEN`] ids.
    pub(crate) fn vertices_of(&self, ids: &[ExternalId<'_>], found: &mut [Option<VertexId>]) -> Result<()> {
        // Apart from the comparison, so that the misses of many look-ups overlap.
        let mut hashes = [0; LOOK_UP_LEN];
        hashes.iter_mut().zip(ids).for_each(|(hash, &id)| *hash = self.owners.hash(id));
        let mut places = [NONE; LOOK_UP_LEN];
        for (place, &hash) in places.iter_mut().zip(&hashes[..ids.len()]) {
            *place = self.slots[self.first_slot(hash)];
        }
        let is_text = self.ids.is_text();
        for (i, (found, &id)) in found.iter_mut().zip(ids).enumerate() {
            let (hash, mut place) = (hashes[i], places[i]);
            let mut slot = self.first_slot(hash);
            *found = loop {
                if place == NONE {
                    break None;
                }
                let v = self.vertices[place as usize];
                if self.hashes[place as usize] == hash && (!is_text || self.ids.external_of(v)? == id) {
                    break Some(v);
                }
                slot = self.next_slot(slot);
                place = self.slots[slot];
            };
        }
        Ok(())
    }
}

/// The vertices that a shard asks for, whose ids are in a block; `look_up` finds them as
/// [`IdMap::vertices_of`] does.
///
/// # Errors
/// [`Error::Invalid`] if one is not there; those of the version.
pub(crate) fn find_asked(
    version: &Version,
    block: &[u8],
    me: usize,
    shard: usize,
    look_up: impl Fn(&[ExternalId<'_>], &mut [Option<VertexId>]) -> Result<()>,
) -> Result<Vec<VertexId>> {
    find_all(version, block, look_up).map_err(|error| {
        Error::invalid(message![
            format!("shard {me} cannot find the vertices that shard {shard} has edges to: "),
            error.message(),
            "; check the cluster with ",
            Operation::ClusterCheck,
        ])
    })
}

/// The vertices of ids in a block.
fn find_all(
    version: &Version,
    block: &[u8],
    look_up: impl Fn(&[ExternalId<'_>], &mut [Option<VertexId>]) -> Result<()>,
) -> Result<Vec<VertexId>> {
    let is_text = version.ids().is_text();
    let mut taker = Taker(block);
    let mut vertices = Vec::new();
    let mut ids: Vec<ExternalId<'_>> = Vec::with_capacity(LOOK_UP_LEN);
    let mut found = [None; LOOK_UP_LEN];
    while !taker.is_empty() {
        ids.clear();
        if is_text {
            while ids.len() < LOOK_UP_LEN && !taker.is_empty() {
                ids.push(taker.id(true)?);
            }
        } else {
            let count = taker.0.len().div_ceil(size_of::<u64>()).min(LOOK_UP_LEN);
            ids.extend(u64::take(&mut taker, count)?.map(ExternalId::Int));
        }
        look_up(&ids, &mut found[..ids.len()])?;
        for (id, v) in ids.iter().zip(&found) {
            let v = v.filter(|&v| v != NONE && (v as usize) < version.num_vertices());
            vertices.push(v.ok_or_else(|| Error::invalid(format!("it has no vertex {id}")))?);
        }
    }
    Ok(vertices)
}

#[cfg(test)]
mod tests {
    use esker_store::format::IdSecret;
    use esker_store::ids::IdHasher;

    use super::*;

    #[test]
    fn own_vertices_are_found_and_others_are_not() {
        let (first, len) = (7, 3000);
        let ids = IdMap::identity(first, len, IdHasher::new(IdSecret([0; 16])));
        let owners = Owners::new(5, 3);
        let mut own = OwnIds::new(&ids, owners);
        let of = |v: usize| ExternalId::Int(first + v as u64);
        let owned: Vec<usize> = (0..len).filter(|&v| owners.of(of(v)) == 1).collect();
        owned.iter().for_each(|&v| own.push(vertex(v), owners.hash(of(v))));
        own.index();
        let all: Vec<usize> = (0..len).collect();
        for some in all.chunks(LOOK_UP_LEN) {
            let asked: Vec<_> = some.iter().map(|&v| of(v)).collect();
            let mut found = vec![None; asked.len()];
            own.vertices_of(&asked, &mut found).expect("look-up");
            let expected = some.iter().map(|v| owned.binary_search(v).is_ok().then(|| vertex(*v)));
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
        assert!(own.into_vertices().into_iter().eq(owned.into_iter().map(vertex)));
    }
}
