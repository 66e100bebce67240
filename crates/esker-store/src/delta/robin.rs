//! Robin Hood hashing in borrowed slots: open addressing, linear probing, one control byte a slot.
//!
//! Of two keys that compete for a slot, the one farther from its home slot gets it [1], so all probe
//! distances stay close to their mean. The control byte holds the distance, counted from 1, in 7 bits, and in
//! the eighth whether the slot is dead (removed); 0 is an empty slot. Distances of [`FAR`] or more are stored
//! as [`FAR`].
//!
//! Invariant: from the home of every live key to its slot, no slot is empty and none has a smaller distance
//! than the key would have there; in other words, keys are in the order of their homes. So a search ends at
//! the first such slot. A dead slot keeps its distance, and is reused only by a key at least as far from home
//! [2, section 4.2.2]. At least one slot is empty, so every search ends.
//!
//! [1] P. Celis, "Robin Hood Hashing", 1986.
//! [2] K. Iwabuchi, "NETALX and DegAwareRHH", chapter 4.

use bytemuck::Pod;
use esker_graph::prefetch;

use super::hash::{hash, slot};

/// The bit of a dead slot.
const DEAD: u8 = 0x80;
/// The largest distance that a control byte can hold.
const FAR: u8 = 0x7f;

/// A record in a slot, with a key.
pub(super) trait SlotRecord: Pod + Send + Sync {
    /// The key's type.
    type Key: Copy + PartialEq;

    /// The record's key.
    fn key(self) -> Self::Key;

    /// Whether the record has this key.
    #[inline(always)]
    fn is(&self, key: Self::Key) -> bool {
        self.key() == key
    }

    /// The part of a key that is hashed: keys with equal parts have the same home.
    fn hashed_part(key: Self::Key) -> u64;
}

/// Slots for reading: three arrays of equal length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slots<'a, R, P> {
    pub(super) control: &'a [u8],
    pub(super) records: &'a [R],
    pub(super) payloads: &'a [P],
    pub(super) seed: u32,
}

/// Slots for changing.
#[derive(Debug)]
pub(super) struct SlotsMut<'a, R, P> {
    pub(super) control: &'a mut [u8],
    pub(super) records: &'a mut [R],
    pub(super) payloads: &'a mut [P],
    pub(super) seed: u32,
}

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Probe {
    /// The slot that holds the key.
    At(usize),
    /// The key is absent and belongs here.
    Gap(InsertionGap),
}

/// The slot for an absent key, and the key's distance there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InsertionGap {
    at: usize,
    distance: u8,
}

/// The effect of an insertion on the slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FillOutcome {
    /// Whether it used a dead slot rather than an empty one.
    pub(super) reused: bool,
    /// Whether the distance of a key now exceeds what its control byte can hold.
    pub(super) far: bool,
}

/// Whether a slot with this control byte holds a key.
#[inline(always)]
pub(super) fn is_live(control: u8) -> bool {
    control.wrapping_sub(1) < FAR
}

#[inline(always)]
fn next(at: usize, capacity: usize) -> usize {
    if at + 1 == capacity { 0 } else { at + 1 }
}

#[inline(always)]
fn farther(distance: u8) -> u8 {
    if distance == FAR { FAR } else { distance + 1 }
}

impl<R: SlotRecord, P: Copy> Slots<'_, R, P> {
    #[inline(always)]
    fn home(&self, key: R::Key) -> usize {
        slot(hash(R::hashed_part(key), self.seed), self.control.len())
    }

    /// The slot of `key`.
    #[inline(always)]
    pub(super) fn find(&self, key: R::Key) -> Option<usize> {
        let (mut at, mut distance) = (self.home(key), 1);
        loop {
            let control = self.control[at];
            if control & FAR < distance {
                return None;
            }
            if control == distance && self.records[at].is(key) {
                return Some(at);
            }
            (at, distance) = (next(at, self.control.len()), farther(distance));
        }
    }

    /// Whether a slot holds `key`.
    #[inline(always)]
    pub(super) fn holds(&self, at: usize, key: R::Key) -> bool {
        at < self.control.len() && is_live(self.control[at]) && self.records[at].is(key)
    }

    /// Calls `f` with each live slot whose key has the same home as `key`, until it returns false. The caller
    /// checks the keys.
    #[inline(always)]
    pub(super) fn neighbours(&self, key: R::Key, mut f: impl FnMut(usize) -> bool) {
        let (mut at, mut distance) = (self.home(key), 1);
        loop {
            let control = self.control[at];
            if control & FAR < distance || (control == distance && !f(at)) {
                return;
            }
            (at, distance) = (next(at, self.control.len()), farther(distance));
        }
    }

    /// Prefetches what a search for `key` reads first, so that the cache misses of several searches overlap.
    #[inline(always)]
    pub(super) fn prefetch(&self, key: R::Key) {
        let home = self.home(key);
        prefetch(self.control, home);
        prefetch(self.records, home);
        if size_of::<P>() > 0 {
            prefetch(self.payloads, home);
        }
    }

    /// The live slots, in order.
    pub(super) fn live(&self) -> impl Iterator<Item = usize> + use<'_, R, P> {
        self.control.iter().enumerate().filter(|&(_, &control)| is_live(control)).map(|(at, _)| at)
    }
}

