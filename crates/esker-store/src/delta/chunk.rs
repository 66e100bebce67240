//! Edge chunks: the targets of one vertex as a Robin Hood table in a chunk of the pool.

use bytemuck::{Pod, Zeroable};
use esker_format::io::Scratch;
use esker_format::{Error, Result};
use esker_graph::{VertexId, prefetch};

use super::compact::{compact, compact_by};
use super::layout::{Payload, TableLayout};
use super::pool::{CLASSES, ChunkPool, class_bytes};
use super::robin::{Probe, SlotRecord, Slots, SlotsMut};

const CLASS_BITS: u32 = 6;
const SEED_BITS: u32 = 4;
const DEAD_SHIFT: u32 = CLASS_BITS + SEED_BITS;
/// The most dead slots that a vertex entry counts; a chunk is rebuilt before it has more.
const DEAD_MAX: usize = (1 << (32 - DEAD_SHIFT)) - 1;

/// The maximum number of edges of a vertex before an insertion.
const EDGES_MAX: usize = u32::MAX as usize - 1;

/// The most bytes of a chunk that [`Chunks::prefetch`] prefetches.
const TOUCHED_BYTES: usize = 1 << 10;

/// An entry of the vertex table.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct VertexEntry {
    pub(super) source: VertexId,
    pub(super) chunk: u32,
    pub(super) degree: u32,
    /// From the lowest bit: class of the chunk, hash seed, number of dead slots.
    state: VertexId,
}

impl SlotRecord for VertexEntry {
    type Key = VertexId;

    fn key(self) -> VertexId {
        self.source
    }

    #[inline(always)]
    #[allow(clippy::useless_conversion)] // Ids may be 64 bits wide already.
    fn hashed_part(key: VertexId) -> u64 {
        u64::from(key)
    }
}

impl VertexEntry {
    #[inline(always)]
    pub(super) fn class(&self) -> usize {
        (self.state & ((1 << CLASS_BITS) - 1)) as usize
    }

    #[inline(always)]
    #[allow(clippy::unnecessary_cast)] // Ids may be 64 bits wide.
    pub(super) fn seed(&self) -> u32 {
        (self.state >> CLASS_BITS & ((1 << SEED_BITS) - 1)) as u32
    }

    #[inline(always)]
    fn dead(&self) -> usize {
        (self.state >> DEAD_SHIFT) as usize
    }

    fn set(&mut self, class: usize, seed: u32, dead: usize) {
        self.state = class as VertexId | (seed as VertexId) << CLASS_BITS | (dead as VertexId) << DEAD_SHIFT;
    }
}

/// A record of an edge chunk: a target, or one of several copies of it.
pub(super) trait EdgeRecord: SlotRecord {
    /// Whether a target may occur several times.
    const MULTI: bool;

    /// The key of copy number `copy` of a target; copies are numbered from 0.
    fn copy(target: VertexId, copy: usize) -> Self::Key;

    /// The record with a key.
    fn of(key: Self::Key) -> Self;

    /// The target.
    fn target(self) -> VertexId;

    /// Copies the targets of live slots to the front of `to`; see [`compact`].
    fn gather(control: &[u8], records: &[Self], to: &mut [VertexId]) -> usize;
}

impl SlotRecord for VertexId {
    type Key = VertexId;

    #[inline(always)]
    fn key(self) -> VertexId {
        self
    }

    #[inline(always)]
    #[allow(clippy::useless_conversion)] // Ids may be 64 bits wide already.
    fn hashed_part(key: VertexId) -> u64 {
        u64::from(key)
    }
}

impl EdgeRecord for VertexId {
    const MULTI: bool = false;

    #[inline(always)]
    fn copy(target: VertexId, _copy: usize) -> VertexId {
        target
    }

    #[inline(always)]
    fn of(key: VertexId) -> VertexId {
        key
    }

    #[inline(always)]
    fn target(self) -> VertexId {
        self
    }

    #[inline(always)]
    fn gather(control: &[u8], records: &[Self], to: &mut [VertexId]) -> usize {
        compact(control, records, to)
    }
}

/// One of several copies of a target. Each copy has its own home slot, so many copies cause no long probes.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct NumberedTarget {
    target: VertexId,
    copy: VertexId,
}

impl SlotRecord for NumberedTarget {
    type Key = Self;

    #[inline(always)]
    fn key(self) -> Self {
        self
    }

    #[inline(always)]
    #[allow(clippy::useless_conversion)] // Ids may be 64 bits wide already.
    fn hashed_part(key: Self) -> u64 {
        u64::from(key.target).wrapping_add(u64::from(key.copy).rotate_left(40).wrapping_mul(0x9e37_79b9))
    }
}

