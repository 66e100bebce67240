//! Numbers in blocks of 32. All numbers of a block have as many bits as its largest one needs.
//!
//! A block is a byte with the width (0 to 32), then the numbers, the first in the lowest bits. A last block
//! of fewer than 32 numbers ends with the last byte that they fill. Work: about five instructions per number,
//! without branches that depend on the data.

use crate::tiles::codings::vector::{BLOCK_LEN, BODY_BYTES_MAX, sums_by_sixteen};

fn width_of(block: &[u32]) -> u32 {
    32 - block.iter().fold(0, |all, &number| all | number).leading_zeros()
}

fn body_bytes(len: usize, width: usize) -> usize {
    (len * width).div_ceil(8)
}

/// Bytes of the code of some numbers.
pub(crate) fn packed_bytes(numbers: &[u32]) -> usize {
    numbers.chunks(BLOCK_LEN).map(|block| 1 + body_bytes(block.len(), width_of(block) as usize)).sum()
}

/// Appends numbers.
pub(crate) fn pack(numbers: &[u32], out: &mut Vec<u8>) {
    for block in numbers.chunks(BLOCK_LEN) {
        let width = width_of(block);
        out.push(width as u8);
        let (mut bits, mut filled) = (0u64, 0);
        for &number in block {
            bits |= u64::from(number) << filled;
            filled += width;
            if filled >= 32 {
                out.extend_from_slice(&(bits as u32).to_le_bytes());
                bits >>= 32;
                filled -= 32;
            }
        }
        out.extend_from_slice(&bits.to_le_bytes()[..filled.div_ceil(8) as usize]);
    }
}

/// Replaces the numbers of a block by their running sums from `start`. Returns the last sum; `None` if it
/// exceeds 32 bits.
fn add_up(numbers: &mut [u32; BLOCK_LEN], start: u32) -> Option<u32> {
    let mut sum = u64::from(start);
    for number in numbers {
        sum += u64::from(*number);
        *number = sum as u32;
    }
    u32::try_from(sum).ok()
}

/// Reads the block of `len` numbers at the start of `bytes` and writes their running sums from `start`; past
/// `len` the sums do not change. Returns the last sum and the bytes read; `None` if the block is incomplete
/// or a sum exceeds 32 bits.
pub(crate) fn unpack_sums(
    bytes: &[u8],
    len: usize,
    start: u32,
    sums: &mut [u32; BLOCK_LEN],
) -> Option<(u32, usize)> {
    let (&width, body) = bytes.split_first()?;
    let needed = body_bytes(len, usize::from(width));
    if width > 32 || body.len() < needed {
        return None;
    }
    let last = match body.first_chunk::<{ BODY_BYTES_MAX + 8 }>() {
        Some(body) if len == BLOCK_LEN => unpack_whole(body, u32::from(width), start, sums)?,
        _ => {
            let mut padded = [0; BODY_BYTES_MAX + 8];
            padded[..needed].copy_from_slice(&body[..needed]);
            unpack_whole(&padded, u32::from(width), start, sums)?
        }
    };
    Some((last, 1 + needed))
}

/// Decodes a block. `body` has the size of the largest block and 8 bytes more, because words of 8 bytes are
/// read.
#[inline]
fn unpack_whole(
    body: &[u8; BODY_BYTES_MAX + 8],
    width: u32,
    start: u32,
    sums: &mut [u32; BLOCK_LEN],
) -> Option<u32> {
    if let Some(last) = sums_by_sixteen(body, width, start, sums) {
        return last;
    }
    unpack_portably(body, width, sums);
    add_up(sums, start)
}

fn unpack_portably(body: &[u8; BODY_BYTES_MAX + 8], width: u32, numbers: &mut [u32; BLOCK_LEN]) {
    let mask = ((1u64 << width) - 1) as u32;
    for (k, number) in numbers.iter_mut().enumerate() {
        let bit = k * width as usize;
        // At most bit 31 * 32, so the eight bytes lie within.
        let word = body[bit / 8..].first_chunk::<8>().map_or(0, |word| u64::from_le_bytes(*word));
        *number = (word >> (bit % 8)) as u32 & mask;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unpacked(bytes: &[u8], len: usize) -> Option<Vec<u32>> {
        let (mut at, mut last, mut all) = (0, 0, Vec::new());
        while all.len() < len {
            let count = BLOCK_LEN.min(len - all.len());
            let mut sums = [0; BLOCK_LEN];
            let (sum, read) = unpack_sums(&bytes[at..], count, last, &mut sums)?;
            (last, at) = (sum, at + read);
            all.extend_from_slice(&sums[..count]);
        }
        Some(all)
    }

    proptest! {
        #![proptest_config(esker_format::testing::cases(200))]
        #[test]
        fn sums_of_what_is_packed(
            gaps in prop::collection::vec((0..33u32, any::<u32>()), 0..200), follows in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut room = u32::MAX;
            let gaps: Vec<u32> = gaps.into_iter().map(|(bits, gap)| {
                let gap = ((u64::from(gap) & ((1u64 << bits) - 1)) as u32).min(room / 3);
                room -= gap;
                gap
            }).collect();
            let mut bytes = Vec::new();
            pack(&gaps, &mut bytes);
            prop_assert_eq!(bytes.len(), packed_bytes(&gaps));
            bytes.extend(follows);
            let sums = gaps.iter().scan(0u32, |sum, gap| { *sum += gap; Some(*sum) }).collect::<Vec<_>>();
            prop_assert_eq!(unpacked(&bytes, gaps.len()), Some(sums));
        }

        #[test]
        fn both_paths_give_the_same(body in prop::collection::vec(any::<u8>(), BODY_BYTES_MAX + 8), width in 0..33u32, start: u32) {
            let body = body.first_chunk().unwrap();
            let (mut fast, mut slow) = ([0; BLOCK_LEN], [0; BLOCK_LEN]);
            unpack_portably(body, width, &mut slow);
            let last = add_up(&mut slow, start);
            prop_assert_eq!(unpack_whole(body, width, start, &mut fast), last);
            prop_assert!(last.is_none() || fast == slow);
        }
    }

    #[test]
    fn what_is_cut_off_or_too_wide_is_noticed() {
        let mut bytes = Vec::new();
        pack(&[1000; 40], &mut bytes);
        for end in 0..bytes.len() {
            assert_eq!(unpacked(&bytes[..end], 40), None);
        }
        bytes[0] = 33;
        bytes.resize(1000, 0);
        assert_eq!(unpacked(&bytes, 32), None);
    }
}
