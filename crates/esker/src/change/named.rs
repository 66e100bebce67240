//! The vertices that the lines of a script name.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

use esker_store::ids::ExternalId;

/// The vertices that earlier lines add or remove, by hashes of their ids: these take much less memory than
/// the batch. If two of 2^64 hashes were equal, an unknown vertex could be taken for a known one.
#[derive(Default)]
pub(super) struct ScriptVertices {
    hasher: RandomState,
    added: HashSet<u64, BuildHasherDefault<KnownHash>>,
    removed: HashSet<u64, BuildHasherDefault<KnownHash>>,
}

impl ScriptVertices {
    /// The hash of an id.
    pub(super) fn hash(&self, id: ExternalId<'_>) -> u64 {
        self.hasher.hash_one(id)
    }

    /// Whether a vertex is there after the earlier lines; `None` if they do not say.
    pub(super) fn get(&self, hash: u64) -> Option<bool> {
        let is_added = self.added.contains(&hash);
        (is_added || self.removed.contains(&hash)).then_some(is_added)
    }

    /// Notes that a line adds a vertex, or removes it.
    pub(super) fn insert(&mut self, hash: u64, is_added: bool) {
        let (here, there) = match is_added {
            true => (&mut self.added, &mut self.removed),
            false => (&mut self.removed, &mut self.added),
        };
        here.insert(hash);
        if !there.is_empty() {
            there.remove(&hash);
        }
    }
}

/// The hash of what is a hash already.
#[derive(Default)]
struct KnownHash(u64);

impl Hasher for KnownHash {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
