//! The ids of vertices that commits have added since the last freeze, in memory.

use esker_format::memory::{collected, filled, push, reserve};
use esker_format::{Error, Result};
use esker_graph::{VertexId, ones, prefetch, vertex};

use super::external::ExternalId;
use super::hash::IdHasher;
use super::index::{GROUP_LEN, bits_of_unknown};
use super::segment::wrong_kind;

/// Number of bits of a slot that hold a position; the others hold leading bits of the hash.
const POSITION_BITS: u32 = 40;
const POSITION_MASK: u64 = (1 << POSITION_BITS) - 1;

/// The ids of the vertices from `first` on, and their look-up table.
///
/// Memory: 8 bytes for an integer, or the text and 8 bytes; and 11 to 22 bytes an id for the look-up.
#[derive(Debug, Clone)]
pub struct IdTail {
    first: usize,
    hasher: IdHasher,
    ids: TailIds,
    /// A table with linear probing, by the low bits of the hash. A slot is 0 if free; else its low bits are
    /// one more than a position, and its high bits are 24 bits of the hash.
    slots: Vec<u64>,
}

#[derive(Debug, Clone)]
enum TailIds {
    Integers(Vec<u64>),
    Texts { texts: Vec<u8>, ends: Vec<usize> },
}

impl IdTail {
    /// An empty tail whose first vertex will be `first`.
    pub fn new(first: usize, texts: bool, hasher: IdHasher) -> Self {
        let ids = if texts {
            TailIds::Texts { texts: Vec::new(), ends: Vec::new() }
        } else {
            TailIds::Integers(Vec::new())
        };
        Self { first, hasher, ids, slots: vec![0; 16] }
    }

