//! Edge chunks: the neighbours of one vertex as a Robin Hood table of targets in a chunk of the pool.

use bytemuck::{Pod, Zeroable};
use esker_graph::VertexId;

use crate::error::{Error, Result};
use crate::io::Scratch;

use super::compact::{compact, compact_by};
use super::layout::{Layout, Payload};
use super::pool::{CLASSES, Pool, class_bytes};
use super::prefetch::ask_for;
use super::robin::{Probe, Record, Slots, SlotsMut};

const CLASS_BITS: u32 = 6;
const SEED_BITS: u32 = 4;
const DEAD_SHIFT: u32 = CLASS_BITS + SEED_BITS;
/// The most dead slots that a head counts; a chunk is laid out anew before there are more.
const DEAD_MAX: usize = (1 << (32 - DEAD_SHIFT)) - 1;

/// The most edges of a vertex, one to spare for [`Chunks::roomy`].
const EDGES_MAX: usize = u32::MAX as usize - 1;

/// The most of a chunk that [`Chunks::touch`] asks for.
const TOUCHED_BYTES: usize = 1 << 10;

/// What the vertex table keeps of a vertex.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Head {
    pub(super) source: VertexId,
    pub(super) chunk: u32,
    pub(super) degree: u32,
    /// From the lowest bit: class of the chunk, seed of its hashes, number of dead slots.
    state: VertexId,
}

impl Record for Head {
    type Key = VertexId;

    fn key(self) -> VertexId {
        self.source
    }

    #[inline(always)]
    #[allow(clippy::useless_conversion)] // Ids may be 64 bits wide already.
    fn place(key: VertexId) -> u64 {
        u64::from(key)
    }
}

impl Head {
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

/// A record of an edge chunk: a target, once or as one of several copies.
pub(super) trait Edge: Record {
    /// Whether a target may stand several times.
    const MULTI: bool;

    /// What copy number `copy` of a target is entered under; copies are numbered from 0.
    fn copy(target: VertexId, copy: usize) -> Self::Key;

    /// The record entered under a key.
    fn of(key: Self::Key) -> Self;

    /// The target.
    fn target(self) -> VertexId;

    /// Copies the targets of live slots to the front of `to`; see [`compact`].
    fn gather(control: &[u8], records: &[Self], to: &mut [VertexId]) -> usize;
}

impl Record for VertexId {
    type Key = VertexId;

    #[inline(always)]
    fn key(self) -> VertexId {
        self
    }

    #[inline(always)]
    #[allow(clippy::useless_conversion)] // Ids may be 64 bits wide already.
    fn place(key: VertexId) -> u64 {
        u64::from(key)
    }
}

impl Edge for VertexId {
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

/// One of several copies of a target. Each has a home of its own, so many copies make no long probes.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Copied {
    target: VertexId,
    copy: VertexId,
}

impl Record for Copied {
    type Key = Self;

    #[inline(always)]
    fn key(self) -> Self {
        self
    }

    #[inline(always)]
    #[allow(clippy::useless_conversion)] // Ids may be 64 bits wide already.
    fn place(key: Self) -> u64 {
        u64::from(key.target).wrapping_add(u64::from(key.copy).rotate_left(40).wrapping_mul(0x9e37_79b9))
    }
}

impl Edge for Copied {
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
    pool: Pool,
    layouts: Box<[Layout]>,
    kind: std::marker::PhantomData<(E, P)>,
}

impl<E: Edge, P: Payload> Chunks<E, P> {
    pub(super) fn new(scratch: &Scratch) -> Self {
        let layouts = (0..CLASSES).map(|class| Layout::within::<E, P>(class_bytes(class))).collect();
        Self { pool: Pool::new(scratch), layouts, kind: std::marker::PhantomData }
    }

    /// Bytes taken.
    pub(super) fn bytes(&self) -> usize {
        self.pool.bytes()
    }

    /// See [`Memory::will_need`].
    ///
    /// [`Memory::will_need`]: crate::io::Memory::will_need
    pub(super) fn will_need(&self) {
        self.pool.will_need();
    }

    /// The slots of a chunk of this handle, class and seed.
    #[inline(always)]
    pub(super) fn slots_at(&self, chunk: u32, class: usize, seed: u32) -> Slots<'_, E, P> {
        self.layouts[class].slots(self.pool.bytes_of(chunk), seed)
    }

