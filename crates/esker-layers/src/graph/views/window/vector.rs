//! Compares times and selects arcs with vector instructions.
#![allow(unsafe_code)] // Vector instructions that the compiler does not make of the loops by itself.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm512_mask_cmpge_epi32_mask, _mm512_mask_cmpge_epi64_mask, _mm512_mask_cmple_epi32_mask,
    _mm512_mask_cmple_epi64_mask, _mm512_maskz_loadu_epi32, _mm512_maskz_loadu_epi64, _mm512_set1_epi32,
    _mm512_set1_epi64,
};

/// Arcs that are selected at once: as much room more than the arcs need.
pub(super) const LANES: usize = 16;

/// Times of a word of marks.
pub(super) const WORD_BITS: usize = u64::BITS as usize;

/// The mask of as many lanes as there are numbers from `at` on.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn lanes(len: usize, at: usize) -> u16 {
    match len - at {
        remaining @ 0..LANES => (1 << remaining) - 1,
        _ => u16::MAX,
    }
}

/// The lanes among `lanes` whose times lie within the bounds.
///
/// # Safety
/// `times` points to as many numbers as the highest of the lanes needs.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn inside_narrow(times: *const i32, lanes: u16, [least, last]: [i32; 2]) -> u16 {
    // SAFETY: lanes that are not in the mask are not read.
    let times = unsafe { _mm512_maskz_loadu_epi32(lanes, times) };
    let late = _mm512_mask_cmpge_epi32_mask(lanes, times, _mm512_set1_epi32(least));
    _mm512_mask_cmple_epi32_mask(late, times, _mm512_set1_epi32(last))
}

/// As [`inside_narrow`].
///
/// # Safety
/// As there.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn inside_wide(times: *const i64, lanes: u16, [least, last]: [i64; 2]) -> u16 {
    let [low, high] = [lanes as u8, (lanes >> 8) as u8];
    // SAFETY: lanes that are not in the mask are not read.
    let one = unsafe { _mm512_maskz_loadu_epi64(low, times) };
    let late = _mm512_mask_cmpge_epi64_mask(low, one, _mm512_set1_epi64(least));
    let low = _mm512_mask_cmple_epi64_mask(late, one, _mm512_set1_epi64(last));
    if high == 0 {
        return u16::from(low);
    }
    // SAFETY: there are more than eight, and lanes that are not in the mask are not read.
    let other = unsafe { _mm512_maskz_loadu_epi64(high, times.add(8)) };
    let late = _mm512_mask_cmpge_epi64_mask(high, other, _mm512_set1_epi64(least));
    let high = _mm512_mask_cmple_epi64_mask(late, other, _mm512_set1_epi64(last));
    u16::from(low) | u16::from(high) << 8
}

#[cfg(target_arch = "x86_64")]
macro_rules! marks {
    ($type:ty, $inside:ident, $mark:ident) => {
        /// Marks the times within the bounds.
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) fn $mark(times: &[$type], bounds: [$type; 2], words: &mut [u64]) {
            for (times, word) in times.chunks(WORD_BITS).zip(words) {
                *word = 0;
                for at in (0..times.len()).step_by(LANES) {
                    let (first, lanes) = (times[at..].as_ptr(), lanes(times.len(), at));
                    // SAFETY: the mask has lanes for the numbers that are left.
                    let inside = unsafe { $inside(first, lanes, bounds) };
                    *word |= u64::from(inside) << at;
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
marks!(i32, inside_narrow, mark_narrow);
#[cfg(target_arch = "x86_64")]
marks!(i64, inside_wide, mark_wide);

/// Writes the targets that are marked; returns how many. There is room for as many, and for [`LANES`] more.
#[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn select(
    targets: &[esker_graph::VertexId],
    words: &[u64],
    into: &mut [esker_graph::VertexId],
) -> usize {
    use std::arch::x86_64::{_mm512_maskz_compress_epi32, _mm512_storeu_si512};

    let mut len = 0;
    for (targets, &word) in targets.chunks(WORD_BITS).zip(words) {
        for at in (0..targets.len()).step_by(LANES) {
            let marked = (word >> at) as u16;
            let room: &mut [_; LANES] = into[len..].first_chunk_mut().expect("room for more");
            // SAFETY: the mask has lanes for the targets that are left; as many bytes as are written.
            unsafe {
                let those =
                    _mm512_maskz_loadu_epi32(lanes(targets.len(), at), targets.as_ptr().add(at).cast());
                let kept = _mm512_maskz_compress_epi32(marked, those);
                _mm512_storeu_si512(room.as_mut_ptr().cast(), kept);
            }
            len += marked.count_ones() as usize;
        }
    }
    len
}
