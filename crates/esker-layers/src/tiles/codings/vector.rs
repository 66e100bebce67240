//! Decodes packed numbers and finds the rows of positions sixteen at a time, with AVX-512 (VBMI): two
//! instructions per number.
#![allow(unsafe_code)] // Vector instructions that the compiler does not make of the loop by itself.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_and_si512, _mm512_cmpeq_epi32_mask, _mm512_cmplt_epu32_mask,
    _mm512_cmpneq_epi32_mask, _mm512_loadu_si512, _mm512_maskz_compress_epi32,
    _mm512_maskz_permutexvar_epi32, _mm512_permutexvar_epi8, _mm512_permutexvar_epi32, _mm512_set1_epi32,
    _mm512_srli_epi32, _mm512_srlv_epi32, _mm512_storeu_si512,
};

#[cfg(target_arch = "x86_64")]
use crate::tiles::strip::STRIP_BITS;

/// Numbers in a block.
pub(crate) const BLOCK_LEN: usize = 32;
/// Bytes of the largest block without the byte of its width.
pub(crate) const BODY_BYTES_MAX: usize = BLOCK_LEN * 4;
/// Wider numbers do not fit four bytes after the shift to their first bit.
#[cfg(target_arch = "x86_64")]
const WIDTH_MAX: u32 = 25;

/// For each width and each of sixteen numbers: the first of its four bytes, and its shift.
#[cfg(target_arch = "x86_64")]
struct BytePlaces {
    bytes: [u8; 64],
    shifts: [u32; 16],
}

#[cfg(target_arch = "x86_64")]
static PLACES: [BytePlaces; WIDTH_MAX as usize + 1] = places();

#[cfg(target_arch = "x86_64")]
const fn places() -> [BytePlaces; WIDTH_MAX as usize + 1] {
    let mut all = [const { BytePlaces { bytes: [0; 64], shifts: [0; 16] } }; WIDTH_MAX as usize + 1];
    let mut width = 0;
    while width < all.len() {
        let mut k = 0;
        while k < 64 {
            // The last byte of the last number may lie behind the 64 bytes read. Then none of its bits is
            // used.
            all[width].bytes[k] = ((k / 4 * width) / 8 + k % 4) as u8 & 63;
            k += 1;
        }
        let mut k = 0;
        while k < 16 {
            all[width].shifts[k] = (k * width % 8) as u32;
            k += 1;
        }
        width += 1;
    }
    all
}

/// For steps of 1, 2, 4 and 8: the lane that many lanes before each.
#[cfg(target_arch = "x86_64")]
static BEFORE: [[u32; 16]; 4] = before();

#[cfg(target_arch = "x86_64")]
const fn before() -> [[u32; 16]; 4] {
    let mut all = [[0; 16]; 4];
    let mut step = 0;
    while step < 4 {
        let mut lane = 0;
        while lane < 16 {
            all[step][lane] = (lane as u32).wrapping_sub(1 << step) & 15;
            lane += 1;
        }
        step += 1;
    }
    all
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u32; 16]) -> __m512i {
    // SAFETY: as many bytes as are read.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack_whole(
    body: &[u8; BODY_BYTES_MAX + 8],
    width: u32,
    start: u32,
    sums: &mut [u32; BLOCK_LEN],
) -> Option<u32> {
    let places = &PLACES[width as usize];
    let mask = _mm512_set1_epi32(((1u64 << width) - 1) as u32 as i32);
    // SAFETY: 64 bytes, as many as are read.
    let bytes = unsafe { _mm512_loadu_si512(places.bytes.as_ptr().cast()) };
    let shifts = load(&places.shifts);
    let steps = [load(&BEFORE[0]), load(&BEFORE[1]), load(&BEFORE[2]), load(&BEFORE[3])];
    let mut carry = _mm512_set1_epi32(start as i32);
    let mut wrapped = 0;
    for half in 0..2 {
        let body: &[u8; 64] = body[half * 2 * width as usize..].first_chunk()?;
        // SAFETY: 64 bytes, as many as are read.
        let words = unsafe { _mm512_loadu_si512(body.as_ptr().cast()) };
        let numbers = _mm512_srlv_epi32(_mm512_permutexvar_epi8(bytes, words), shifts);
        let mut sum = _mm512_and_si512(numbers, mask);
        let masks = [0xFFFE, 0xFFFC, 0xFFF0, 0xFF00];
        for (&before, kept) in steps.iter().zip(masks) {
            sum = _mm512_add_epi32(sum, _mm512_maskz_permutexvar_epi32(kept, before, sum));
        }
        // The sum of sixteen numbers of 25 bits fits 32 bits. With the carry it may overflow once; then all
        // later sums do too.
        sum = _mm512_add_epi32(sum, carry);
        wrapped |= _mm512_cmplt_epu32_mask(sum, carry);
        carry = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), sum);
        store(sum, sums[half * 16..].first_chunk_mut()?);
    }
    (wrapped == 0).then(|| sums[BLOCK_LEN - 1])
}

