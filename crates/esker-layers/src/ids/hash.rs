//! The hash of external ids. It is part of the file format: indexes on the disk are sorted by it.
//!
//! It is keyed by the secret of the database. Without the secret no one can make an input whose ids collide;
//! looking up 40,000 such ids would take 1.6 billion comparisons.
//!
//! Texts: SipHash-1-3 [1], as in the hash maps of the standard library. Integers: SplitMix64 [2] spreads the
//! bits, and the hash is the upper half of the 128-bit number `factor * x + addend`. Factor and addend are
//! secret. If they are drawn at random, the hashes of two integers are independent [3], so they agree in any
//! `b` bits with probability 2^-b at most.
//!
//! Both hashes spread their input over all bits, so the leading bits serve as bucket number and the bits
//! after them as tag.
//!
//! [1] J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012.
//! [2] G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
//! [3] M. Dietzfelbinger, "Universal hashing and k-wise independent random variables via integer arithmetic
//!     without primes", STACS 1996.

use esker_format::IdSecret;

use super::external::ExternalId;

/// The hash function of one database.
#[derive(Clone, Copy)]
pub struct IdHasher {
    factor: u128,
    addend: u128,
    text_key: [u64; 2],
}

impl IdHasher {
    /// The hash function of a database with this secret.
    pub fn new(IdSecret(secret): IdSecret) -> Self {
        let (halves, _) = secret.as_chunks::<8>();
        let key = [0, 1].map(|half: usize| u64::from_le_bytes(halves[half]));
        let [w0, w1, w2, w3] = [0, 1, 2, 3].map(|i: u8| u128::from(sip_hash(key, &[i])));
        Self { factor: w0 | w1 << 64, addend: w2 | w3 << 64, text_key: key }
    }

    /// The hash of an integer id.
    #[inline(always)]
    pub fn integer(&self, id: u64) -> u64 {
        (self.factor.wrapping_mul(u128::from(hash_int(id))).wrapping_add(self.addend) >> 64) as u64
    }

    /// The hash of a text id.
    #[inline]
    pub fn text(&self, text: &[u8]) -> u64 {
        sip_hash(self.text_key, text)
    }

    /// The hash of an id.
    #[inline]
    pub(super) fn id(&self, id: ExternalId<'_>) -> u64 {
        match id {
            ExternalId::Int(id) => self.integer(id),
            ExternalId::Text(text) => self.text(text),
        }
    }
}

impl std::fmt::Debug for IdHasher {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IdHasher").finish_non_exhaustive()
    }
}

/// SplitMix64: a bijection that spreads an integer over all bits. Without a secret; for keys that no input
/// chooses.
#[inline(always)]
pub fn hash_int(id: u64) -> u64 {
    esker_graph::random::hash(id)
}

/// SipHash-1-3.
#[inline]
fn sip_hash([k0, k1]: [u64; 2], text: &[u8]) -> u64 {
    let mut state = [
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    let mut absorb = |word: u64| {
        state[3] ^= word;
        sip_round(&mut state);
        state[0] ^= word;
    };
    let (words, tail) = text.as_chunks::<8>();
    words.iter().for_each(|word| absorb(u64::from_le_bytes(*word)));
    absorb((text.len() as u64) << 56 | tail_word(text, tail));
    state[2] ^= 0xff;
    (0..3).for_each(|_| sip_round(&mut state));
    state[0] ^ state[1] ^ state[2] ^ state[3]
}

#[inline(always)]
fn sip_round([a, b, c, d]: &mut [u64; 4]) {
    *a = a.wrapping_add(*b);
    *c = c.wrapping_add(*d);
    *b = b.rotate_left(13) ^ *a;
    *d = d.rotate_left(16) ^ *c;
    *a = a.rotate_left(32).wrapping_add(*d);
    *c = c.wrapping_add(*b);
    *b = b.rotate_left(17) ^ *c;
    *d = d.rotate_left(21) ^ *a;
    *c = c.rotate_left(32);
}

/// The last, incomplete word of `text`, padded with zeros. Uses one or two loads where possible.
#[inline(always)]
fn tail_word(text: &[u8], tail: &[u8]) -> u64 {
    if tail.is_empty() {
        return 0;
    }
    if let Some(last) = text.last_chunk::<8>() {
        return u64::from_le_bytes(*last) >> (64 - 8 * tail.len());
    }
    match (tail.first_chunk::<4>(), tail.last_chunk::<4>()) {
        (Some(low), Some(high)) => {
            let high = u64::from(u32::from_le_bytes(*high)) << (8 * (tail.len() - 4));
            u64::from(u32::from_le_bytes(*low)) | high
        }
        _ => tail.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hasher};

    use super::*;

    const SECRET: IdSecret = IdSecret([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);

    fn hashers() -> [IdHasher; 2] {
        [SECRET, IdSecret([0; 16])].map(IdHasher::new)
    }

    fn text_of_length(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i as u8).wrapping_mul(37).wrapping_add(11)).collect()
    }

    #[test]
    fn texts_hash_as_in_the_standard_library() {
        for len in 0..100 {
            let text = text_of_length(len);
            let mut expected = DefaultHasher::new(); // SipHash-1-3 with the key 0
            expected.write(&text);
            assert_eq!(IdHasher::new(IdSecret([0; 16])).text(&text), expected.finish(), "length {len}");
        }
    }

    #[test]
    fn hashes_equal_the_values_in_the_format() {
        let keyed = IdHasher::new(SECRET);
        assert_eq!(format!("{:016x}", keyed.integer(1)), "544ab3fe0cc54e70");
        assert_eq!(format!("{:016x}", keyed.text(b"alice")), "cbfb4a035000f64a");
    }

    #[test]
    fn texts_that_differ_in_trailing_zeros_have_different_hashes() {
        let zeros = [0; 40];
        for hasher in hashers() {
            let mut hashes: Vec<u64> = (0..40).map(|len| hasher.text(&zeros[..len])).collect();
            hashes.sort_unstable();
            hashes.dedup();
            assert_eq!(hashes.len(), 40);
        }
    }

    #[test]
    fn leading_and_low_bits_are_spread_evenly() {
        for hasher in hashers() {
            let mut counts = [[0u32; 256]; 4];
            for i in 0..256_000u64 {
                let (integer, text) = (hasher.integer(i), hasher.text(i.to_string().as_bytes()));
                let ends = [integer >> 56, integer & 255, text >> 56, text & 255];
                counts.iter_mut().zip(ends).for_each(|(counts, end)| counts[end as usize] += 1);
            }
            for counts in counts {
                let furthest = counts.iter().map(|c| c.abs_diff(1000)).max();
                assert!(
                    furthest < Some(160),
                    "a count deviates by {furthest:?}; five standard deviations are 158"
                );
            }
        }
    }

    #[test]
    fn a_debug_print_does_not_tell_the_secret() {
        assert_eq!(format!("{:?} {SECRET:?}", IdHasher::new(SECRET)), "IdHasher { .. } IdSecret(..)");
    }
}
