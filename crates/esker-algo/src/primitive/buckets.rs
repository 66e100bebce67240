//! Buckets: vertices grouped by priority and taken out in increasing or decreasing order while priorities
//! change.
//!
//! The structure of Julienne [1] in Sage's form [2, appendix B]: a constant number of *open* buckets, one for
//! each of the next priorities, and an *overflow* for all later priorities, opened one part at a time. As in
//! a radix heap [3], the overflow is divided by the highest digit in which a priority differs from the least
//! one. So a vertex moves at most once per digit, however far away its priority is, and opening a part
//! touches only that part.
//!
//! Moves are *semi-eager*: a moved vertex gets an entry in its new bucket, and its old entry becomes dead. An
//! entry is alive if the vertex's current priority maps to the bucket that holds it. Dead entries are removed
//! once there are more than two entries per vertex, so memory is O(n) for any number of moves. A priority may
//! only stay or move towards the current bucket; a priority that would pass the current bucket belongs to the
//! current bucket.
//!
//! [1] L. Dhulipala, G. Blelloch, J. Shun, "Julienne: A Framework for Parallel Graph Algorithms using
//!     Work-efficient Bucketing", SPAA 2017.
//! [2] L. Dhulipala et al., "Sage: Parallel Semi-Asymmetric Graph Algorithms for NVRAMs", VLDB 2020.
//! [3] R. Ahuja, K. Mehlhorn, J. Orlin, R. Tarjan, "Faster Algorithms for the Shortest Path Problem", J. ACM
//!     37(2), 1990.

use esker_graph::{Run, Stop, VertexId, vertex};

/// The order in which buckets are taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BucketOrder {
    /// Least priority first.
    Increasing,
    /// Greatest priority first.
    Decreasing,
}

/// Maps priorities to buckets until the next bucket is taken. `BITS` is the base-2 logarithm of the number of
/// open buckets and of the number of parts in each level of the overflow.
#[derive(Debug, Clone, Copy)]
pub struct BucketLayout<const BITS: u32> {
    /// XORed with a priority to make a key; the least key comes first.
    flip: u64,
    /// The least key that may still occur.
    base: u64,
}

impl<const BITS: u32> BucketLayout<BITS> {
    /// The bucket of a priority. Buckets are numbered by level, then digit; level 0 holds the open buckets.
    #[inline(always)]
    fn slot(&self, priority: u64) -> usize {
        let key = (priority ^ self.flip).max(self.base);
        let level = level::<BITS>(key ^ self.base);
        (level << BITS) as usize | ((key >> (level * BITS)) as usize & ((1 << BITS) - 1))
    }

    /// Whether a change of priority moves a vertex to another bucket, so that it must be inserted again.
    #[inline(always)]
    pub fn leaves(&self, from: u64, to: u64) -> bool {
        self.slot(from) != self.slot(to)
    }
}

/// The position of the highest nonzero digit.
#[inline(always)]
fn level<const BITS: u32>(difference: u64) -> u32 {
    (63 - (difference | 1).leading_zeros()) / BITS
}

/// Shorter lists are handled on the calling thread: this takes tens of microseconds, about as long as waking
/// a thread.
const SERIAL_LEN_MAX: usize = 1 << 15;
/// Entries per unit of parallel work.
const GRAIN: usize = 1 << 13;

/// A vector grows by this part of its length: more would leave more of it empty, and less would move it more
/// often.
const GROWTH: usize = 4;

/// Vertices grouped by priority. Memory: at most two entries (ids) per vertex, in vectors of which a fifth
/// may be empty.
pub struct Buckets<const BITS: u32> {
    layout: BucketLayout<BITS>,
    slots: Vec<Vec<VertexId>>,
    entries: usize,
    entries_max: usize,
}

impl<const BITS: u32> Buckets<BITS> {
    /// The most bytes that buckets of `n` vertices take, including growing vectors and entries being moved.
    pub const fn bytes_max(n: u64) -> u64 {
        // Two entries with half an entry of room, and one that is moved with its room.
        4 * n * size_of::<VertexId>() as u64
    }