    /// Its first vertex.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        match &self.ids {
            TailIds::Integers(integers) => integers.len(),
            TailIds::Texts { ends, .. } => ends.len(),
        }
    }

    /// Whether the tail has no vertices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether ids are texts; else they are integers.
    pub fn is_text(&self) -> bool {
        matches!(self.ids, TailIds::Texts { .. })
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        let ids = match &self.ids {
            TailIds::Integers(integers) => integers.capacity() * 8,
            TailIds::Texts { texts, ends } => texts.capacity() + ends.capacity() * 8,
        };
        ids + self.slots.capacity() * 8
    }

    /// The vertex with an id, if the tail has it.
    #[inline]
    pub fn vertex_of(&self, id: ExternalId<'_>) -> Option<VertexId> {
        self.probe(id, self.hasher.id(id)).ok().map(|position| vertex(self.first + position))
    }

    /// [`IdTail::vertex_of`] for many ids, those that are not found yet: the processor waits for the memory
    /// of several at a time.
    pub fn vertices_of(&self, ids: &[ExternalId<'_>], found: &mut [Option<VertexId>]) {
        let mask = self.slots.len() - 1;
        for (ids, found) in ids.chunks(GROUP_LEN).zip(found.chunks_mut(GROUP_LEN)) {
            let unknown = ones(bits_of_unknown(found));
            let mut hashes = [0; GROUP_LEN];
            for at in unknown.clone() {
                hashes[at] = self.hasher.id(ids[at]);
                prefetch(&self.slots, hashes[at] as usize & mask);
            }
            for at in unknown.clone() {
                if let Some(position) = position_of(self.slots[hashes[at] as usize & mask]) {
                    self.prefetch_place(position);
                }
            }
            for at in unknown {
                let position = self.probe(ids[at], hashes[at]).ok();
                found[at] = position.map(|position| vertex(self.first + position));
            }
        }
    }

    /// The id of a vertex, if the tail has it.
    #[inline]
    pub fn external_of(&self, v: VertexId) -> Option<ExternalId<'_>> {
        let position = (v as usize).checked_sub(self.first)?;
        (position < self.len()).then(|| self.id(position))
    }

    /// The vertex with this id; adds the id as the next vertex if it is new. The caller has checked that no
    /// older vertex has the id.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the id is not of this tail's kind, or if vertex ids are exhausted.
    pub fn add(&mut self, id: ExternalId<'_>) -> Result<VertexId> {
        let hash = self.hasher.id(id);
        let mut slot = match self.probe(id, hash) {
            Ok(position) => return Ok(vertex(self.first + position)),
            Err(slot) => slot,
        };
        let position = self.len();
        let number = self.first as u64 + position as u64;
        if number >= u64::from(VertexId::MAX) || position as u64 >= POSITION_MASK {
            return Err(Error::invalid(format!(
                "the graph has {number} vertices and no vertex id is left: \
                 use a build of Esker with the feature `id64`"
            )));
        }
        // At most 3/4 of the slots are used.
        if 4 * (position + 1) > 3 * self.slots.len() {
            let more = filled(0, 2 * self.slots.len())?;
            self.index(more);
            slot = self.probe(id, hash).err().unwrap_or(slot);
        }
        match (&mut self.ids, id) {
            (TailIds::Integers(integers), ExternalId::Int(id)) => push(integers, id)?,
            (TailIds::Texts { texts, ends }, ExternalId::Text(id)) => {
                reserve(texts, id.len())?;
                reserve(ends, 1)?;
                texts.extend_from_slice(id);
                ends.push(texts.len());
            }
            (_, id) => return Err(wrong_kind(id)),
        }
        self.slots[slot] = slot_of(hash, position);
        Ok(vertex(number as usize))
    }

    /// Removes the newest ids, those of a failed commit, so that `len` are left.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            match &mut self.ids {
                TailIds::Integers(integers) => integers.truncate(len),
                TailIds::Texts { texts, ends } => {
                    ends.truncate(len);
                    texts.truncate(ends.last().copied().unwrap_or(0));
                }
            }
            self.rebuild_index();
        }
    }

    /// Removes the oldest `count` ids, which are now in a segment.
    pub fn release(&mut self, count: usize) {
        let count = count.min(self.len());
        match &mut self.ids {
            TailIds::Integers(integers) => keep_from(integers, count),
            TailIds::Texts { texts, ends } => {
                let start = count.checked_sub(1).map_or(0, |last| ends[last]);
                keep_from(texts, start);
                keep_from(ends, count);
                ends.iter_mut().for_each(|end| *end -= start);
            }
        }
        self.first += count;
        // Without memory for a smaller table, keep the size.
        match filled(0, (self.len() * 2).next_power_of_two().max(16)) {
            Ok(slots) if slots.len() < self.slots.len() => self.index(slots),
            _ => self.rebuild_index(),
        }
    }

    /// Prefetches what says where the id at a position lies: its end, or an integer itself.
    #[inline]
    fn prefetch_place(&self, position: usize) {
        match &self.ids {
            TailIds::Integers(integers) => prefetch(integers, position),
            TailIds::Texts { ends, .. } => prefetch(ends, position),
        }
    }

    #[inline]
    fn id(&self, position: usize) -> ExternalId<'_> {
        match &self.ids {
            TailIds::Integers(integers) => ExternalId::Int(integers[position]),
            TailIds::Texts { texts, ends } => {
                let start = position.checked_sub(1).map_or(0, |before| ends[before]);
                ExternalId::Text(&texts[start..ends[position]])
            }
        }
    }

    /// The position of an id, or as an error the free slot for it.
    #[inline]
    fn probe(&self, id: ExternalId<'_>, hash: u64) -> std::result::Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            let Some(position) = position_of(slot) else { return Err(at) };
            if (slot ^ hash) >> POSITION_BITS == 0 && self.id(position) == id {
                return Ok(position);
            }
            at = (at + 1) & mask;
        }
    }

    /// Rebuilds the slots.
    fn rebuild_index(&mut self) {
        let mut slots = std::mem::take(&mut self.slots);
        slots.fill(0);
        self.index(slots);
    }

    /// Inserts all ids into `slots`, which are free, and uses them.
    fn index(&mut self, mut slots: Vec<u64>) {
        for position in 0..self.len() {
            let hash = self.hasher.id(self.id(position));
            let mut at = hash as usize & (slots.len() - 1);
            while slots[at] != 0 {
                at = (at + 1) & (slots.len() - 1);
            }
            slots[at] = slot_of(hash, position);
        }
        self.slots = slots;
    }
}

/// Removes the elements before `start`, and shrinks the memory if there is memory for a copy.
fn keep_from<T: Copy>(vec: &mut Vec<T>, start: usize) {
    match collected(vec[start..].iter().copied()) {
        Ok(kept) => *vec = kept,
        Err(_) => drop(vec.drain(..start)),
    }
}

/// The position that a slot holds; `None` if it is free.
#[inline]
fn position_of(slot: u64) -> Option<usize> {
    ((slot & POSITION_MASK) as usize).checked_sub(1)
}

/// The value of a used slot.
fn slot_of(hash: u64, position: usize) -> u64 {
    (hash & !POSITION_MASK) | (position as u64 + 1)
}