impl EdgeRecord for NumberedTarget {
    const MULTI: bool = true;

    fn copy(target: VertexId, copy: usize) -> Self {
        Self { target, copy: copy as VertexId }
    }

    fn of(key: Self) -> Self {
        key
    }

    fn target(self) -> VertexId {
        self.target
    }

    fn gather(control: &[u8], records: &[Self], to: &mut [VertexId]) -> usize {
        compact_by(control, records, to, |record| record.target)
    }
}

/// All edge chunks of a shard.
#[derive(Debug)]
pub(super) struct Chunks<E, P> {
    pool: ChunkPool,
    layouts: Box<[TableLayout]>,
    kind: std::marker::PhantomData<(E, P)>,
}

impl<E: EdgeRecord, P: Payload> Chunks<E, P> {
    pub(super) fn new(scratch: &Scratch) -> Self {
        let layouts = (0..CLASSES).map(|class| TableLayout::within::<E, P>(class_bytes(class))).collect();
        Self { pool: ChunkPool::new(scratch), layouts, kind: std::marker::PhantomData }
    }

    /// Allocated bytes.
    pub(super) fn bytes(&self) -> usize {
        self.pool.bytes()
    }

    /// See [`ScratchMemory::will_need`].
    ///
    /// [`ScratchMemory::will_need`]: esker_format::io::ScratchMemory::will_need
    pub(super) fn will_need(&self) {
        self.pool.will_need();
    }

