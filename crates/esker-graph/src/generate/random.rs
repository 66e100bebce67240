//! Counter-based random numbers: the numbers for an edge depend only on the seed and the edge's index.
//!
//! The generator is SplitMix64 [1]: a counter that steps by the golden ratio, followed by a 64-bit mixer. A
//! [`RandomKey`] mixes seed, purpose and index into the start of the counter, so any edge can be made without
//! those before it.
//!
//! [1] G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014; the
//! mixer's constants are D. Stafford's variant 13.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Stafford's mixer: a 64-bit bijection in which every input bit affects every output bit.
#[inline(always)]
pub(super) const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Scales `bits` from `0..2^64` to `0..bound`. `bound` must be at least 1; the bias is below `bound / 2^64`.
#[inline(always)]
pub(super) const fn scale(bits: u64, bound: u64) -> u64 {
    ((bits as u128 * bound as u128) >> 64) as u64
}

/// A number in `[0, 1)` from the upper 53 bits.
#[inline(always)]
pub(super) const fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// The random numbers of one seed for one purpose.
#[derive(Debug, Clone, Copy)]
pub(super) struct RandomKey(u64);

impl RandomKey {
    /// The key of `seed` for a purpose. Different purposes of one seed get unrelated numbers.
    pub(super) const fn new(seed: u64, purpose: u64) -> Self {
        Self(mix(mix(seed.wrapping_add(GOLDEN)) ^ purpose.wrapping_mul(0xd605_bbb5_8c8a_bbfd)))
    }

    /// The first number of [`RandomKey::sequence`].
    #[inline(always)]
    pub(super) const fn at(self, number: u64) -> u64 {
        mix(mix(self.0.wrapping_add(number.wrapping_mul(GOLDEN))).wrapping_add(GOLDEN))
    }

    /// The sequence of random numbers of index `number`.
    #[inline(always)]
    pub(super) const fn sequence(self, number: u64) -> RandomSequence {
        RandomSequence(mix(self.0.wrapping_add(number.wrapping_mul(GOLDEN))))
    }
}

/// A sequence of random numbers.
#[derive(Debug, Clone)]
pub(super) struct RandomSequence(u64);

impl RandomSequence {
    /// The next 64 random bits.
    #[inline(always)]
    pub(super) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_same_alone_and_in_its_sequence() {
        let key = RandomKey::new(7, 1);
        assert_eq!(key.at(12), key.sequence(12).next());
        assert_ne!(key.at(12), key.at(13));
        assert_ne!(key.at(12), RandomKey::new(8, 1).at(12));
        assert_ne!(key.at(12), RandomKey::new(7, 2).at(12));
    }

    #[test]
    fn bits_are_balanced_along_and_across_sequences() {
        let key = RandomKey::new(1, 0);
        let mut along = key.sequence(0);
        for bits in
            [(0..10_000).map(|i| key.at(i)).collect::<Vec<_>>(), (0..10_000).map(|_| along.next()).collect()]
        {
            for bit in 0..64 {
                let ones = bits.iter().filter(|&x| x >> bit & 1 == 1).count();
                // Five standard deviations.
                assert!((4750..5250).contains(&ones), "bit {bit}: {ones} of 10000");
            }
        }
    }

    #[test]
    fn scaling_reaches_both_ends() {
        assert_eq!(scale(0, 10), 0);
        assert_eq!(scale(u64::MAX, 10), 9);
        assert_eq!(scale(u64::MAX, 1), 0);
        assert!(unit(u64::MAX) < 1.0);
    }
}