impl<R: SlotRecord, P: Copy> SlotsMut<'_, R, P> {
    /// The same slots for reading.
    #[inline(always)]
    pub(super) fn read(&self) -> Slots<'_, R, P> {
        Slots { control: self.control, records: self.records, payloads: self.payloads, seed: self.seed }
    }

    /// Searches for `key`; finds the slot for inserting it if it is absent.
    #[inline(always)]
    pub(super) fn probe(&self, key: R::Key) -> Probe {
        let (mut at, mut distance) = (self.read().home(key), 1);
        let mut dead: Option<usize> = None;
        loop {
            let control = self.control[at];
            if control & FAR < distance {
                return Probe::Gap(match dead {
                    // A dead slot with the same home.
                    Some(at) => InsertionGap { at, distance: self.control[at] & FAR },
                    None => InsertionGap { at, distance },
                });
            }
            if control & FAR == distance {
                if control & DEAD != 0 {
                    dead = dead.or(Some(at));
                } else if self.records[at].is(key) {
                    return Probe::At(at);
                }
            }
            (at, distance) = (next(at, self.control.len()), farther(distance));
        }
    }

    /// Inserts an absent key at the gap that its search found. Shifts the slots from there to the next slot
    /// that is not live by one. Since keys are in the order of their homes, this has the same effect as
    /// displacing one key after another.
    #[inline(always)]
    pub(super) fn fill(&mut self, gap: InsertionGap, record: R, payload: P) -> FillOutcome {
        let InsertionGap { at, distance } = gap;
        let mut far = distance == FAR;
        let mut end = at;
        while is_live(self.control[end]) {
            end = next(end, self.control.len());
        }
        let reused = self.control[end] != 0;
        if end < at {
            far |= self.shift(0, end);
            let last = self.control.len() - 1;
            self.control[0] = farther(self.control[last]);
            self.records[0] = self.records[last];
            self.payloads[0] = self.payloads[last];
            far |= self.control[0] == FAR;
            end = last;
        }
        far |= self.shift(at, end);
        self.control[at] = distance;
        self.records[at] = record;
        self.payloads[at] = payload;
        FillOutcome { reused, far }
    }

    /// Shifts the slots `at..end` by one; returns whether a key is then far from home.
    #[inline(always)]
    fn shift(&mut self, at: usize, end: usize) -> bool {
        self.records.copy_within(at..end, at + 1);
        self.payloads.copy_within(at..end, at + 1);
        let mut greatest = 0;
        for i in (at..end).rev() {
            let control = farther(self.control[i]);
            self.control[i + 1] = control;
            greatest = greatest.max(control);
        }
        greatest == FAR
    }

    /// Inserts a key known to be absent.
    #[inline(always)]
    pub(super) fn insert_absent(&mut self, record: R, payload: P) -> FillOutcome {
        let (mut at, mut distance) = (self.read().home(record.key()), 1);
        loop {
            let control = self.control[at];
            let stored = control & FAR;
            if stored < distance || (stored == distance && control & DEAD != 0) {
                return self.fill(InsertionGap { at, distance }, record, payload);
            }
            (at, distance) = (next(at, self.control.len()), farther(distance));
        }
    }

    /// Marks a live slot as dead.
    #[inline(always)]
    pub(super) fn mark_dead(&mut self, at: usize) {
        self.control[at] |= DEAD;
    }

    /// Inserts all live records of another table, whose keys must be absent; returns whether a key is then
    /// far from home.
    pub(super) fn insert_all(&mut self, from: Slots<'_, R, P>) -> bool {
        let mut far = false;
        for (at, &control) in from.control.iter().enumerate() {
            if is_live(control) {
                far |= self.insert_absent(from.records[at], from.payloads[at]).far;
            }
        }
        far
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(transparent)]
    struct Number(u64);

    impl SlotRecord for Number {
        type Key = u64;

        fn key(self) -> u64 {
            self.0
        }

        fn is(&self, key: u64) -> bool {
            self.0 == key
        }

        /// Gives many keys the same home.
        fn hashed_part(key: u64) -> u64 {
            key / 1000
        }
    }

    #[test]
    fn keys_of_one_home_are_found_beyond_the_largest_stored_distance() {
        let (mut control, mut records, mut payloads) = (vec![0; 1001], vec![Number(0); 1001], vec![0; 1001]);
        let mut slots =
            SlotsMut { control: &mut control, records: &mut records, payloads: &mut payloads, seed: 0 };
        for key in 0..900_u64 {
            let Probe::Gap(gap) = slots.probe(key) else { panic!("{key} is absent") };
            let filled = slots.fill(gap, Number(key), key * 3);
            assert_eq!((filled.reused, filled.far), (false, key >= 126));
        }
        for key in (0..900).step_by(3) {
            let at = slots.read().find(key).unwrap();
            slots.mark_dead(at);
        }
        for key in 0..1000 {
            let found = slots.read().find(key).map(|at| slots.payloads[at]);
            assert_eq!(found, (key < 900 && key % 3 != 0).then_some(key * 3));
        }
        let Probe::Gap(gap) = slots.probe(300) else { panic!("300 is absent") };
        assert!(slots.fill(gap, Number(300), 1).reused);
        let mut visited = 0;
        slots.read().neighbours(5, |_| {
            visited += 1;
            true
        });
        assert_eq!(visited, 601);
        assert_eq!(slots.read().live().count(), 601);
    }
}
