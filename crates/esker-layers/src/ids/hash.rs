//! The hash of external ids. It is part of the file format: indexes on the disk are sorted by it.
//!
//! Integers: SplitMix64 [1], a bijection, so two integers never share a hash. Texts: little-endian words of eight bytes,
//! the last padded with zeros, folded one after another:
//!
//! ```text
//! fold(a, b) = low 64 bits of (a * b)  xor  high 64 bits of (a * b)        (a 128-bit product)
//! h = K0 + K1 * length   (modulo 2^64)
//! h = fold(h xor word, K1)   for each word
//! hash = fold(h xor K2, K0)
//! ```
//!
//! with K0 = 9e3779b97f4a7c15, K1 = d1b54a32d192ed03, K2 = 8cb92ba72f3d8dd7 (hexadecimal). Both hashes spread their input
//! over all bits, so the leading bits serve as bucket number and the bits after them as tag.
//!
//! [1] G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

const K0: u64 = 0x9e37_79b9_7f4a_7c15;
const K1: u64 = 0xd1b5_4a32_d192_ed03;
const K2: u64 = 0x8cb9_2ba7_2f3d_8dd7;

/// The hash of an integer id.
#[inline(always)]
pub fn hash_int(id: u64) -> u64 {
    let z = id.wrapping_add(K0);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The hash of a text id.
#[inline]
pub fn hash_text(text: &[u8]) -> u64 {
    let mut h = K0.wrapping_add(K1.wrapping_mul(text.len() as u64));
    let (words, tail) = text.as_chunks::<8>();
    for word in words {
        h = fold(h ^ u64::from_le_bytes(*word), K1);
    }
    if !tail.is_empty() {
        h = fold(h ^ tail_word(text, tail), K1);
    }
    fold(h ^ K2, K0)
}

/// The last, incomplete word of `text`, padded with zeros. Uses one or two loads where possible.
#[inline(always)]
fn tail_word(text: &[u8], tail: &[u8]) -> u64 {
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

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A direct implementation of the definition in the format.
    fn hash_text_plain(text: &[u8]) -> u64 {
        let mut h = K0.wrapping_add(K1.wrapping_mul(text.len() as u64));
        for chunk in text.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            h = fold(h ^ u64::from_le_bytes(word), K1);
        }
        fold(h ^ K2, K0)
    }

    #[test]
    fn texts_of_every_length_hash_as_defined() {
        let text: Vec<u8> = (0..100u8).map(|i| i.wrapping_mul(37).wrapping_add(11)).collect();
        for len in 0..text.len() {
            assert_eq!(hash_text(&text[..len]), hash_text_plain(&text[..len]), "length {len}");
        }
    }

    #[test]
    fn hashes_equal_the_values_in_the_format() {
        assert_eq!(hash_int(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(hash_int(1), 0x910a_2dec_8902_5cc1);
        assert_eq!(hash_text(b""), 0xcbb5_4a56_c214_3120);
        assert_eq!(hash_text(b"alice"), 0x75a3_b093_3279_83f6);
        assert_eq!(hash_text(b"a longer text id"), 0x4e9d_3ff6_4976_4176);
    }

    #[test]
    fn texts_that_differ_in_trailing_zeros_have_different_hashes() {
        let zeros = [0; 40];
        let mut hashes: Vec<u64> = (0..40).map(|len| hash_text(&zeros[..len])).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 40);
    }

    #[test]
    fn leading_bits_are_spread_evenly() {
        let mut ints = [0u32; 256];
        let mut texts = [0u32; 256];
        for i in 0..256_000u64 {
            ints[(hash_int(i) >> 56) as usize] += 1;
            texts[(hash_text(i.to_string().as_bytes()) >> 56) as usize] += 1;
        }
        for counts in [ints, texts] {
            let furthest = counts.iter().map(|c| c.abs_diff(1000)).max();
            assert!(
                furthest < Some(160),
                "a count deviates by {furthest:?}; five standard deviations are 158"
            );
        }
    }
}
