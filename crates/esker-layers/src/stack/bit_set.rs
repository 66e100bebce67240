//! A set of slots or vertices, one bit each.

/// A set over `0..len`, changed only by its owner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BitSet(Vec<u64>);

impl BitSet {
    /// An empty set over `0..len`.
    pub(crate) fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)])
    }

    /// Whether `index` is in the set; `false` beyond the set's length.
    #[inline(always)]
    pub(crate) fn has(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// Inserts `index`.
    pub(crate) fn insert(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    /// Removes `index`.
    pub(crate) fn remove(&mut self, index: usize) {
        if let Some(word) = self.0.get_mut(index / 64) {
            *word &= !(1 << (index % 64));
        }
    }

    /// Extends the set to `0..len`.
    pub(crate) fn grow(&mut self, len: usize) {
        self.0.resize(len.div_ceil(64).max(self.0.len()), 0);
    }

    /// Whether a 64-bit word that overlaps the range is not 0. If not, the range has no members.
    pub(crate) fn near(&self, start: usize, end: usize) -> bool {
        let last = end.div_ceil(64).min(self.0.len());
        self.0.get(start / 64..last).is_some_and(|words| words.iter().any(|&word| word != 0))
    }

    /// The number of members in the 64-bit words that overlap the range.
    pub(crate) fn count_near(&self, start: usize, end: usize) -> usize {
        let last = end.div_ceil(64).min(self.0.len());
        self.0.get(start / 64..last).unwrap_or(&[]).iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The members in a range, ascending.
    pub(crate) fn iter_range(&self, start: usize, end: usize) -> impl Iterator<Item = usize> + '_ {
        let last = end.div_ceil(64).min(self.0.len());
        (start / 64..last).flat_map(move |index| {
            let mut word = self.0[index];
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros() as usize;
                    word &= word - 1;
                    index * 64 + bit
                })
            })
            .filter(move |&member| member >= start && member < end)
        })
    }

    /// The 64 members from `64 * index` on, a bit each.
    #[inline(always)]
    pub(crate) fn word(&self, index: usize) -> u64 {
        self.0.get(index).copied().unwrap_or(0)
    }
}
