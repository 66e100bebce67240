//! The most frequent value of a list: its mode, the smallest one on ties.

use esker_graph::{NONE, VertexId};

/// Lists of at most this many values are sorted; longer ones are counted.
const SORTED_LEN_MAX: usize = 48;
/// If a list has more than one value per this many possible values, every possible value gets its own
/// counter.
const DENSE_SHARE: usize = 8;

/// Finds the mode of ids in `0..bound`. Each worker keeps one for all its lists, so its arrays are allocated
/// once.
///
/// Memory: at most one id per possible value for counters, plus, for the longest list, at most 8 ids per
/// entry but no more than two ids per possible value.
pub(crate) struct ModeCounter {
    bound: usize,
    form: CountingForm,
    sorted: Vec<VertexId>,
    /// One counter per possible value.
    dense: Vec<VertexId>,
    /// Open addressing with linear probing: value and count; [`NONE`] marks a free slot.
    table: Vec<(VertexId, VertexId)>,
    mask: usize,
}

/// How the values of the current list are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CountingForm {
    Sorted,
    Dense,
    Table,
}

impl ModeCounter {
    /// The most bytes that a counter over `bound` values takes.
    pub(crate) fn memory_bytes(bound: u64) -> u64 {
        (bound * 3 + SORTED_LEN_MAX as u64) * size_of::<VertexId>() as u64
    }

    /// An empty counter of values below `bound`.
    pub(crate) fn new(bound: usize) -> Self {
        Self {
            bound,
            form: CountingForm::Sorted,
            sorted: Vec::new(),
            dense: Vec::new(),
            table: Vec::new(),
            mask: 0,
        }
    }

    /// Prepares for `len` values. The counter must be empty.
    pub(crate) fn prepare(&mut self, len: usize) {
        if len <= SORTED_LEN_MAX {
            self.form = CountingForm::Sorted;
        } else if len > self.bound / DENSE_SHARE {
            self.form = CountingForm::Dense;
            self.dense.resize(self.bound, 0);
        } else {
            self.form = CountingForm::Table;
            let capacity = (2 * len).next_power_of_two();
            if self.table.len() < capacity {
                self.table.resize(capacity, (NONE, 0));
            }
            self.mask = capacity - 1;
        }
    }

    /// Counts values, in total no more than were announced.
    #[inline(always)]
    pub(crate) fn extend(&mut self, values: impl Iterator<Item = VertexId>) {
        match self.form {
            CountingForm::Sorted => self.sorted.extend(values),
            CountingForm::Dense => values.for_each(|value| self.dense[value as usize] += 1),
            CountingForm::Table => self.extend_table(values),
        }
    }

    #[inline(always)]
    fn extend_table(&mut self, values: impl Iterator<Item = VertexId>) {
        let table = &mut self.table[..=self.mask];
        for value in values {
            // Fibonacci hashing: the high bits of the product are well mixed.
            let mut slot = (u64::from(value).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & self.mask;
            loop {
                let (key, count) = &mut table[slot];
                if *key == value {
                    *count += 1;
                    break;
                }
                if *key == NONE {
                    (*key, *count) = (value, 1);
                    break;
                }
                slot = (slot + 1) & self.mask;
            }
        }
    }

    /// The most frequent value, the smallest one on ties; `None` if no value was counted. Empties the
    /// counter.
    pub(crate) fn take_mode(&mut self) -> Option<VertexId> {
        match self.form {
            CountingForm::Sorted => {
                let mode = mode_of_unsorted(&mut self.sorted);
                self.sorted.clear();
                mode
            }
            CountingForm::Dense => mode(
                self.dense
                    .iter_mut()
                    .enumerate()
                    .filter(|(_, count)| **count > 0)
                    .map(|(value, count)| (esker_graph::vertex(value), std::mem::take(count))),
            ),
            CountingForm::Table => {
                let used = self.table[..=self.mask].iter_mut().filter(|(key, _)| *key != NONE);
                mode(used.map(|entry| std::mem::replace(entry, (NONE, 0))))
            }
        }
    }
}

/// The value with the highest count, the smallest one on ties.
fn mode(counts: impl Iterator<Item = (VertexId, VertexId)>) -> Option<VertexId> {
    counts.reduce(|a, b| if (b.1, a.0) > (a.1, b.0) { b } else { a }).map(|(value, _)| value)
}

/// The mode of a short list, which this sorts.
fn mode_of_unsorted(values: &mut [VertexId]) -> Option<VertexId> {
    values.sort_unstable();
    let (mut best, mut best_run, mut run) = (*values.first()?, 1, 1);
    for pair in values.windows(2) {
        run = if pair[0] == pair[1] { run + 1 } else { 1 };
        if run > best_run {
            (best, best_run) = (pair[1], run);
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use esker_graph::random::Random;

    use super::*;

    /// The mode by definition.
    fn expected(values: &[VertexId]) -> Option<VertexId> {
        let count = |value: VertexId| values.iter().filter(|&&other| other == value).count();
        values.iter().copied().max_by_key(|&value| (count(value), std::cmp::Reverse(value)))
    }

    #[test]
    fn every_form_finds_the_smallest_mode() {
        let mut random = Random::new(1);
        let mut forms = [0; 3];
        let mut counter = ModeCounter::new(2000);
        for round in 0..300 {
            let len = [0, 1, 2, 48, 49, 100, 240, 700][round % 8];
            let spread = [1, 2, 7, 100, 2000][round % 5];
            let values: Vec<_> = (0..len).map(|_| random.below(spread) as VertexId).collect();
            counter.prepare(len);
            forms[counter.form as usize] += 1;
            let (first, second) = values.split_at(len / 3);
            counter.extend(first.iter().copied());
            counter.extend(second.iter().copied());
            assert_eq!(counter.take_mode(), expected(&values), "{values:?}");
        }
        assert!(forms.iter().all(|&used| used > 30), "{forms:?}");
    }
}
