//! Sums by community for one node at a time.

use esker_graph::VertexId;

/// Nodes with at most this many neighbouring communities use a small table, others an array of all.
const TABLE_LEN_MAX: usize = 1 << 15;
/// The least number of slots of a table.
const SLOTS_MIN: usize = 32;

/// Adds up weights by community. Each worker keeps one for all its nodes.
///
/// Memory: at most 16 bytes for each possible community, and 1 MiB for the table.
pub(super) struct Tally {
    bound: usize,
    is_dense: bool,
    /// One sum for each possible community, in dense form.
    dense: Vec<u64>,
    /// Open addressing with linear probing: community plus one, 0 where a slot is free, and its sum.
    slots: Vec<(VertexId, u64)>,
    mask: usize,
    /// The communities with a sum, or their slots, in the order in which they came.
    used: Vec<VertexId>,
}

impl Tally {
    /// The most bytes that a tally takes.
    pub(super) fn memory_bytes(bound: u64) -> u64 {
        let slot = size_of::<(VertexId, u64)>() as u64;
        let table = (2 * bound.min(TABLE_LEN_MAX as u64)).next_power_of_two().max(SLOTS_MIN as u64) * slot;
        let dense = if bound > TABLE_LEN_MAX as u64 { bound * 8 } else { 0 };
        table + dense + bound * size_of::<VertexId>() as u64
    }

    /// An empty tally of communities below `bound`.
    pub(super) fn new(bound: usize) -> Self {
        let (dense, slots, used) = (Vec::new(), Vec::new(), Vec::new());
        Self { bound, is_dense: false, dense, slots, mask: 0, used }
    }

    /// Prepares for at most `len` additions. The tally must be empty.
    pub(super) fn prepare(&mut self, len: usize) {
        let len = len.min(self.bound);
        self.is_dense = len > TABLE_LEN_MAX;
        if self.is_dense {
            self.dense.resize(self.bound, 0);
            return;
        }
        let capacity = (2 * len).next_power_of_two().max(SLOTS_MIN);
        if self.slots.len() < capacity {
            self.slots.resize(capacity, (0, 0));
        }
        self.mask = capacity - 1;
    }

    /// Adds to the sum of a community.
    #[inline(always)]
    pub(super) fn add(&mut self, community: VertexId, weight: u64) {
        if self.is_dense {
            let sum = &mut self.dense[community as usize];
            if *sum == 0 && weight > 0 {
                self.used.push(community);
            }
            *sum += weight;
            return;
        }
        let mut slot = self.first_slot(community);
        loop {
            let (key, sum) = &mut self.slots[slot];
            if *key == community + 1 {
                *sum += weight;
                return;
            }
            if *key == 0 {
                (*key, *sum) = (community + 1, weight);
                self.used.push(slot as VertexId);
                return;
            }
            slot = (slot + 1) & self.mask;
        }
    }

    #[inline(always)]
    fn first_slot(&self, community: VertexId) -> usize {
        (u64::from(community).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & self.mask
    }

    /// Calls `f` with each community that has a sum, and empties the tally.
    #[inline(always)]
    pub(super) fn drain(&mut self, mut f: impl FnMut(VertexId, u64)) {
        for &at in &self.used {
            if self.is_dense {
                f(at, std::mem::take(&mut self.dense[at as usize]));
            } else {
                let (key, sum) = std::mem::take(&mut self.slots[at as usize]);
                f(key - 1, sum);
            }
        }
        self.used.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use esker_graph::random::Random;

    use super::*;

    #[test]
    fn both_forms_add_up_by_community() {
        let mut random = Random::new(3);
        let bound = 4 * TABLE_LEN_MAX;
        let mut tally = Tally::new(bound);
        for len in [0, 1, 5, 100, 3000, TABLE_LEN_MAX, 2 * TABLE_LEN_MAX] {
            for spread in [1, 40, bound] {
                tally.prepare(len);
                let mut expected = BTreeMap::new();
                for _ in 0..len {
                    let (community, weight) = (random.index(spread) as VertexId, 1 + random.below(9));
                    tally.add(community, weight);
                    *expected.entry(community).or_insert(0) += weight;
                }
                let mut found = BTreeMap::new();
                tally.drain(|community, sum| assert_eq!(found.insert(community, sum), None));
                assert_eq!(found, expected);
            }
        }
    }
}
