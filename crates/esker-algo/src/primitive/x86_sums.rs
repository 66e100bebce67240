//! Sums of shares by vector instructions that read sixteen elements from anywhere at once.
//!
//! A single read takes four instructions or more: the target, a test of its bounds, the share, its conversion, the addition. Here sixteen reads
//! take about ten together, so the processor runs farther ahead to shares outside its caches, and one instruction spreads the lists of four
//! vertices with few neighbours over sixteen elements, so that no branch depends on their lengths. The sums are those of `share_sums.rs`,
//! bit by bit.
#![allow(unsafe_code)] // Uses vector instructions that the compiler does not generate from loops.

use std::arch::x86_64::{
    __m512d, __m512i, __mmask16, _mm_add_pd, _mm_add_sd, _mm_cvtsd_f64, _mm_cvtsi128_si64, _mm_extract_epi64,
    _mm_or_si128, _mm_unpackhi_pd, _mm256_add_pd, _mm256_castpd256_pd128, _mm256_castsi256_si128,
    _mm256_cmpgt_epu64_mask, _mm256_extractf128_pd, _mm256_extracti128_si256, _mm256_loadu_si256,
    _mm256_set_epi64x, _mm256_set1_epi64x, _mm256_sllv_epi64, _mm256_storeu_pd, _mm256_sub_epi64,
    _mm512_add_pd, _mm512_castpd512_pd256, _mm512_castps512_ps256, _mm512_castsi512_si256, _mm512_cvtps_pd,
    _mm512_extractf32x8_ps, _mm512_extractf64x4_pd, _mm512_extracti64x4_epi64, _mm512_loadu_pd,
    _mm512_loadu_si512, _mm512_mask_cmpge_epu32_mask, _mm512_mask_i32gather_pd, _mm512_mask_i32gather_ps,
    _mm512_maskz_compress_pd, _mm512_maskz_expand_pd, _mm512_maskz_expandloadu_epi32,
    _mm512_maskz_loadu_epi32, _mm512_mul_pd, _mm512_permute_pd, _mm512_set1_epi32, _mm512_set1_pd,
    _mm512_setzero_pd, _mm512_setzero_ps, _mm512_shuffle_f64x2,
};
use std::sync::atomic::AtomicU64;

use esker_graph::VertexId;

use super::array::ArrayValue;
use super::rank::Ranked;
use super::share_sums::{SHORT_MAX, Share, sum_over};

/// Rows whose lists are read together if all of them are short.
const ROWS: usize = 4;
/// Elements of a row that are read together with other rows, at most.
const FEW_MAX: i64 = 4;

#[cold]
#[inline(never)]
fn no_such_vertex() -> ! {
    panic!("a list names a vertex that does not exist");
}

/// The shares of those targets that `mask` selects, zeros in place of the others: the first eight and the last eight.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,popcnt")]
#[inline]
fn gather<S: Share>(shares: &[S], targets: __m512i, mask: __mmask16) -> (__m512d, __m512d) {
    // Indices have a sign.
    let len = _mm512_set1_epi32(i32::try_from(shares.len()).unwrap_or(i32::MAX));
    if _mm512_mask_cmpge_epu32_mask(mask, targets, len) != 0 {
        no_such_vertex();
    }
    let base = shares.as_ptr();
    if size_of::<S>() == size_of::<f32>() {
        // SAFETY: the targets that are selected were compared with the number of shares, which are `f32`: no other type of this size is
        // a `Share`.
        let found = unsafe { _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), mask, targets, base.cast()) };
        let (low, high) = (_mm512_castps512_ps256(found), _mm512_extractf32x8_ps::<1>(found));
        return (_mm512_cvtps_pd(low), _mm512_cvtps_pd(high));
    }
    let (low, high) = (_mm512_castsi512_si256(targets), _mm512_extracti64x4_epi64::<1>(targets));
    let (low_mask, high_mask) = (mask as u8, (mask >> 8) as u8);
    // SAFETY: as above, with `f64`.
    unsafe {
        (
            _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), low_mask, low, base.cast()),
            _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), high_mask, high, base.cast()),
        )
    }
}

/// Up to eight shares, each times its factor.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,popcnt")]
#[inline]
fn products<F: Ranked>(shares: __m512d, factors: &[F]) -> __m512d {
    if size_of::<F>() == 0 {
        return shares;
    }
    let mut numbers = [0.0; 8];
    numbers.iter_mut().zip(factors).for_each(|(number, factor)| *number = factor.as_f64());
    // SAFETY: reads the eight elements of the array.
    _mm512_mul_pd(shares, unsafe { _mm512_loadu_pd(numbers.as_ptr()) })
}

/// The sum of the shares of the vertices of a list, each times its factor.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn sum_of_list<S: Share, F: Ranked>(shares: &[S], list: &[VertexId], factors: &[F]) -> f64 {
    // Reads of a long list, one by one, follow each other as closely.
    if list.len() > SHORT_MAX {
        return sum_over(shares, list, factors);
    }
    let mut lanes = _mm512_setzero_pd();
    let (whole, rest) = list.as_chunks::<16>();
    let (factors, factors_of_rest) = factors.as_chunks::<16>();
    for (sixteen, factors) in whole.iter().zip(factors) {
        // SAFETY: reads the sixteen elements of the array.
        let targets = unsafe { _mm512_loadu_si512(sixteen.as_ptr().cast()) };
        let (low, high) = gather(shares, targets, __mmask16::MAX);
        lanes = _mm512_add_pd(lanes, products(low, &factors[..8]));
        lanes = _mm512_add_pd(lanes, products(high, &factors[8..]));
    }
    if !rest.is_empty() {
        let mask = (1 << rest.len()) - 1;
        // SAFETY: reads the elements that the mask selects, which are those of `rest`.
        let targets = unsafe { _mm512_maskz_loadu_epi32(mask, rest.as_ptr().cast()) };
        let (low, high) = gather(shares, targets, mask);
        let (of_low, of_high) = factors_of_rest.split_at(rest.len().min(8));
        lanes = _mm512_add_pd(lanes, products(low, of_low));
        lanes = _mm512_add_pd(lanes, products(high, of_high));
    }
    let four = _mm256_add_pd(_mm512_castpd512_pd256(lanes), _mm512_extractf64x4_pd::<1>(lanes));
    let two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd::<1>(four));
    _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
}