    /// Inserts each vertex of `0..n` for which `priority` returns one.
    ///
    /// # Errors
    /// [`Stop::Cancelled`].
    pub fn new(
        run: &Run,
        n: usize,
        order: BucketOrder,
        priority: impl Fn(VertexId) -> Option<u64> + Sync,
    ) -> Result<Self, Stop> {
        let flip = if order == BucketOrder::Increasing { 0 } else { u64::MAX };
        let mut slots = Vec::new();
        slots.resize_with((u64::BITS.div_ceil(BITS) << BITS) as usize, Vec::new);
        let layout = BucketLayout { flip, base: 0 };
        let mut buckets = Self { layout, slots, entries: 0, entries_max: 2 * n };
        buckets.enter(run, n, |i| {
            let v = vertex(i);
            priority(v).map(|priority| (v, priority))
        })?;
        Ok(buckets)
    }

    /// The current mapping from priorities to buckets, valid until the next bucket is taken.
    pub fn layout(&self) -> BucketLayout<BITS> {
        self.layout
    }

    /// Number of entries, dead ones included.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.entries
    }

    /// Inserts each vertex of `moved` once: vertices whose priority now maps to another bucket, or that had
    /// no priority.
    ///
    /// # Errors
    /// [`Stop::Cancelled`].
    pub fn insert(
        &mut self,
        run: &Run,
        moved: &[VertexId],
        priority: impl Fn(VertexId) -> Option<u64> + Sync,
    ) -> Result<(), Stop> {
        if self.entries + moved.len() > self.entries_max {
            self.pack(&priority);
        }
        self.enter(run, moved.len(), |i| priority(moved[i]).map(|priority| (moved[i], priority)))
    }

    /// Removes and returns the next non-empty bucket: its priority and the vertices that have it.
    ///
    /// # Errors
    /// [`Stop::Cancelled`].
    pub fn next(
        &mut self,
        run: &Run,
        priority: impl Fn(VertexId) -> Option<u64> + Sync,
    ) -> Result<Option<(u64, Vec<VertexId>)>, Stop> {
        loop {
            let Some(slot) = self.slots.iter().position(|list| !list.is_empty()) else { return Ok(None) };
            let list = std::mem::take(&mut self.slots[slot]);
            self.entries -= list.len();
            let before = self.layout;
            let lives = |v| priority(v).is_some_and(|priority| before.slot(priority) == slot);
            let list = retain(run, list, lives)?;
            let shift = (slot >> BITS) as u32 * BITS;
            let above = self.layout.base.checked_shr(shift + BITS).unwrap_or(0);
            let above = above.checked_shl(shift + BITS).unwrap_or(0);
            if list.is_empty() {
                continue;
            }
            self.layout.base = above | ((slot & ((1 << BITS) - 1)) as u64) << shift;
            if shift == 0 {
                return Ok(Some((self.layout.base ^ self.layout.flip, list)));
            }
            self.enter(run, list.len(), |i| priority(list[i]).map(|priority| (list[i], priority)))?;
        }
    }

    /// Inserts what `item` returns for each of `0..len`.
    fn enter(
        &mut self,
        run: &Run,
        len: usize,
        item: impl Fn(usize) -> Option<(VertexId, u64)> + Sync,
    ) -> Result<(), Stop> {
        let layout = self.layout;
        if len < SERIAL_LEN_MAX || run.threads() == 1 {
            for (v, priority) in (0..len).filter_map(item) {
                push(&mut self.slots[layout.slot(priority)], v);
                self.entries += 1;
            }
            return Ok(());
        }
        let num_slots = self.slots.len();
        let found = run.share_ranges::<Vec<Vec<VertexId>>, Stop>(
            len,
            GRAIN,
            || vec![Vec::new(); num_slots],
            |slots, range| {
                for (v, priority) in range.filter_map(&item) {
                    push(&mut slots[layout.slot(priority)], v);
                }
                Ok(())
            },
        )?;
        for slots in found {
            for (slot, mut list) in self.slots.iter_mut().zip(slots) {
                self.entries += list.len();
                if slot.is_empty() {
                    *slot = list;
                } else {
                    if slot.capacity() - slot.len() < list.len() {
                        slot.reserve_exact(list.len().max(slot.len() / GROWTH));
                    }
                    slot.append(&mut list);
                }
            }
        }
        Ok(())
    }

    /// Removes all dead entries.
    fn pack(&mut self, priority: &impl Fn(VertexId) -> Option<u64>) {
        let layout = self.layout;
        self.entries = 0;
        for (slot, list) in self.slots.iter_mut().enumerate() {
            list.retain(|&v| priority(v).is_some_and(|priority| layout.slot(priority) == slot));
            list.shrink_to(list.len() + list.len() / GROWTH);
            self.entries += list.len();
        }
    }
}

