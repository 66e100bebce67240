//! Which shard owns a vertex: a seeded hash of its external id.
//!
//! The hash is part of the format: a cluster that exists keeps every vertex where it is. An integer is mixed
//! with the seed; a text is mixed in words of eight bytes, little-endian, the last one padded with zeros,
//! after its length.

use esker_format::{Error, Result, value::decimal};
use esker_graph::random::hash;
use esker_store::ids::ExternalId;
use serde::{Deserialize, Serialize};

/// Maps external ids to shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owners {
    seed: u64,
    shards: u64,
}

impl Owners {
    /// The owners of vertices among `shards` shards, at least one.
    pub fn new(seed: u64, shards: usize) -> Self {
        Self { seed, shards: shards.max(1) as u64 }
    }

    /// The shard that owns a vertex, in 0..shards.
    #[inline]
    pub fn of(&self, id: ExternalId<'_>) -> usize {
        self.of_hash(self.hash(id))
    }

    /// The shard that owns a vertex whose id has this hash.
    #[inline]
    pub(crate) fn of_hash(&self, hash: u64) -> usize {
        ((u128::from(hash) * u128::from(self.shards)) >> 64) as usize
    }

    /// The hash of an id, of 64 bits.
    #[inline]
    pub fn hash(&self, id: ExternalId<'_>) -> u64 {
        match id {
            ExternalId::Int(id) => hash(id ^ self.seed),
            ExternalId::Text(text) => self.hash_text(text),
        }
    }

    fn hash_text(&self, text: &[u8]) -> u64 {
        text.chunks(8).fold(hash(self.seed ^ text.len() as u64), |state, chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash(state ^ u64::from_le_bytes(word))
        })
    }
}

/// The external id of a vertex.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OwnedId {
    /// An integer.
    Int(u64),
    /// A text.
    Text(Vec<u8>),
}

impl OwnedId {
    /// The id, borrowed.
    pub fn as_id(&self) -> ExternalId<'_> {
        match self {
            Self::Int(id) => ExternalId::Int(*id),
            Self::Text(text) => ExternalId::Text(text),
        }
    }
}

/// An id that a user typed.
///
/// # Errors
/// [`Error::Usage`] if it is not of the kind of the ids of the cluster.
pub(crate) fn typed_id(text: &str, is_text: bool) -> Result<ExternalId<'_>> {
    ExternalId::parse(text.as_bytes(), is_text).map_err(|why| {
        let kind = if is_text { "texts" } else { "integers" };
        Error::usage(format!(
            "{:?} is not an id, as it {}: the ids of this cluster are {kind}",
            decimal::shown(text.as_bytes()),
            why.reason()
        ))
    })
}

impl From<ExternalId<'_>> for OwnedId {
    fn from(id: ExternalId<'_>) -> Self {
        match id {
            ExternalId::Int(id) => Self::Int(id),
            ExternalId::Text(text) => Self::Text(text.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_never_change() {
        // Fixed for ever: a change would lose the vertices of every cluster that exists.
        assert_eq!(hash(0), 0xe220_a839_7b1d_cdaf);
        let owners = Owners::new(7, 1000);
        let texts = ["", "alice", "12345678", "123456789"].map(|text| owners.of(ExternalId::from(text)));
        let integers = [0, 1, 2, u64::MAX].map(|id| owners.of(ExternalId::Int(id)));
        assert_eq!((texts, integers), ([389, 844, 819, 186], [389, 739, 386, 535]));
    }

    #[test]
    fn shards_get_alike_many() {
        for shards in [1, 3, 8] {
            let owners = Owners::new(99, shards);
            let mut counts = vec![0; shards];
            (0..8000).for_each(|id| counts[owners.of(ExternalId::Int(id))] += 1);
            let mean = 8000 / shards;
            assert!(counts.iter().all(|&count: &usize| count.abs_diff(mean) < mean / 5 + 1), "{counts:?}");
        }
    }
}
