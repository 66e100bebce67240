//! Compaction: copies the elements of live slots to the front of an array.
#![allow(unsafe_code)] // Vector loads and stores, all within slices; see `wide32` and `wide64`.

use bytemuck::Pod;
use esker_graph::prefetch_at;

use super::robin::is_live;

/// Spare elements that the destination needs after the longest result, because whole vectors are stored.
pub(super) const SLACK: usize = 16;

/// Copies the elements of live slots to the front of `to`, in order, and returns their number. Other elements
/// of `to` may change.
///
/// With AVX-512, sixteen slots at a time: this takes 15 % of a round of PageRank, against 40 % one by one.
#[inline(always)]
pub(super) fn compact<T: Pod>(control: &[u8], from: &[T], to: &mut [T]) -> usize {
    assert!(control.len() == from.len() && from.len() + SLACK <= to.len());
    #[cfg(target_arch = "x86_64")]
    if size_of::<T>().is_multiple_of(4)
        && std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512vl")
    {
        if size_of::<T>() == 4 {
            // SAFETY: the features were just detected; lengths were compared above.
            return unsafe { wide32(control, cast(from), cast_mut(to)) };
        }
        if size_of::<T>() == 8 {
            // SAFETY: as before.
            return unsafe { wide64(control, cast(from), cast_mut(to)) };
        }
    }
    compact_by(control, from, to, |&element| element)
}

/// As [`compact`], one by one, applying `f` to each element.
#[inline(always)]
pub(super) fn compact_by<T, U>(control: &[u8], from: &[T], to: &mut [U], f: impl Fn(&T) -> U) -> usize {
    let mut count = 0;
    // Write every element, but advance only past live ones: this avoids an unpredictable branch.
    for (&control, element) in control.iter().zip(from) {
        to[count] = f(element);
        count += usize::from(is_live(control));
    }
    count
}

/// The same elements as another type of equal size.
#[cfg(target_arch = "x86_64")]
fn cast<T: Pod, U: Pod>(slice: &[T]) -> *const U {
    assert_eq!(size_of::<T>(), size_of::<U>());
    slice.as_ptr().cast()
}

#[cfg(target_arch = "x86_64")]
fn cast_mut<T: Pod, U: Pod>(slice: &mut [T]) -> *mut U {
    assert_eq!(size_of::<T>(), size_of::<U>());
    slice.as_mut_ptr().cast()
}

/// # Safety
/// `from` has as many elements as `control`, and `to` at least [`SLACK`] more; they do not overlap. They need
/// no alignment.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn wide32(control: &[u8], from: *const u32, to: *mut u32) -> usize {
    use std::arch::x86_64::*;
    let (mut count, mut at) = (0, 0);
    while at < control.len() {
        let rest = control.len() - at;
        let within: u16 = if rest < 16 { (1 << rest) - 1 } else { u16::MAX };
        // SAFETY: masked loads read no lanes outside `within`, so only `at..control.len()` is read. At most
        // `at` elements were stored before, so a whole vector ends within `control.len() + 16`.
        unsafe {
            let bytes = _mm_maskz_loadu_epi8(within, control.as_ptr().add(at).cast());
            let live = _mm_cmpgt_epi8_mask(bytes, _mm_setzero_si128());
            let elements = _mm512_maskz_loadu_epi32(within, from.add(at).cast());
            // The processor's own prefetching stops at each page.
            prefetch_at(from.wrapping_add(at + 256));
            prefetch_at(control.as_ptr().wrapping_add(at + 512));
            _mm512_storeu_si512(to.add(count).cast(), _mm512_maskz_compress_epi32(live, elements));
            count += live.count_ones() as usize;
        }
        at += 16;
    }
    count
}

/// # Safety
/// As [`wide32`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn wide64(control: &[u8], from: *const u64, to: *mut u64) -> usize {
    use std::arch::x86_64::*;
    let (mut count, mut at) = (0, 0);
    while at < control.len() {
        let rest = control.len() - at;
        let within: u16 = if rest < 8 { (1 << rest) - 1 } else { 0xff };
        // SAFETY: as in `wide32`, with eight lanes.
        unsafe {
            let bytes = _mm_maskz_loadu_epi8(within, control.as_ptr().add(at).cast());
            let live = _mm_cmpgt_epi8_mask(bytes, _mm_setzero_si128()) as u8;
            let elements = _mm512_maskz_loadu_epi64(within as u8, from.add(at).cast());
            _mm512_storeu_si512(to.add(count).cast(), _mm512_maskz_compress_epi64(live, elements));
            count += live.count_ones() as usize;
        }
        at += 8;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Pod + PartialEq + std::fmt::Debug>(element: impl Fn(usize) -> T) {
        for len in (0..70).chain([1000]) {
            let control: Vec<u8> =
                (0..len).map(|i| [0, 1, 0x7f, 0x80, 0x81, 0xff, 5][(i * i + len) % 7]).collect();
            let from: Vec<T> = (0..len).map(&element).collect();
            let mut to = vec![T::zeroed(); len + SLACK];
            let count = compact(&control, &from, &mut to);
            let wanted: Vec<T> = (0..len).filter(|&i| is_live(control[i])).map(|i| from[i]).collect();
            assert_eq!(to[..count], wanted);
            let mut one_by_one = vec![T::zeroed(); len + SLACK];
            assert_eq!(compact_by(&control, &from, &mut one_by_one, |&x| x), count);
            assert_eq!(one_by_one[..count], wanted);
        }
    }

    #[test]
    fn live_elements_of_any_size_are_kept_in_order() {
        check(|i| i as u32 * 3);
        check(|i| i as u64 * 5);
        check(|i| i as f64);
        check(|i| i as u8);
        check(|i| [i as u32; 3]);
        check(|_| ());
    }
}