/// Writes the running sums of a block's numbers from `start`. Returns the last sum, or `Some(None)` if a sum
/// exceeds 32 bits. Returns `None` and writes nothing if the processor lacks the instructions or the numbers
/// are too wide.
#[inline]
pub(crate) fn sums_by_sixteen(
    body: &[u8; BODY_BYTES_MAX + 8],
    width: u32,
    start: u32,
    sums: &mut [u32; BLOCK_LEN],
) -> Option<Option<u32>> {
    #[cfg(target_arch = "x86_64")]
    if width <= WIDTH_MAX && is_x86_feature_detected!("avx512vbmi") && is_x86_feature_detected!("avx512bw") {
        // SAFETY: the processor has the instructions; AVX-512F comes with both.
        return Some(unsafe { unpack_whole(body, width, start, sums) });
    }
    let _ = (body, width, start, sums);
    None
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn store(numbers: __m512i, into: &mut [u32; 16]) {
    // SAFETY: as many bytes as are written.
    unsafe { _mm512_storeu_si512(into.as_mut_ptr().cast(), numbers) };
}

#[cfg(target_arch = "x86_64")]
static ASCENDING: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn rows_whole(positions: &[u32], rows: &mut [u32], ends: &mut [u32]) -> Option<(usize, usize)> {
    let (mut at, mut num_rows) = (1, 0);
    while let Some(now) = positions.get(at..).and_then(|rest| rest.first_chunk()) {
        let now = _mm512_srli_epi32::<STRIP_BITS>(load(now));
        let before = _mm512_srli_epi32::<STRIP_BITS>(load(positions[at - 1..].first_chunk()?));
        let begins = _mm512_cmpneq_epi32_mask(now, before);
        let places = _mm512_add_epi32(load(&ASCENDING), _mm512_set1_epi32(at as i32));
        store(_mm512_maskz_compress_epi32(begins, places), ends[num_rows..].first_chunk_mut()?);
        store(_mm512_maskz_compress_epi32(begins, now), rows[num_rows + 1..].first_chunk_mut()?);
        num_rows += begins.count_ones() as usize;
        at += 16;
    }
    Some((at, num_rows))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn find_whole(positions: &[u32], left_out: &[u32], mut at: usize, masks: &mut Vec<u16>) -> usize {
    for sixteen in positions.as_chunks().0 {
        let (numbers, end) = (load(sixteen), sixteen[15]);
        let mut out = 0;
        while let Some(&edge) = left_out.get(at).filter(|&&edge| edge <= end) {
            out |= _mm512_cmpeq_epi32_mask(numbers, _mm512_set1_epi32(edge as i32));
            at += 1;
        }
        at -= usize::from(at > 0 && left_out[at - 1] == end);
        masks.push(!out);
    }
    at
}

/// Appends a mask for each whole sixteen positions: of those that are not in `left_out`, from its index `at`
/// on. Both ascend. Returns the index of the first that may be among later positions; `None`, and nothing is
/// done, if the processor lacks the instructions.
#[inline]
pub(crate) fn find_by_sixteen(
    positions: &[u32],
    left_out: &[u32],
    at: usize,
    masks: &mut Vec<u16>,
) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the instructions.
        return Some(unsafe { find_whole(positions, left_out, at, masks) });
    }
    let _ = (positions, left_out, at, masks);
    None
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn compress_whole(numbers: &mut [u32], masks: &[u16]) -> Option<usize> {
    let (mut at, mut len) = (0, 0);
    for &mask in masks {
        if let Some(sixteen) = numbers[at..].first_chunk() {
            let kept = _mm512_maskz_compress_epi32(mask, load(sixteen));
            // Not behind the numbers read so far.
            store(kept, numbers[len..].first_chunk_mut()?);
            len += mask.count_ones() as usize;
        } else {
            for i in 0..numbers.len() - at {
                numbers[len] = numbers[at + i];
                len += usize::from(mask >> i & 1);
            }
        }
        at += 16;
    }
    Some(len)
}

/// Keeps the numbers whose bits are set, of a mask for each sixteen, at the front; returns how many. `None`,
/// and nothing is done, if the processor lacks the instructions.
#[inline]
pub(crate) fn compress_by_sixteen(numbers: &mut [u32], masks: &[u16]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the instructions.
        return unsafe { compress_whole(numbers, masks) };
    }
    let _ = (numbers, masks);
    None
}

/// Writes where rows end and which rows begin there, sixteen positions at a time. Returns the positions read
/// and the rows ended; does nothing if the processor lacks the instructions. The first row must be written
/// already, and the outputs need 16 extra elements.
#[inline]
pub(crate) fn rows_by_sixteen(
    positions: &[u32],
    rows: &mut [u32],
    ends: &mut [u32],
) -> Option<(usize, usize)> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the instructions.
        return unsafe { rows_whole(positions, rows, ends) };
    }
    let _ = (positions, rows, ends);
    None
}