/// Appends to a vector that grows in small steps.
#[inline(always)]
fn push(list: &mut Vec<VertexId>, v: VertexId) {
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / GROWTH).max(8));
    }
    list.push(v);
}

/// The members of `list` for which `keep` is true.
fn retain(
    run: &Run,
    mut list: Vec<VertexId>,
    keep: impl Fn(VertexId) -> bool + Sync,
) -> Result<Vec<VertexId>, Stop> {
    if list.len() < SERIAL_LEN_MAX || run.threads() == 1 {
        list.retain(|&v| keep(v));
        return Ok(list);
    }
    let kept = run.share_ranges::<Vec<VertexId>, Stop>(list.len(), GRAIN, Vec::new, |kept, range| {
        list[range].iter().copied().filter(|&v| keep(v)).for_each(|v| push(kept, v));
        Ok(())
    })?;
    drop(list);
    Ok(super::neighbours::concat(kept))
}

#[cfg(test)]
mod tests {
    use esker_graph::random::Random;

    use super::*;

    /// Moves random vertices as an algorithm might, and compares each bucket with a search of all priorities.
    fn check<const BITS: u32>(order: BucketOrder, seed: u64, spread: u32, threads: usize) {
        let mut random = Random::new(seed);
        let n = if threads > 1 { 20_000 } else { 200 };
        let run = Run::with_threads(threads).expect("threads start");
        let scale = 1u64 << spread;
        let mut priorities: Vec<Option<u64>> =
            (0..n).map(|_| (random.below(8) > 0).then(|| random.below(scale))).collect();
        let mut buckets =
            Buckets::<BITS>::new(&run, n, order, |v| priorities[v as usize]).expect("not cancelled");
        let mut last = None;
        let mut most = 0;
        while let Some((at, mut list)) =
            buckets.next(&run, |v| priorities[v as usize]).expect("not cancelled")
        {
            let first = |a: u64, b: u64| if order == BucketOrder::Increasing { a.min(b) } else { a.max(b) };
            assert_eq!(priorities.iter().flatten().copied().reduce(first), Some(at));
            assert!(last.is_none_or(|last| first(last, at) == last), "{last:?} before {at}");
            last = Some(at);
            list.sort_unstable();
            let expected: Vec<_> = (0..n).filter(|&v| priorities[v] == Some(at)).map(vertex).collect();
            assert_eq!(list, expected);
            list.iter().for_each(|&v| priorities[v as usize] = None);
            let layout = buckets.layout();
            let mut moved = Vec::new();
            for _ in 0..n / 8 {
                let v = random.index(n);
                let nearer = priorities[v].map(|p| (p.min(at) + random.below(p.abs_diff(at) + 1), p));
                if let Some((new, old)) = nearer
                    && !moved.contains(&vertex(v))
                {
                    priorities[v] = Some(new);
                    if layout.leaves(old, new) {
                        moved.push(vertex(v));
                    }
                }
            }
            buckets.insert(&run, &moved, |v| priorities[v as usize]).expect("not cancelled");
            most = most.max(buckets.len());
            assert!(buckets.len() <= 2 * n);
            // Each bucket may begin with room for a few.
            let room: usize = buckets.slots.iter().map(Vec::capacity).sum();
            assert!(room <= buckets.len() + buckets.len() / GROWTH + 8 * buckets.slots.len());
        }
        assert_eq!(priorities, vec![None; n]);
        assert!(most > n / 4 || spread < 9, "{most} entries of {n} vertices");
    }

    #[test]
    fn buckets_come_in_order_while_priorities_change() {
        for seed in 0..20 {
            for order in [BucketOrder::Increasing, BucketOrder::Decreasing] {
                for spread in [0, 3, 9, 30, 63] {
                    check::<1>(order, seed, spread, 1);
                    check::<3>(order, seed, spread, 1);
                    check::<8>(order, seed, spread, 1);
                }
            }
        }
        check::<1>(BucketOrder::Increasing, 5, 6, 2);
        check::<8>(BucketOrder::Decreasing, 5, 6, 2);
    }
}
