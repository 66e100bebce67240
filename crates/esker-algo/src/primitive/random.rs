//! Random numbers by counter: what is drawn for a vertex or an edge depends on the seed, the purpose and its number
//! alone, so draws are the same for any number of threads.
//!
//! SplitMix64 [1] with D. Stafford's mixer, variant 13.
//!
//! [1] G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijection of 64 bits in which every input bit reaches every output bit.
#[inline(always)]
const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Draws for one purpose from one seed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draws(u64);

impl Draws {
    /// Different purposes of one seed draw unrelated numbers.
    pub(crate) const fn new(seed: u64, purpose: u64) -> Self {
        Self(mix(mix(seed.wrapping_add(GOLDEN)) ^ purpose.wrapping_mul(0xd605_bbb5_8c8a_bbfd)))
    }

    /// The 64 random bits that belong to `number`.
    #[inline(always)]
    pub(crate) const fn at(self, number: u64) -> u64 {
        mix(self.0.wrapping_add(number.wrapping_mul(GOLDEN)))
    }
}