    /// The slots of a chunk of this handle, class and seed.
    #[inline(always)]
    pub(super) fn slots_at(&self, chunk: u32, class: usize, seed: u32) -> Slots<'_, E, P> {
        self.layouts[class].slots(self.pool.bytes_of(chunk), seed)
    }

    #[inline(always)]
    pub(super) fn slots(&self, entry: &VertexEntry) -> Slots<'_, E, P> {
        self.slots_at(entry.chunk, entry.class(), entry.seed())
    }

    #[inline(always)]
    pub(super) fn slots_mut(&mut self, entry: &VertexEntry) -> SlotsMut<'_, E, P> {
        self.layouts[entry.class()].slots_mut(self.pool.bytes_mut(entry.chunk), entry.seed())
    }

    /// Prefetches the start of a chunk that is about to be scanned; the processor prefetches the rest by
    /// itself.
    #[inline(always)]
    pub(super) fn prefetch(&self, chunk: u32, class: usize) {
        let bytes = self.pool.bytes_of(chunk);
        for at in (0..self.layouts[class].bytes().min(TOUCHED_BYTES)).step_by(64) {
            prefetch(bytes, at);
        }
    }

    /// The smallest class with capacity for `edges`.
    fn class_for(&self, edges: usize) -> Result<usize> {
        let fits = self.layouts.iter().position(|layout| layout.used_max >= edges);
        fits.filter(|_| edges <= EDGES_MAX + 1).ok_or_else(|| {
            Error::invalid("a vertex of a dynamic graph can have at most 4294967295 edges".to_owned())
        })
    }

    /// An empty chunk for `source` with capacity for `edges`.
    ///
    /// # Errors
    /// If there is no memory.
    pub(super) fn make(&mut self, source: VertexId, edges: usize) -> Result<VertexEntry> {
        let class = self.class_for(edges)?;
        let mut entry = VertexEntry { source, chunk: self.pool.allocate(class)?, degree: 0, state: 0 };
        entry.set(class, 0, 0);
        self.slots_mut(&entry).control.fill(0);
        Ok(entry)
    }

    /// Frees the chunk.
    pub(super) fn drop(&mut self, entry: VertexEntry) {
        self.pool.free(entry.chunk, entry.class());
    }

    /// Number of copies of a target. Copies are numbered without gaps, so an exponential search finds it.
    pub(super) fn copies(&self, entry: &VertexEntry, target: VertexId) -> usize {
        let slots = self.slots(entry);
        let has = |copy: usize| slots.find(E::copy(target, copy)).is_some();
        if !E::MULTI || !has(0) {
            return usize::from(has(0));
        }
        let mut beyond = 1;
        while has(beyond) {
            beyond *= 2;
        }
        // Copy `beyond / 2` exists, copy `beyond` does not.
        let (mut low, mut high) = (beyond / 2, beyond);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if has(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// Inserts a target, or replaces its payload if it cannot have copies; returns the replaced payload.
    ///
    /// # Errors
    /// If there is no memory; the chunk is then unchanged.
    #[inline(always)]
    pub(super) fn insert(
        &mut self,
        entry: &mut VertexEntry,
        target: VertexId,
        payload: P,
    ) -> Result<Option<P>> {
        let key = E::copy(target, if E::MULTI { self.copies(entry, target) } else { 0 });
        let layout = self.layouts[entry.class()];
        let mut slots = layout.slots_mut::<E, P>(self.pool.bytes_mut(entry.chunk), entry.seed());
        let gap = match slots.probe(key) {
            Probe::At(at) => return Ok(Some(std::mem::replace(&mut slots.payloads[at], payload))),
            Probe::Gap(gap) => gap,
        };
        let filled = if entry.degree as usize + entry.dead() < layout.used_max && entry.dead() < DEAD_MAX {
            slots.fill(gap, E::of(key), payload)
        } else {
            self.grow(entry)?;
            self.slots_mut(entry).insert_absent(E::of(key), payload)
        };
        entry.degree += 1;
        if filled.reused {
            entry.set(entry.class(), entry.seed(), entry.dead().saturating_sub(1));
        }
        if filled.far {
            self.shorten_probes(entry);
        }
        Ok(None)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, entry: &mut VertexEntry) -> Result<()> {
        // Most used slots may be dead, so the class is not always larger.
        let class = self.class_for(Self::capacity_for(entry.degree as usize))?;
        self.rebuild(entry, class, entry.seed()).map(|_| ())
    }

    /// The capacity of a new chunk for `edges`: twice as many. Freed chunks then have sizes that smaller
    /// lists grow to, so they are reused. Growing by half took more memory in total, and more time.
    fn capacity_for(edges: usize) -> usize {
        (edges * 2).min(EDGES_MAX).max(edges) + 1
    }

    /// Rebuilds a chunk with another class or seed; returns whether a key is far from home afterwards.
    fn rebuild(&mut self, entry: &mut VertexEntry, class: usize, seed: u32) -> Result<bool> {
        let chunk = self.pool.allocate(class)?;
        let (from, to) = self.pool.pair(entry.chunk, chunk);
        let mut slots = self.layouts[class].slots_mut::<E, P>(to, seed);
        slots.control.fill(0);
        let far = slots.insert_all(self.layouts[entry.class()].slots(from, entry.seed()));
        self.pool.free(entry.chunk, entry.class());
        entry.chunk = chunk;
        entry.set(class, seed, 0);
        Ok(far)
    }

    /// Shortens long probes: rebuilds with the next larger class if the chunk is more than half full, else
    /// with another seed. Without memory for that, the chunk stays slow.
    #[cold]
    #[inline(never)]
    fn shorten_probes(&mut self, entry: &mut VertexEntry) {
        let used = entry.degree as usize + entry.dead();
        let more = if used > self.layouts[entry.class()].capacity / 2 { (1, 0) } else { (0, 1) };
        let (class, seed) = (entry.class() + more.0, entry.seed() + more.1);
        if class < CLASSES && seed < 1 << SEED_BITS {
            let _ = self.rebuild(entry, class, seed);
        }
    }

    /// Removes all copies of a target; returns their number.
    pub(super) fn remove(&mut self, entry: &mut VertexEntry, target: VertexId) -> usize {
        let copies = if E::MULTI { self.copies(entry, target) } else { 1 };
        let mut slots = self.slots_mut(entry);
        let mut removed = 0;
        for copy in 0..copies {
            if let Some(at) = slots.read().find(E::copy(target, copy)) {
                slots.mark_dead(at);
                removed += 1;
            }
        }
        entry.degree -= removed as u32;
        self.count_dead(entry, removed);
        removed
    }

    /// Removes the last copy of a target; returns whether there was one.
    pub(super) fn remove_last(&mut self, entry: &mut VertexEntry, target: VertexId) -> bool {
        let copies = self.copies(entry, target);
        let mut slots = self.slots_mut(entry);
        let last = copies.checked_sub(1).and_then(|last| slots.read().find(E::copy(target, last)));
        if let Some(at) = last {
            slots.mark_dead(at);
            entry.degree -= 1;
            self.count_dead(entry, 1);
        }
        last.is_some()
    }

    /// Counts slots marked dead; rebuilds the chunk without them if they are many.
    #[inline(always)]
    fn count_dead(&mut self, entry: &mut VertexEntry, more: usize) {
        let dead = entry.dead() + more;
        let capacity = self.layouts[entry.class()].capacity;
        if dead <= (capacity / 4 + 2).min(DEAD_MAX) {
            entry.set(entry.class(), entry.seed(), dead);
            return;
        }
        let fits = self.class_for(Self::capacity_for(entry.degree as usize));
        let class = fits.unwrap_or(entry.class()).min(entry.class());
        if self.rebuild(entry, class, entry.seed()).is_err() {
            // No memory: the dead slots stay, and are counted up to the maximum.
            entry.set(entry.class(), entry.seed(), dead.min(DEAD_MAX));
        }
    }
}