    #[inline(always)]
    pub(super) fn slots(&self, head: &Head) -> Slots<'_, E, P> {
        self.slots_at(head.chunk, head.class(), head.seed())
    }

    #[inline(always)]
    pub(super) fn slots_mut(&mut self, head: &Head) -> SlotsMut<'_, E, P> {
        self.layouts[head.class()].slots_mut(self.pool.bytes_mut(head.chunk), head.seed())
    }

    /// Asks for the first lines of a chunk that is about to be gone over; beyond, the processor follows by itself.
    #[inline(always)]
    pub(super) fn touch(&self, chunk: u32, class: usize) {
        let bytes = self.pool.bytes_of(chunk);
        for at in (0..self.layouts[class].bytes().min(TOUCHED_BYTES)).step_by(64) {
            ask_for(bytes, at);
        }
    }

    /// The least class with room for `edges`.
    fn class_for(&self, edges: usize) -> Result<usize> {
        let fits = self.layouts.iter().position(|layout| layout.used_max >= edges);
        fits.filter(|_| edges <= EDGES_MAX + 1).ok_or_else(|| {
            Error::Invalid("a vertex of a dynamic graph has at most 4294967295 edges".to_owned())
        })
    }

    /// A chunk for `source` with room for `edges`, empty.
    ///
    /// # Errors
    /// If there is no memory.
    pub(super) fn make(&mut self, source: VertexId, edges: usize) -> Result<Head> {
        let class = self.class_for(edges)?;
        let mut head = Head { source, chunk: self.pool.allocate(class)?, degree: 0, state: 0 };
        head.set(class, 0, 0);
        self.slots_mut(&head).control.fill(0);
        Ok(head)
    }

    /// Gives the chunk back.
    pub(super) fn drop(&mut self, head: Head) {
        self.pool.free(head.chunk, head.class());
    }

    /// Number of copies of a target. They are numbered without gaps, so it is found by doubling and halving.
    pub(super) fn copies(&self, head: &Head, target: VertexId) -> usize {
        let slots = self.slots(head);
        let has = |copy: usize| slots.find(E::copy(target, copy)).is_some();
        if !E::MULTI || !has(0) {
            return usize::from(has(0));
        }
        let mut beyond = 1;
        while has(beyond) {
            beyond *= 2;
        }
        // Copy `beyond / 2` is there, `beyond` is not.
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

    /// Enters a target, or replaces its payload if there can be one only; the payload that it had.
    ///
    /// # Errors
    /// If there is no memory; then nothing is changed.
    #[inline(always)]
    pub(super) fn insert(&mut self, head: &mut Head, target: VertexId, payload: P) -> Result<Option<P>> {
        let key = E::copy(target, if E::MULTI { self.copies(head, target) } else { 0 });
        let layout = self.layouts[head.class()];
        let mut slots = layout.slots_mut::<E, P>(self.pool.bytes_mut(head.chunk), head.seed());
        let gap = match slots.probe(key) {
            Probe::At(at) => return Ok(Some(std::mem::replace(&mut slots.payloads[at], payload))),
            Probe::Gap(gap) => gap,
        };
        let filled = if head.degree as usize + head.dead() < layout.used_max && head.dead() < DEAD_MAX {
            slots.fill(gap, E::of(key), payload)
        } else {
            self.make_room(head)?;
            self.slots_mut(head).enter(E::of(key), payload)
        };
        head.degree += 1;
        if filled.reused {
            head.set(head.class(), head.seed(), head.dead().saturating_sub(1));
        }
        if filled.far {
            self.relieve(head);
        }
        Ok(None)
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, head: &mut Head) -> Result<()> {
        // Most of what is used may be dead, so this is not always a larger class.
        let class = self.class_for(Self::roomy(head.degree as usize))?;
        self.lay_out(head, class, head.seed()).map(|_| ())
    }

    /// How many edges a new chunk for `edges` has room for. Twice as many: chunks that are outgrown have the sizes that smaller lists
    /// grow to, so they are used again; half as many more took more memory in all, and more time.
    fn roomy(edges: usize) -> usize {
        (edges * 2).min(EDGES_MAX).max(edges) + 1
    }

    /// Moves a chunk to one of another class, or with another seed; whether a key is far from home then.
    fn lay_out(&mut self, head: &mut Head, class: usize, seed: u32) -> Result<bool> {
        let chunk = self.pool.allocate(class)?;
        let (from, to) = self.pool.pair(head.chunk, chunk);
        let mut slots = self.layouts[class].slots_mut::<E, P>(to, seed);
        slots.control.fill(0);
        let far = slots.pour(self.layouts[head.class()].slots(from, head.seed()));
        self.pool.free(head.chunk, head.class());
        head.chunk = chunk;
        head.set(class, seed, 0);
        Ok(far)
    }

    /// Shortens probes that are too long: a larger chunk if it is half full, else the same with other hashes. Without memory
    /// for that, the chunk is only slower.
    #[cold]
    #[inline(never)]
    fn relieve(&mut self, head: &mut Head) {
        let used = head.degree as usize + head.dead();
        let more = if used > self.layouts[head.class()].capacity / 2 { (1, 0) } else { (0, 1) };
        let (class, seed) = (head.class() + more.0, head.seed() + more.1);
        if class < CLASSES && seed < 1 << SEED_BITS {
            let _ = self.lay_out(head, class, seed);
        }
    }

    /// Takes all copies of a target out; how many there were.
    pub(super) fn remove(&mut self, head: &mut Head, target: VertexId) -> usize {
        let copies = if E::MULTI { self.copies(head, target) } else { 1 };
        let mut slots = self.slots_mut(head);
        let mut removed = 0;
        for copy in 0..copies {
            if let Some(at) = slots.read().find(E::copy(target, copy)) {
                slots.kill(at);
                removed += 1;
            }
        }
        head.degree -= removed as u32;
        self.bury(head, removed);
        removed
    }

    /// Takes the last copy of a target out; whether there was one.
    pub(super) fn remove_last(&mut self, head: &mut Head, target: VertexId) -> bool {
        let copies = self.copies(head, target);
        let mut slots = self.slots_mut(head);
        let last = copies.checked_sub(1).and_then(|last| slots.read().find(E::copy(target, last)));
        if let Some(at) = last {
            slots.kill(at);
            head.degree -= 1;
            self.bury(head, 1);
        }
        last.is_some()
    }

    /// Counts slots that died; lays the chunk out anew without the dead if they are many.
    #[inline(always)]
    fn bury(&mut self, head: &mut Head, more: usize) {
        let dead = head.dead() + more;
        let capacity = self.layouts[head.class()].capacity;
        if dead <= (capacity / 4 + 2).min(DEAD_MAX) {
            head.set(head.class(), head.seed(), dead);
            return;
        }
        let fits = self.class_for(Self::roomy(head.degree as usize));
        let class = fits.unwrap_or(head.class()).min(head.class());
        if self.lay_out(head, class, head.seed()).is_err() {
            // No memory: the dead stay, and are counted as long as the head can.
            head.set(head.class(), head.seed(), dead.min(DEAD_MAX));
        }
    }
}
