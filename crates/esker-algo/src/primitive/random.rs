//! Counter-based random numbers: the number for a vertex or an edge depends only on the seed, the purpose and
//! its index, so results are the same for any number of threads.
//!
//! SplitMix64 [1] with D. Stafford's mixer, variant 13.
//!
//! [1] G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A 64-bit bijection in which every input bit affects every output bit.
#[inline(always)]
const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The random numbers of one seed for one purpose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CounterRng(u64);

impl CounterRng {
    /// Different purposes get unrelated numbers from the same seed.
    pub(crate) const fn new(seed: u64, purpose: u64) -> Self {
        Self(mix(mix(seed.wrapping_add(GOLDEN)) ^ purpose.wrapping_mul(0xd605_bbb5_8c8a_bbfd)))
    }

    /// The 64 random bits of index `number`.
    #[inline(always)]
    pub(crate) const fn at(self, number: u64) -> u64 {
        mix(self.0.wrapping_add(number.wrapping_mul(GOLDEN)))
    }
}
