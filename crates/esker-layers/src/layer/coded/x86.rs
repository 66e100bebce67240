//! Unpacks sixteen differences at a time with AVX-512, or eight with AVX2.
//!
//! One permutation of bytes brings the differences, of any width, into lanes. They are shifted and masked
//! there, and four steps (AVX2: three) turn them into prefix sums. Every sixteenth difference begins at a
//! whole byte. A block has 63 differences, so the last group has lanes to spare: what is decoded into them is
//! overwritten by the next block, or stays in the spare room at the end of the output.
#![allow(unsafe_code)] // Uses vector instructions that the compiler does not generate from loops.

use std::arch::x86_64::{
    __m256i, __m512i, _mm_loadu_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_castsi128_si256,
    _mm256_castsi256_si128, _mm256_inserti128_si256, _mm256_loadu_si256, _mm256_permutevar8x32_epi32,
    _mm256_set1_epi32, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_si256, _mm256_srlv_epi32,
    _mm256_storeu_si256, _mm512_add_epi32, _mm512_add_epi64, _mm512_alignr_epi32, _mm512_and_si512,
    _mm512_castsi256_si512, _mm512_castsi512_si256, _mm512_cvtepi64_epi32, _mm512_cvtepu8_epi32,
    _mm512_cvtepu16_epi32, _mm512_cvtepu32_epi64, _mm512_extracti64x4_epi64, _mm512_inserti64x4,
    _mm512_loadu_si512, _mm512_permutexvar_epi8, _mm512_permutexvar_epi32, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srlv_epi32, _mm512_srlv_epi64, _mm512_storeu_si512,
};

use super::block::{self, AHEAD_BYTES, BLOCK_LEN, BlockHeader, ROOM};
use super::index::GROUP_LEN;

/// Up to this width a difference fits into four bytes, at whichever bit of the first byte it begins.
const NARROW_MAX: usize = 25;
const WIDTHS: usize = block::WIDTH_MAX + 1;

/// For each width, the bytes of each lane and the shift that follows.
struct Lanes {
    /// Sixteen lanes of four bytes, for narrow differences.
    bytes: [[u8; 64]; WIDTHS],
    shifts: [[u32; 16]; WIDTHS],
    /// Two times eight lanes of eight bytes, for wide differences.
    wide_bytes: [[[u8; 64]; 2]; WIDTHS],
    wide_shifts: [[[u64; 8]; 2]; WIDTHS],
    /// Two times four lanes of four bytes; the second half counts from the byte in which it begins.
    half_bytes: [[u8; 32]; WIDTHS],
}

static LANES: Lanes = lanes();

const fn lanes() -> Lanes {
    let mut lanes = Lanes {
        bytes: [[0; 64]; WIDTHS],
        shifts: [[0; 16]; WIDTHS],
        wide_bytes: [[[0; 64]; 2]; WIDTHS],
        wide_shifts: [[[0; 8]; 2]; WIDTHS],
        half_bytes: [[0; 32]; WIDTHS],
    };
    let mut width = 0;
    while width < WIDTHS {
        let mut lane = 0;
        while lane < 16 {
            let (byte, shift) = (lane * width / 8, lane * width % 8);
            lanes.shifts[width][lane] = shift as u32;
            lanes.wide_shifts[width][lane / 8][lane % 8] = shift as u64;
            let mut i = 0;
            while i < 8 {
                // Bytes beyond the 64 do not belong to the difference.
                lanes.wide_bytes[width][lane / 8][8 * (lane % 8) + i] = ((byte + i) % 64) as u8;
                if i < 4 {
                    lanes.bytes[width][4 * lane + i] = ((byte + i) % 64) as u8;
                }
                if i < 4 && lane < 8 {
                    let start = if lane < 4 { 0 } else { width / 2 };
                    lanes.half_bytes[width][4 * lane + i] = (byte + i - start) as u8;
                }
                i += 1;
            }
            lane += 1;
        }
        width += 1;
    }
    lanes
}

