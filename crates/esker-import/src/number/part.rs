//! Cutting the ids of a batch by the leading bits of their hash: the part of the numbering that needs no
//! order, so that many threads do it on their own batches at the same time.

use esker_format::{Error, Result};
use esker_layers::ids::IdHasher;

use super::key::{Int, Kind, Text};
use crate::keys::Keys;
use crate::read::source::{integer_ids, texts};

/// How ids are spread over partitions: by `bits` bits of the hash, after `used` leading ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spread {
    pub(super) used: u32,
    pub(super) bits: u32,
}

/// The first cut: 256 partitions, so that the table of one stays in the processor's cache up to some ten
/// million ids.
pub(super) const FIRST: Spread = Spread { used: 0, bits: 8 };

impl Spread {
    /// Number of partitions, at most 256.
    pub(super) fn num_parts(self) -> usize {
        1 << self.bits
    }

    /// The partition of a hash.
    #[inline(always)]
    pub(super) fn part_of(self, hash: u64) -> u8 {
        ((hash << self.used) >> (64 - self.bits)) as u8
    }

    /// A cut of one partition by the next bits, if there are any.
    pub(super) fn next(self, bits: u32) -> Option<Self> {
        let used = self.used + self.bits;
        (used + bits <= 64).then_some(Self { used, bits })
    }
}

/// What the ids of an import are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyType {
    Int,
    Text,
}

/// The ids of a batch, cut by partition: about as large as the ids themselves.
#[derive(Debug)]
pub(crate) struct Parted {
    pub(super) key_type: KeyType,
    /// The partition of each id: sources and targets in turn, then vertices.
    pub(super) route: Vec<u8>,
    /// How many of them are ends of edges.
    pub(super) num_ends: usize,
    /// Encoded ids: those of partition 0 in input order, then those of partition 1 ...
    pub(super) keys: Vec<u8>,
    /// Where each partition ends in `keys`.
    pub(super) bounds: Vec<usize>,
}

/// Cuts the ids of a batch.
///
/// # Errors
/// If some ids are integers and others texts, or sources and targets differ in number.
pub(super) fn cut(keys: &Keys, hasher: &IdHasher) -> Result<Parted> {
    let counts = [&keys.source, &keys.target].map(arrow_array::Array::len);
    if counts[0] != counts[1] {
        return Err(Error::invalid(format!("a batch has {} sources but {} targets", counts[0], counts[1])));
    }
    let num_vertices = keys.vertices.as_ref().map_or(0, arrow_array::Array::len);
    if let (Some(source), Some(target)) = (integer_ids(&keys.source), integer_ids(&keys.target)) {
        let vertices = keys.vertices.as_ref().map_or(Some(&[][..]), integer_ids).ok_or_else(mixed)?;
        let ends = || source.iter().zip(target).flat_map(|(&s, &t)| [s, t]);
        let all = || ends().chain(vertices.iter().copied());
        return Ok(cut_keys::<Int, _>(hasher, KeyType::Int, counts[0] * 2, num_vertices, all));
    }
    let (source, target) = texts(&keys.source).zip(texts(&keys.target)).ok_or_else(mixed)?;
    let vertices = keys.vertices.as_ref().map(|ids| texts(ids).ok_or_else(mixed)).transpose()?;
    let ends = || source.clone().zip(target.clone()).flat_map(|(s, t)| [s, t]);
    let all = || ends().chain(vertices.clone().into_iter().flatten());
    Ok(cut_keys::<Text, _>(hasher, KeyType::Text, counts[0] * 2, num_vertices, all))
}

/// Ids of two kinds in one import.
pub(super) fn mixed() -> Error {
    let message =
        "ids are integers in one part of the input and texts in another: name their type, or convert them";
    Error::invalid(message.to_owned())
}

fn cut_keys<'a, K: Kind, I: Iterator<Item = K::Key<'a>>>(
    hasher: &IdHasher,
    key_type: KeyType,
    num_ends: usize,
    num_vertices: usize,
    all: impl Fn() -> I,
) -> Parted {
    let mut route = Vec::with_capacity(num_ends + num_vertices);
    let mut lens = [0usize; 256];
    all().for_each(|key| {
        let part = FIRST.part_of(K::hash(hasher, key));
        lens[usize::from(part)] += K::encoded_len(key);
        route.push(part);
    });
    let mut end = 0;
    let bounds: Vec<usize> = lens.iter().map(|len| (end += len, end).1).collect();
    let mut cursors = lens;
    cursors.iter_mut().zip(&bounds).for_each(|(cursor, bound)| *cursor = bound - *cursor);
    let mut keys = vec![0; end];
    all().zip(&route).for_each(|(key, &part)| {
        let cursor = &mut cursors[usize::from(part)];
        let next = *cursor + K::encoded_len(key);
        K::encode(key, &mut keys[*cursor..next]);
        *cursor = next;
    });
    Parted { key_type, route, num_ends, keys, bounds }
}