/// Leaves the sum of each of some lists that lie one after another.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,popcnt")]
pub(super) fn sums_of_rows<S: Share, F: Ranked>(
    shares: &[S],
    offsets: &[u64],
    (mut targets, mut factors): (&[VertexId], &[F]),
    sums: &[AtomicU64],
) {
    let sums = &sums[..offsets.len().saturating_sub(1)];
    for (row, sums) in sums.chunks(ROWS).enumerate().map(|(i, sums)| (ROWS * i, sums)) {
        let bounds = offsets[row..].first_chunk::<{ ROWS + 1 }>();
        if let Some(bounds) = bounds.filter(|_| sums.len() == ROWS)
            && let Some(mask) = spread(bounds)
        {
            let (lists, targets_after) = targets.split_at(mask.count_ones() as usize);
            let (factors_of_lists, factors_after) = factors.split_at(lists.len());
            // SAFETY: reads as many elements as the mask selects, which are those of `lists`.
            let spread_targets = unsafe { _mm512_maskz_expandloadu_epi32(mask, lists.as_ptr().cast()) };
            let (low, high) = spread_products(gather(shares, spread_targets, mask), factors_of_lists, mask);
            for (sum, found) in sums.iter().zip(sums_of_fours(low, high)) {
                f64::store(sum, found);
            }
            (targets, factors) = (targets_after, factors_after);
            continue;
        }
        for (bounds, sum) in offsets[row..].windows(2).zip(sums) {
            let (list, targets_after) = targets.split_at((bounds[1] - bounds[0]) as usize);
            let (factors_of_list, factors_after) = factors.split_at(list.len());
            f64::store(sum, sum_of_list(shares, list, factors_of_list));
            (targets, factors) = (targets_after, factors_after);
        }
    }
}

/// The shares that a mask selects of sixteen, each times its factor.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,popcnt")]
#[inline]
fn spread_products<F: Ranked>(
    (low, high): (__m512d, __m512d),
    factors: &[F],
    mask: __mmask16,
) -> (__m512d, __m512d) {
    if size_of::<F>() == 0 {
        return (low, high);
    }
    let (low_mask, high_mask) = (mask as u8, (mask >> 8) as u8);
    let (of_low, of_high) = factors.split_at(low_mask.count_ones() as usize);
    let one = _mm512_set1_pd(1.0);
    (
        _mm512_mul_pd(low, _mm512_maskz_expand_pd(low_mask, products(one, of_low))),
        _mm512_mul_pd(high, _mm512_maskz_expand_pd(high_mask, products(one, of_high))),
    )
}

/// Which of sixteen elements the lists of four rows fill if each has four places; `None` if one is longer.
#[target_feature(enable = "avx512f,avx512vl")]
#[inline]
fn spread(bounds: &[u64; ROWS + 1]) -> Option<__mmask16> {
    // SAFETY: reads the first four elements of the array, then the last four.
    let (begins, ends) = unsafe {
        (_mm256_loadu_si256(bounds.as_ptr().cast()), _mm256_loadu_si256(bounds.as_ptr().add(1).cast()))
    };
    let lengths = _mm256_sub_epi64(ends, begins);
    if _mm256_cmpgt_epu64_mask(lengths, _mm256_set1_epi64x(FEW_MAX)) != 0 {
        return None;
    }
    let one = _mm256_set1_epi64x(1);
    let ones = _mm256_sub_epi64(_mm256_sllv_epi64(one, lengths), one);
    let apart = _mm256_sllv_epi64(ones, _mm256_set_epi64x(12, 8, 4, 0));
    let two = _mm_or_si128(_mm256_castsi256_si128(apart), _mm256_extracti128_si256::<1>(apart));
    Some((_mm_cvtsi128_si64(two) | _mm_extract_epi64::<1>(two)) as __mmask16)
}

/// The sum of each four of sixteen elements.
#[target_feature(enable = "avx512f,avx512vl")]
#[inline]
fn sums_of_fours(low: __m512d, high: __m512d) -> [f64; ROWS] {
    // The first halves of all fours, then the second halves.
    let firsts = _mm512_shuffle_f64x2::<0b10_00_10_00>(low, high);
    let seconds = _mm512_shuffle_f64x2::<0b11_01_11_01>(low, high);
    let pairs = _mm512_add_pd(firsts, seconds);
    let sums = _mm512_add_pd(pairs, _mm512_permute_pd::<0b0101_0101>(pairs));
    // As sums in parts do, which begin with 0, this turns -0 into 0.
    let sums = _mm512_add_pd(sums, _mm512_setzero_pd());
    let mut found = [0.0; ROWS];
    // SAFETY: writes the four elements of the array.
    unsafe {
        let four = _mm512_castpd512_pd256(_mm512_maskz_compress_pd(0b0101_0101, sums));
        _mm256_storeu_pd(found.as_mut_ptr(), four);
    }
    found
}
