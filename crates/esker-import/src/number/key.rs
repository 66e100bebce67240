//! How ids are kept in lanes of bytes, and the table that numbers them in memory.
//!
//! An integer takes eight bytes, little-endian; a text its length (LEB128) and then its bytes.

use esker_format::{Error, IdMapKind, Result};
use esker_layers::ids::{ExternalId, IdFiles, IdHasher, IntegersWriter, TextsWriter};

/// A kind of id: integers or texts.
pub(super) trait Kind: 'static {
    /// An id.
    type Key<'a>: Copy;
    /// Many ids in memory, numbered in the order of their coming.
    type Store: KeyStore<Self> + Default;

    /// Writes the ids of all vertices to the files of an id map.
    type Writer;

    /// The kind of the id map.
    const ID_MAP: IdMapKind;

    /// Makes the files.
    ///
    /// # Errors
    /// If they cannot be made.
    fn create(files: &IdFiles<'_>) -> Result<Self::Writer>;

    /// Writes the id of the next vertex.
    ///
    /// # Errors
    /// If files cannot be written.
    fn write(writer: &mut Self::Writer, key: Self::Key<'_>) -> Result<()>;

    /// Completes the files.
    ///
    /// # Errors
    /// As [`Kind::write`].
    fn finish(writer: Self::Writer) -> Result<()>;

    /// The hash of an id, as in the format.
    fn hash(hasher: &IdHasher, key: Self::Key<'_>) -> u64;

    /// Whether two ids are the same.
    fn same(one: Self::Key<'_>, other: Self::Key<'_>) -> bool;

    /// Bytes that an id takes in a lane.
    fn encoded_len(key: Self::Key<'_>) -> usize;

    /// Writes an id to the beginning of `bytes`, which is as long as [`Kind::encoded_len`] says.
    fn encode(key: Self::Key<'_>, bytes: &mut [u8]);

    /// The id at the beginning of `bytes` and what follows it.
    ///
    /// # Errors
    /// If `bytes` was not written by [`Kind::encode`].
    fn decode(bytes: &[u8]) -> Result<(Self::Key<'_>, &[u8])>;

    /// The id, for messages.
    fn name(key: Self::Key<'_>) -> String;
}

/// Many ids in memory.
pub(super) trait KeyStore<K: Kind + ?Sized> {
    /// Number of ids.
    fn len(&self) -> usize;
    /// The id with a number.
    fn get(&self, index: usize) -> K::Key<'_>;
    /// Appends an id.
    fn push(&mut self, key: K::Key<'_>);
    /// Bytes of memory that one more id like `key` needs at most once the ids are `len` (amortised over
    /// growth).
    fn bytes_with(&self, key: K::Key<'_>) -> u64;
}

/// For a temporary file that does not hold what was written to it.
pub(super) fn garbled() -> Error {
    Error::invalid("a temporary file changed while it was in use; import again".to_owned())
}

/// 64-bit integers.
pub(super) struct Int;

impl Kind for Int {
    type Key<'a> = u64;
    type Store = Vec<u64>;
    type Writer = IntegersWriter;

    const ID_MAP: IdMapKind = IdMapKind::Integers;

    fn create(files: &IdFiles<'_>) -> Result<IntegersWriter> {
        IntegersWriter::create(files)
    }

    fn write(writer: &mut IntegersWriter, key: u64) -> Result<()> {
        writer.push(key)
    }

    fn finish(writer: IntegersWriter) -> Result<()> {
        writer.finish()
    }

    #[inline(always)]
    fn hash(hasher: &IdHasher, key: u64) -> u64 {
        hasher.integer(key)
    }

    #[inline(always)]
    fn same(one: u64, other: u64) -> bool {
        one == other
    }

    #[inline(always)]
    fn encoded_len(_key: u64) -> usize {
        8
    }

    #[inline(always)]
    fn encode(key: u64, bytes: &mut [u8]) {
        bytes.copy_from_slice(&key.to_le_bytes());
    }

    #[inline(always)]
    fn decode(bytes: &[u8]) -> Result<(u64, &[u8])> {
        let (key, rest) = bytes.split_first_chunk().ok_or_else(garbled)?;
        Ok((u64::from_le_bytes(*key), rest))
    }

    fn name(key: u64) -> String {
        key.to_string()
    }
}

impl KeyStore<Int> for Vec<u64> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    #[inline(always)]
    fn get(&self, index: usize) -> u64 {
        self[index]
    }

    fn push(&mut self, key: u64) {
        Vec::push(self, key);
    }

    fn bytes_with(&self, _key: u64) -> u64 {
        grown_bytes(self, 1)
    }
}

/// Texts.
pub(super) struct Text;

impl Kind for Text {
    type Key<'a> = &'a [u8];
    type Store = IdTexts;
    type Writer = TextsWriter;

    const ID_MAP: IdMapKind = IdMapKind::Texts;

    fn create(files: &IdFiles<'_>) -> Result<TextsWriter> {
        TextsWriter::create(files)
    }

    fn write(writer: &mut TextsWriter, key: &[u8]) -> Result<()> {
        writer.push(key)
    }

    fn finish(writer: TextsWriter) -> Result<()> {
        writer.finish()
    }

    #[inline(always)]
    fn hash(hasher: &IdHasher, key: &[u8]) -> u64 {
        hasher.text(key)
    }

    #[inline(always)]
    fn same(one: &[u8], other: &[u8]) -> bool {
        one == other
    }

    #[inline(always)]
    fn encoded_len(key: &[u8]) -> usize {
        len_of_len(key.len()) + key.len()
    }

    #[inline(always)]
    fn encode(key: &[u8], bytes: &mut [u8]) {
        let (len, text) = bytes.split_at_mut(bytes.len() - key.len());
        let mut left = key.len();
        for byte in len.iter_mut() {
            *byte = (left & 0x7f) as u8 | 0x80;
            left >>= 7;
        }
        if let Some(last) = len.last_mut() {
            *last &= 0x7f;
        }
        text.copy_from_slice(key);
    }

    #[inline(always)]
    fn decode(bytes: &[u8]) -> Result<(&[u8], &[u8])> {
        let (mut len, mut rest) = match bytes.split_first() {
            Some((&first, rest)) => (usize::from(first), rest),
            None => return Err(garbled()),
        };
        if len >= 0x80 {
            (len, rest) = decode_long(len & 0x7f, rest)?;
        }
        rest.split_at_checked(len).ok_or_else(garbled)
    }

    fn name(key: &[u8]) -> String {
        ExternalId::Text(key).to_string()
    }
}

/// The rest of a length of more than one byte.
#[cold]
fn decode_long(low: usize, mut rest: &[u8]) -> Result<(usize, &[u8])> {
    let mut len = low;
    for shift in (7..usize::BITS).step_by(7) {
        let (&byte, after) = rest.split_first().ok_or_else(garbled)?;
        rest = after;
        len |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok((len, rest));
        }
    }
    Err(garbled())
}

#[inline(always)]
fn len_of_len(len: usize) -> usize {
    (usize::BITS - (len | 1).leading_zeros()).div_ceil(7) as usize
}

/// Texts one after another.
pub(super) struct IdTexts {
    bytes: Vec<u8>,
    /// Where each text begins, and the end of the last.
    starts: Vec<usize>,
}

impl Default for IdTexts {
    fn default() -> Self {
        Self { bytes: Vec::new(), starts: vec![0] }
    }
}

impl KeyStore<Text> for IdTexts {
    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    #[inline(always)]
    fn get(&self, index: usize) -> &[u8] {
        &self.bytes[self.starts[index]..self.starts[index + 1]]
    }

    fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.starts.push(self.bytes.len());
    }

    fn bytes_with(&self, key: &[u8]) -> u64 {
        grown_bytes(&self.bytes, key.len()) + grown_bytes(&self.starts, 1)
    }
}

/// Bytes of memory that a vector takes once `more` elements are pushed, the old copy included while it grows.
fn grown_bytes<T>(vec: &Vec<T>, more: usize) -> u64 {
    let len = vec.len() + more;
    let capacity = vec.capacity();
    let elements = if len <= capacity { capacity } else { capacity + len.max(2 * capacity) };
    (elements * size_of::<T>()) as u64
}

/// Numbers ids by first appearance.
///
/// Memory: 8 bytes a slot at a load of at most 5/8, and the ids themselves.
pub(super) struct IdTable<K: Kind> {
    keys: K::Store,
    /// Low half: index in `keys` plus 1, or 0 when empty. High half: low half of the hash.
    slots: Vec<u64>,
}

/// Most ids that one table numbers.
const TABLE_LEN_MAX: usize = 1 << 31;

impl<K: Kind> IdTable<K> {
    const SLOTS_MIN: usize = 64;

    /// An empty table.
    pub(super) fn new() -> Self {
        Self { keys: K::Store::default(), slots: vec![0; Self::SLOTS_MIN] }
    }

    /// Number of ids.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The ids in the order of their numbers.
    pub(super) fn keys(&self) -> impl Iterator<Item = K::Key<'_>> {
        (0..self.len()).map(|index| self.keys.get(index))
    }

    /// The number of `key`, or where it would go.
    #[inline(always)]
    pub(super) fn find(&self, key: K::Key<'_>, hash: u64) -> std::result::Result<usize, Vacancy> {
        let tag = hash as u32;
        let mask = self.slots.len() - 1;
        let mut at = tag as usize & mask;
        loop {
            let slot = self.slots[at];
            let index = slot as u32;
            if index == 0 {
                return Err(Vacancy { at, tag });
            }
            if (slot >> 32) as u32 == tag && K::same(self.keys.get(index as usize - 1), key) {
                return Ok(index as usize - 1);
            }
            at = (at + 1) & mask;
        }
    }

    /// Bytes of memory with `key` added.
    pub(super) fn bytes_with(&self, key: K::Key<'_>) -> u64 {
        let slots = if self.is_full() { self.slots.len() * 3 } else { self.slots.len() };
        (slots * 8) as u64 + self.keys.bytes_with(key)
    }

    /// Whether it cannot number more.
    pub(super) fn is_at_limit(&self) -> bool {
        self.len() >= TABLE_LEN_MAX
    }

    /// Whether one more id makes it grow.
    fn is_full(&self) -> bool {
        (self.len() + 1) * 8 > self.slots.len() * 5
    }

    /// Adds `key`, which was not found.
    pub(super) fn add(&mut self, key: K::Key<'_>, vacancy: Vacancy) {
        self.keys.push(key);
        self.slots[vacancy.at] = u64::from(vacancy.tag) << 32 | self.keys.len() as u64;
        if self.is_full() {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![0; mask + 1];
        for &slot in self.slots.iter().filter(|&&slot| slot as u32 != 0) {
            let mut at = (slot >> 32) as usize & mask;
            while slots[at] != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = slot;
        }
        self.slots = slots;
    }
}

/// Where an id goes that a table does not have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vacancy {
    at: usize,
    tag: u32,
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use esker_format::IdSecret;

    use super::*;

    #[test]
    fn texts_of_every_length_come_back() {
        let lens = (0..300).chain([16_383, 16_384, 2_097_151, 2_097_152]);
        let mut encoded = Vec::new();
        let mut texts = Vec::new();
        for len in lens {
            let text: Vec<u8> = (0..len).map(|i| (i * 7 + len) as u8).collect();
            let start = encoded.len();
            encoded.resize(start + Text::encoded_len(&text), 0);
            Text::encode(&text, &mut encoded[start..]);
            texts.push(text);
        }
        let mut rest = &encoded[..];
        for text in &texts {
            let (key, after) = Text::decode(rest).unwrap();
            assert_eq!(key, text);
            rest = after;
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn garbled_lanes_are_errors() {
        assert!(Int::decode(&[1; 7]).is_err());
        assert!(Text::decode(&[]).is_err());
        assert!(Text::decode(&[2, 1]).is_err());
        assert!(Text::decode(&[0x80]).is_err());
        assert!(Text::decode(&[0xff; 20]).is_err());
    }

    #[test]
    fn a_table_numbers_by_first_appearance() {
        let hasher = IdHasher::new(IdSecret([0; 16]));
        let mut table = IdTable::<Text>::new();
        let mut model = HashMap::new();
        for i in 0..20_000u64 {
            let text = (i * i % 7919).to_string().into_bytes();
            // Few low bits: long probes, false tags.
            let hash = hasher.text(&text) & 0xffff_ffff_0000_0fff;
            let next = model.len();
            let expected = *model.entry(text.clone()).or_insert(next);
            let found = match table.find(&text, hash) {
                Ok(index) => index,
                Err(vacancy) => {
                    table.add(&text, vacancy);
                    table.len() - 1
                }
            };
            assert_eq!(found, expected);
        }
        assert_eq!(table.len(), model.len());
        assert!(table.keys().enumerate().all(|(i, key)| model[key] == i));
    }
}
