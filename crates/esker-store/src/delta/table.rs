//! A Robin Hood table that owns its memory and grows: the low-degree table and the vertex table.

use std::marker::PhantomData;

use esker_format::Result;
use esker_format::io::{Scratch, ScratchMemory};

use super::layout::{Payload, TableLayout};
use super::robin::{SlotRecord, Slots, SlotsMut};

/// Capacity of a table's first allocation.
const CAPACITY_MIN: usize = 16;
/// How often a table that is at most half full is rebuilt with another seed because of a long probe.
const SEEDS: u32 = 16;

/// A table with its own memory.
#[derive(Debug)]
pub(super) struct SlotTable<R, P> {
    scratch: Scratch,
    memory: Option<ScratchMemory>,
    layout: TableLayout,
    seed: u32,
    live: usize,
    dead: usize,
    kind: PhantomData<(R, P)>,
}

impl<R: SlotRecord, P: Payload> SlotTable<R, P> {
    /// An empty table, without memory.
    pub(super) fn new(scratch: &Scratch) -> Self {
        Self {
            scratch: scratch.clone(),
            memory: None,
            layout: TableLayout::default(),
            seed: 0,
            live: 0,
            dead: 0,
            kind: PhantomData,
        }
    }

    /// Allocated bytes.
    pub(super) fn bytes(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.len())
    }

    /// Hint: most of the table will be read soon.
    pub(super) fn will_need(&self) {
        if let Some(memory) = &self.memory {
            memory.will_need();
        }
    }

    /// The slots; `None` if the table has no memory yet.
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

    /// As [`SlotTable::find`], but first checks the slot `hint`.
    #[inline(always)]
    pub(super) fn find_near(&self, hint: Option<usize>, key: R::Key) -> Option<usize> {
        let slots = self.slots()?;
        match hint {
            Some(at) if slots.holds(at, key) => Some(at),
            _ => slots.find(key),
        }
    }

    /// Reserves capacity for `more` keys, so that inserting them cannot fail.
    ///
    /// # Errors
    /// If there is no memory.
    #[inline(always)]
    pub(super) fn reserve(&mut self, more: usize) -> Result<()> {
        if self.live + self.dead + more <= self.layout.used_max { Ok(()) } else { self.grow(more) }
    }

    /// Rebuilds with twice the capacity, or with the same if most used slots are dead.
    #[cold]
    fn grow(&mut self, more: usize) -> Result<()> {
        let capacity = self.layout.capacity;
        let crowded = self.live + more > capacity / 2;
        let capacity = if crowded { (capacity * 2).max((self.live + more) * 4 / 3) } else { capacity };
        self.rebuild(capacity.max(CAPACITY_MIN), self.seed).map(|_| ())
    }

    /// Moves all keys to new memory; returns whether a key is then far from home.
    fn rebuild(&mut self, capacity: usize, seed: u32) -> Result<bool> {
        let layout = TableLayout::with_capacity::<R, P>(capacity);
        let mut memory = self.scratch.allocate(layout.bytes())?;
        let far = match self.slots() {
            Some(slots) => layout.slots_mut(&mut memory, seed).insert_all(slots),
            None => false,
        };
        (self.memory, self.layout, self.seed, self.dead) = (Some(memory), layout, seed, 0);
        Ok(far)
    }

    /// Inserts an absent key. The caller has reserved capacity.
    #[inline(always)]
    pub(super) fn insert_absent(&mut self, record: R, payload: P) {
        let Some(mut slots) = self.slots_mut() else { unreachable!("the caller has reserved capacity") };
        let filled = slots.insert_absent(record, payload);
        self.live += 1;
        self.dead -= usize::from(filled.reused);
        if filled.far {
            self.shorten_probes();
        }
    }

    /// Shortens long probes: rebuilds with a larger capacity if the table is more than half full, else with
    /// another seed. Without memory for that, the table stays slow.
    #[cold]
    fn shorten_probes(&mut self) {
        let capacity = self.layout.capacity;
        if self.live + self.dead > capacity / 2 {
            let _ = self.rebuild(if self.dead > self.live { capacity } else { capacity * 2 }, self.seed);
        } else if self.seed + 1 < SEEDS {
            let _ = self.rebuild(capacity, self.seed + 1);
        }
    }

    /// Removes the key of a live slot. This may rebuild the table, which invalidates slot numbers.
    #[inline(always)]
    pub(super) fn mark_dead(&mut self, at: usize) {
        let Some(mut slots) = self.slots_mut() else { unreachable!("the slot is live") };
        slots.mark_dead(at);
        self.live -= 1;
        self.dead += 1;
        if self.dead > self.layout.capacity / 4 {
            self.remove_dead();
        }
    }

    /// Rebuilds the table without the dead slots, and smaller if few keys are left. Without memory for that,
    /// the dead slots stay.
    #[cold]
    fn remove_dead(&mut self) {
        let capacity = self.layout.capacity;
        let wanted = if self.live < capacity / 8 { (self.live * 4).max(CAPACITY_MIN) } else { capacity };
        if self.dead > CAPACITY_MIN || wanted < capacity {
            let _ = self.rebuild(wanted, self.seed);
        }
    }

    /// Removes all keys and frees the memory.
    pub(super) fn clear(&mut self) {
        *self = Self::new(&self.scratch);
    }
}
