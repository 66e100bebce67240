//! Random numbers of the fuzzer: SplitMix64, so that a seed and a number reproduce a case.

/// A generator.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// The generator of case `number` under `seed`.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        let mut random = Self(seed ^ number.wrapping_mul(0xd605_bbb5_8c8a_bbfd));
        random.next();
        random
    }

    /// 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number in `0..bound`; 0 if the bound is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// One of several.
    pub(crate) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// A range within `0..len`, of at most `len_max`.
    pub(crate) fn range(&mut self, len: usize, len_max: usize) -> std::ops::Range<usize> {
        let start = self.below(len + 1);
        let count = self.below(len_max.min(len - start) + 1);
        start..start + count
    }
}
