//! A Robin Hood table that owns its memory and grows: the low-degree table, the vertex table, payloads of vertices.

use std::marker::PhantomData;

use crate::error::Result;
use crate::io::{Memory, Scratch};

use super::layout::{Layout, Payload};
use super::robin::{Gap, Probe, Record, Slots, SlotsMut};

/// Slots of the first memory that a table takes.
const CAPACITY_MIN: usize = 16;
/// How often a table that is not half full is laid out anew because of a long probe.
const SEEDS: u32 = 16;

/// Slots in memory of their own.
#[derive(Debug)]
pub(super) struct Table<R, P> {
    scratch: Scratch,
    memory: Option<Memory>,
    layout: Layout,
    seed: u32,
    live: usize,
    dead: usize,
    kind: PhantomData<(R, P)>,
}

impl<R: Record, P: Payload> Table<R, P> {
    /// An empty table, without memory.
    pub(super) fn new(scratch: &Scratch) -> Self {
        Self {
            scratch: scratch.clone(),
            memory: None,
            layout: Layout::default(),
            seed: 0,
            live: 0,
            dead: 0,
            kind: PhantomData,
        }
    }

    /// Number of keys.
    pub(super) fn len(&self) -> usize {
        self.live
    }

    /// Bytes taken.
    pub(super) fn bytes(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.len())
    }

    /// Says that the table will be read all over.
    pub(super) fn will_need(&self) {
        if let Some(memory) = &self.memory {
            memory.will_need();
        }
    }

    /// The slots; none if the table never held anything.
    #[inline(always)]
    pub(super) fn slots(&self) -> Option<Slots<'_, R, P>> {
        self.memory.as_ref().map(|memory| self.layout.slots(memory, self.seed))
    }

    #[inline(always)]
    pub(super) fn slots_mut(&mut self) -> Option<SlotsMut<'_, R, P>> {
        self.memory.as_mut().map(|memory| self.layout.slots_mut(memory, self.seed))
    }

    /// The slot of `key`.
    #[inline(always)]
    pub(super) fn find(&self, key: R::Key) -> Option<usize> {
        self.slots()?.find(key)
    }

    /// As [`Table::find`], looking first at a slot where the key was.
    #[inline(always)]
    pub(super) fn find_near(&self, hint: Option<usize>, key: R::Key) -> Option<usize> {
        let slots = self.slots()?;
        match hint {
            Some(at) if slots.holds(at, key) => Some(at),
            _ => slots.find(key),
        }
    }

    /// Makes room for `more` keys, so that entering them cannot fail.
    ///
    /// # Errors
    /// If there is no memory.
    #[inline(always)]
    pub(super) fn reserve(&mut self, more: usize) -> Result<()> {
        if self.live + self.dead + more <= self.layout.used_max { Ok(()) } else { self.grow(more) }
    }

    /// Twice the capacity, or the same if most of what was used is dead.
    #[cold]
    fn grow(&mut self, more: usize) -> Result<()> {
        let capacity = self.layout.capacity;
        let crowded = self.live + more > capacity / 2;
        let capacity = if crowded { (capacity * 2).max((self.live + more) * 4 / 3) } else { capacity };
        self.lay_out(capacity.max(CAPACITY_MIN), self.seed).map(|_| ())
    }

    /// Moves everything to new memory; whether a key is far from home then.
    fn lay_out(&mut self, capacity: usize, seed: u32) -> Result<bool> {
        let layout = Layout::with_capacity::<R, P>(capacity);
        let mut memory = self.scratch.allocate(layout.bytes())?;
        let far = match self.slots() {
            Some(slots) => layout.slots_mut(&mut memory, seed).pour(slots),
            None => false,
        };
        (self.memory, self.layout, self.seed, self.dead) = (Some(memory), layout, seed, 0);
        Ok(far)
    }

    /// Enters a key that is absent. Room was reserved.
    #[inline(always)]
    pub(super) fn enter(&mut self, record: R, payload: P) {
        let Some(mut slots) = self.slots_mut() else { unreachable!("room was reserved") };
        let filled = slots.enter(record, payload);
        self.live += 1;
        self.dead -= usize::from(filled.reused);
        if filled.far {
            self.relieve();
        }
    }

    /// Enters a key or replaces what stands under it; the payload that it had.
    ///
    /// # Errors
    /// If there is no memory.
    pub(super) fn put(&mut self, record: R, payload: P) -> Result<Option<P>> {
        self.reserve(1)?;
        let Some(slots) = self.slots_mut() else { unreachable!("room was reserved") };
        match slots.probe(record.key()) {
            Probe::At(at) => Ok(Some(std::mem::replace(&mut slots.payloads[at], payload))),
            Probe::Gap(gap) => {
                self.fill(gap, record, payload);
                Ok(None)
            }
        }
    }

    fn fill(&mut self, gap: Gap, record: R, payload: P) {
        let Some(mut slots) = self.slots_mut() else { unreachable!("a table with a gap has slots") };
        let filled = slots.fill(gap, record, payload);
        self.live += 1;
        self.dead -= usize::from(filled.reused);
        if filled.far {
            self.relieve();
        }
    }

    /// Shortens probes that are too long: a larger table if it is half full, else the same with other hashes. Without memory
    /// for that, the table is only slower.
    #[cold]
    fn relieve(&mut self) {
        let capacity = self.layout.capacity;
        if self.live + self.dead > capacity / 2 {
            let _ = self.lay_out(if self.dead > self.live { capacity } else { capacity * 2 }, self.seed);
        } else if self.seed + 1 < SEEDS {
            let _ = self.lay_out(capacity, self.seed + 1);
        }
    }

    /// Takes the key of a live slot out. Now and then the table is laid out anew, so slots change.
    #[inline(always)]
    pub(super) fn kill(&mut self, at: usize) {
        let Some(mut slots) = self.slots_mut() else { unreachable!("a live slot") };
        slots.kill(at);
        self.live -= 1;
        self.dead += 1;
        if self.dead > self.layout.capacity / 4 {
            self.tidy();
        }
    }

    /// Lays out anew without the dead slots, smaller if little is left. Without memory for that, they stay.
    #[cold]
    fn tidy(&mut self) {
        let capacity = self.layout.capacity;
        let wanted = if self.live < capacity / 8 { (self.live * 4).max(CAPACITY_MIN) } else { capacity };
        if self.dead > CAPACITY_MIN || wanted < capacity {
            let _ = self.lay_out(wanted, self.seed);
        }
    }

    /// Forgets everything and gives the memory back.
    pub(super) fn clear(&mut self) {
        *self = Self::new(&self.scratch);
    }
}
