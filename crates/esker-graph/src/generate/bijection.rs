//! A pseudo-random permutation of `0..len` that takes no memory.
//!
//! Rounds of an odd multiplication, an addition and a shift-xor permute the range up to the next power of
//! two. A value outside `0..len` is permuted again until it is inside ("cycle walking" [1]), at most twice on
//! average.
//!
//! [1] J. Black, P. Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002, section 3.

use crate::random::RandomKey;

const ROUNDS: usize = 4;

/// A permutation of `0..len`.
#[derive(Debug, Clone)]
pub(super) struct Bijection {
    len: u64,
    mask: u64,
    shift: u32,
    rounds: [(u64, u64); ROUNDS],
}

impl Bijection {
    /// The permutation selected by the key.
    pub(super) fn new(len: u64, key: RandomKey) -> Self {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        let mask = if bits == 0 { 0 } else { u64::MAX >> (u64::BITS - bits) };
        let mut draws = key.sequence(len);
        let rounds = std::array::from_fn(|_| (draws.next_u64() | 1, draws.next_u64()));
        Self { len, mask, shift: bits.div_ceil(2).max(1), rounds }
    }

    /// The image of `x`, which must be below the length.
    #[inline(always)]
    pub(super) fn apply(&self, mut x: u64) -> u64 {
        debug_assert!(x < self.len);
        loop {
            for (factor, term) in self.rounds {
                x = x.wrapping_mul(factor).wrapping_add(term) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.len {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_hit_once() {
        for len in (1..70).chain([1000, 1024, 1025, 4097]) {
            let bijection = Bijection::new(len, RandomKey::new(len, 3));
            let mut hit = vec![false; len as usize];
            for x in 0..len {
                let image = bijection.apply(x) as usize;
                assert!(!hit[image], "{image} twice in 0..{len}");
                hit[image] = true;
            }
        }
    }

    #[test]
    fn the_image_of_a_short_range_is_spread_evenly() {
        let (len, cells, count) = ((1u64 << 40) - 12_345, 100, 100_000);
        let bijection = Bijection::new(len, RandomKey::new(5, 3));
        let mut cell = vec![0usize; cells];
        for x in 0..count {
            cell[(bijection.apply(x) / (len / cells as u64)).min(cells as u64 - 1) as usize] += 1;
        }
        for (i, &hits) in cell.iter().enumerate() {
            assert!((800..1200).contains(&hits), "cell {i} was hit {hits} times of 1000 expected");
        }
    }
}
