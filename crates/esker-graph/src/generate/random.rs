//! Random numbers by counter: what is drawn for an edge depends on the seed and the edge's number alone.
//!
//! The generator is SplitMix64 [1]: a counter that steps by the golden ratio, through a mixer of 64 bits. A
//! [`Key`] mixes seed, purpose and number into the counter's start, so any edge is made without those before it.
//!
//! [1] G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014; the mixer's
//! constants are D. Stafford's variant 13.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Stafford's mixer: a bijection of 64 bits in which every input bit reaches every output bit.
#[inline(always)]
pub(super) const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The number in `0..bound` that lies where `bits` lies in `0..2^64`. `bound` is at least 1; the bias is below
/// `bound / 2^64`.
#[inline(always)]
pub(super) const fn scale(bits: u64, bound: u64) -> u64 {
    ((bits as u128 * bound as u128) >> 64) as u64
}

/// The number in `[0, 1)` made of the upper 53 of `bits`.
#[inline(always)]
pub(super) const fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A seed for one purpose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key(u64);

impl Key {
    /// The key of `seed` for a purpose. Different purposes of one seed draw unrelated numbers.
    pub(super) const fn new(seed: u64, purpose: u64) -> Self {
        Self(mix(mix(seed.wrapping_add(GOLDEN)) ^ purpose.wrapping_mul(0xd605_bbb5_8c8a_bbfd)))
    }

    /// The first number of [`Key::draws`].
    #[inline(always)]
    pub(super) const fn at(self, number: u64) -> u64 {
        mix(mix(self.0.wrapping_add(number.wrapping_mul(GOLDEN))).wrapping_add(GOLDEN))
    }

    /// The sequence of numbers that belongs to `number`.
    #[inline(always)]
    pub(super) const fn draws(self, number: u64) -> Draws {
        Draws(mix(self.0.wrapping_add(number.wrapping_mul(GOLDEN))))
    }
}

/// A sequence of random numbers.
#[derive(Debug, Clone)]
pub(super) struct Draws(u64);

impl Draws {
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
        let key = Key::new(7, 1);
        assert_eq!(key.at(12), key.draws(12).next());
        assert_ne!(key.at(12), key.at(13));
        assert_ne!(key.at(12), Key::new(8, 1).at(12));
        assert_ne!(key.at(12), Key::new(7, 2).at(12));
    }

    #[test]
    fn bits_are_balanced_along_and_across_sequences() {
        let key = Key::new(1, 0);
        let mut along = key.draws(0);
        for bits in
            [(0..10_000).map(|i| key.at(i)).collect::<Vec<_>>(), (0..10_000).map(|_| along.next()).collect()]
        {
            for bit in 0..64 {
                let ones = bits.iter().filter(|&x| x >> bit & 1 == 1).count();
                assert!((4750..5250).contains(&ones), "bit {bit}: {ones} of 10000"); // five standard deviations
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