/// The bytes from the start of sixteen differences on.
#[inline(always)]
fn ahead(bytes: &[u8], at: usize) -> &[u8; AHEAD_BYTES] {
    bytes[at..].first_chunk().expect("there are bytes to read ahead")
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn decode_sixteens(
    bytes: &[u8],
    mut at: usize,
    source: u32,
    len: usize,
    out: &mut [u32],
) -> usize {
    let out = &mut out[..len + ROOM];
    let mut done = 0;
    while done < len {
        let head = BlockHeader::read(bytes, at, source);
        let remaining = (len - done).min(BLOCK_LEN) - 1;
        out[done] = head.first;
        at = head.at;
        let mask = _mm512_set1_epi32(((1_u64 << head.width) - 1) as u32 as i32);
        let mut carry = _mm512_set1_epi32(head.first as i32);
        let mut unpack = |unpacked: __m512i, first: usize| {
            let sums = sums_of_sixteen(_mm512_and_si512(unpacked, mask));
            let targets = _mm512_add_epi32(sums, carry);
            carry = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), targets);
            let into: &mut [u32; 16] = out[first..].first_chunk_mut().expect("`out` has ROOM entries more");
            // SAFETY: the pointer is that of an array of 16 ids.
            unsafe { _mm512_storeu_si512(into.as_mut_ptr().cast(), targets) };
        };
        let (first, end) = (done + 1, done + 1 + remaining);
        if head.width <= NARROW_MAX {
            let (lanes, shifts) =
                (load_bytes(&LANES.bytes[head.width]), load_shifts(&LANES.shifts[head.width]));
            for (step, first) in (first..end).step_by(16).enumerate() {
                let packed = load_bytes(ahead(bytes, at + 2 * head.width * step));
                unpack(_mm512_srlv_epi32(_mm512_permutexvar_epi8(lanes, packed), shifts), first);
            }
        } else {
            for (step, first) in (first..end).step_by(16).enumerate() {
                unpack(unpack_wide(ahead(bytes, at + 2 * head.width * step), head.width), first);
            }
        }
        at += (remaining * head.width).div_ceil(8);
        done = end;
    }
    at
}

/// Unpacks sixteen differences of more than [`NARROW_MAX`] bits. Bits of other differences remain above them.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack_wide(packed: &[u8; 64], width: usize) -> __m512i {
    let packed = load_bytes(packed);
    let [low, high] = [0, 1].map(|half| {
        let lanes = _mm512_permutexvar_epi8(load_bytes(&LANES.wide_bytes[width][half]), packed);
        let shifts: &[u64; 8] = &LANES.wide_shifts[width][half];
        // SAFETY: the pointer is that of an array of 64 bytes.
        let shifts = unsafe { _mm512_loadu_si512(shifts.as_ptr().cast()) };
        _mm512_cvtepi64_epi32(_mm512_srlv_epi64(lanes, shifts))
    });
    _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load_bytes(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the pointer is that of an array of 64 bytes.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load_shifts(shifts: &[u32; 16]) -> __m512i {
    // SAFETY: the pointer is that of an array of 64 bytes.
    unsafe { _mm512_loadu_si512(shifts.as_ptr().cast()) }
}

/// Prefix sums: each lane gets the sum of itself and the lanes below.
#[target_feature(enable = "avx512f")]
#[inline]
fn sums_of_sixteen(x: __m512i) -> __m512i {
    let zero = _mm512_setzero_si512();
    let x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 15));
    let x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 14));
    let x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 12));
    _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 8))
}

