//! Copies the arcs of a list that were born by a version, and leaves out those that were born later.
//!
//! Scans of old versions of merged layers spend their time here: in a scalar loop, copying an arc takes as
//! long as PageRank takes with it. So where the processor has AVX-512 and arcs have no weights, it compresses
//! sixteen of them at a time.
#![allow(unsafe_code)] // Vector instructions that the compiler does not make of the loop by itself.

use bytemuck::Pod;
use esker_graph::VertexId;

/// Fewer arcs are not worth asking the processor what it can.
#[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
const VECTOR_LEN_MIN: usize = 64;

/// Copies the arcs whose code in `born` is at most `rank` to the start of `into_targets` and `into_weights`,
/// in order. Returns their number. Targets, weights and codes are equally many, and as many fit in each
/// buffer.
#[inline(always)]
pub(crate) fn copy_born<W: Copy, C: Pod + Into<u32>>(
    targets: &[VertexId],
    weights: &[W],
    born: &[C],
    rank: u32,
    into_targets: &mut [VertexId],
    into_weights: &mut [W],
) -> usize {
    let (mut len, mut done) = (0, 0);
    if size_of::<W>() == 0 && size_of::<C>() == 1 {
        (len, done) = copy_sixteens(targets, bytemuck::cast_slice(born), rank, into_targets);
    }
    // Without a branch that depends on the data: it would be mispredicted at every other arc.
    for ((&target, &weight), &born) in targets[done..].iter().zip(&weights[done..]).zip(&born[done..]) {
        into_targets[len] = target;
        into_weights[len] = weight;
        len += usize::from(born.into() <= rank);
    }
    len
}

/// As [`copy_born`], for the first arcs, in whole sixteens, if the processor can compress them. Returns how
/// many were copied, and how many were looked at.
#[inline(always)]
fn copy_sixteens(targets: &[VertexId], born: &[u8], rank: u32, into: &mut [VertexId]) -> (usize, usize) {
    #[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
    if targets.len() >= VECTOR_LEN_MIN
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
    {
        // SAFETY: the processor has the instructions; AVX-512F comes with both.
        return unsafe { compress_sixteens(targets, born, rank, into) };
    }
    let _ = (targets, born, rank, into);
    (0, 0)
}

#[cfg(all(target_arch = "x86_64", not(feature = "id64")))]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn compress_sixteens(targets: &[VertexId], born: &[u8], rank: u32, into: &mut [VertexId]) -> (usize, usize) {
    use std::arch::x86_64::{
        _mm_cmple_epu8_mask, _mm_loadu_si128, _mm_set1_epi8, _mm512_loadu_si512, _mm512_maskz_compress_epi32,
        _mm512_storeu_si512,
    };
    let (targets, born) = (targets.as_chunks::<16>().0, born.as_chunks::<16>().0);
    let rank = _mm_set1_epi8(rank.min(u32::from(u8::MAX)) as u8 as i8);
    let mut len = 0;
    for (targets, born) in targets.iter().zip(born) {
        let room: &mut [VertexId; 16] = into[len..].first_chunk_mut().expect("room for all");
        // SAFETY: each pointer is that of an array of as many bytes as are read or written: 16 codes, 16 ids,
        // room for 16 ids.
        unsafe {
            let mask = _mm_cmple_epu8_mask(_mm_loadu_si128(born.as_ptr().cast()), rank);
            let alive = _mm512_maskz_compress_epi32(mask, _mm512_loadu_si512(targets.as_ptr().cast()));
            _mm512_storeu_si512(room.as_mut_ptr().cast(), alive);
            len += mask.count_ones() as usize;
        }
    }
    (len, targets.len().min(born.len()) * 16)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn expected<W: Copy>(arcs: &[(VertexId, u32, W)], rank: u32) -> Vec<(VertexId, W)> {
        arcs.iter().filter(|arc| arc.1 <= rank).map(|arc| (arc.0, arc.2)).collect()
    }

    fn copied<W: Copy + Default, C: Pod + Into<u32>>(
        arcs: &[(VertexId, u32, W)],
        code: impl Fn(u32) -> C,
        rank: u32,
    ) -> Vec<(VertexId, W)> {
        let targets: Vec<_> = arcs.iter().map(|arc| arc.0).collect();
        let weights: Vec<_> = arcs.iter().map(|arc| arc.2).collect();
        let born: Vec<C> = arcs.iter().map(|arc| code(arc.1)).collect();
        let (mut to, mut to_weights) = (vec![0; arcs.len()], vec![W::default(); arcs.len()]);
        let len = copy_born(&targets, &weights, &born, rank, &mut to, &mut to_weights);
        to.into_iter().zip(to_weights).take(len).collect()
    }

    proptest! {
        #![proptest_config(esker_format::testing::cases(200))]
        #[test]
        fn arcs_born_by_the_version_are_copied(
            arcs in prop::collection::vec((any::<VertexId>(), 0..=255u32, any::<i32>()), 0..100), rank in 0..300u32,
        ) {
            let bare: Vec<_> = arcs.iter().map(|arc| (arc.0, arc.1, ())).collect();
            prop_assert_eq!(copied(&bare, |code| code as u8, rank), expected(&bare, rank));
            prop_assert_eq!(copied(&bare, |code| code as u16, rank), expected(&bare, rank));
            prop_assert_eq!(copied(&arcs, |code| code as u8, rank), expected(&arcs, rank));
            prop_assert_eq!(copied(&arcs, |code| code, rank), expected(&arcs, rank));
        }
    }
}