#[target_feature(enable = "avx2")]
pub(super) fn decode_eights(bytes: &[u8], mut at: usize, source: u32, len: usize, out: &mut [u32]) -> usize {
    let out = &mut out[..len + ROOM];
    let mut done = 0;
    while done < len {
        let head = BlockHeader::read(bytes, at, source);
        let now = (len - done).min(BLOCK_LEN);
        if head.width > NARROW_MAX {
            at = block::decode(bytes, at, source, now, &mut out[done..]);
            done += now;
            continue;
        }
        out[done] = head.first;
        let mut carry = _mm256_set1_epi32(head.first as i32);
        let mask = _mm256_set1_epi32(((1_u64 << head.width) - 1) as u32 as i32);
        let shifts: &[u32; 8] = LANES.shifts[head.width].first_chunk().expect("eight of sixteen");
        // SAFETY: the pointers are those of arrays of 32 bytes.
        let (lanes, shifts) = unsafe {
            (
                _mm256_loadu_si256(LANES.half_bytes[head.width].as_ptr().cast()),
                _mm256_loadu_si256(shifts.as_ptr().cast()),
            )
        };
        for (step, first) in (done + 1..done + now).step_by(8).enumerate() {
            let packed = ahead(bytes, head.at + head.width * step);
            let high: &[u8; 16] = packed[head.width / 2..].first_chunk().expect("at most 12 of 64");
            // SAFETY: the pointers are those of arrays of at least 16 bytes.
            let halves = unsafe {
                let low = _mm256_castsi128_si256(_mm_loadu_si128(packed.as_ptr().cast()));
                _mm256_inserti128_si256(low, _mm_loadu_si128(high.as_ptr().cast()), 1)
            };
            let unpacked = _mm256_srlv_epi32(_mm256_shuffle_epi8(halves, lanes), shifts);
            let targets = _mm256_add_epi32(sums_of_eight(_mm256_and_si256(unpacked, mask)), carry);
            carry = _mm256_permutevar8x32_epi32(targets, _mm256_set1_epi32(7));
            let into: &mut [u32; 8] = out[first..].first_chunk_mut().expect("`out` has ROOM entries more");
            // SAFETY: the pointer is that of an array of 8 ids.
            unsafe { _mm256_storeu_si256(into.as_mut_ptr().cast(), targets) };
        }
        at = head.at + ((now - 1) * head.width).div_ceil(8);
        done += now;
    }
    at
}

/// Prefix sums: each lane gets the sum of itself and the lanes below.
#[target_feature(enable = "avx2")]
#[inline]
fn sums_of_eight(x: __m256i) -> __m256i {
    let x = _mm256_add_epi32(x, _mm256_slli_si256(x, 4));
    let x = _mm256_add_epi32(x, _mm256_slli_si256(x, 8));
    let low = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(x, _mm256_set1_epi32(3)));
    _mm256_add_epi32(x, _mm256_inserti128_si256(_mm256_setzero_si256(), low, 1))
}

/// The 65 prefix sums, starting from `before`, of 64 sizes of one byte (`width_log` 0) or two.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn sums_of_sizes(sizes: &[u8], width_log: u32, before: u64, sums: &mut [u64; GROUP_LEN + 1]) {
    sums[0] = before;
    let mut carry = _mm512_setzero_si512();
    let base = _mm512_set1_epi64(before.cast_signed());
    for first in (0..GROUP_LEN).step_by(16) {
        // SAFETY: the pointers are those of arrays of as many bytes as the loads read.
        let x = unsafe {
            if width_log == 0 {
                let now: &[u8; 16] = sizes[first..].first_chunk().expect("64 sizes");
                _mm512_cvtepu8_epi32(_mm_loadu_si128(now.as_ptr().cast()))
            } else {
                let now: &[u8; 32] = sizes[2 * first..].first_chunk().expect("64 sizes");
                _mm512_cvtepu16_epi32(_mm256_loadu_si256(now.as_ptr().cast()))
            }
        };
        let x = _mm512_add_epi32(sums_of_sixteen(x), carry);
        carry = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), x);
        let low = _mm512_add_epi64(base, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(x)));
        let high = _mm512_add_epi64(base, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(x, 1)));
        let into: &mut [u64; 16] = sums[first + 1..].first_chunk_mut().expect("65 sums");
        // SAFETY: the pointers are those of the two halves of an array of 16 64-bit numbers.
        unsafe {
            _mm512_storeu_si512(into.as_mut_ptr().cast(), low);
            _mm512_storeu_si512(into[8..].as_mut_ptr().cast(), high);
        }
    }
}
