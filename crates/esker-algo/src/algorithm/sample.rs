//! Random samples of vertices.

use esker_graph::{VertexId, vertex};

/// `count` distinct vertices of `0..n`, ascending, uniformly at random (R. Floyd; J. Bentley, CACM 30(9), 1987).
pub(super) fn sample(n: usize, count: usize, seed: u64) -> Vec<VertexId> {
    let mut random = seed;
    let mut picked = std::collections::BTreeSet::new();
    for top in n - count..n {
        let draw = ((u128::from(next_random(&mut random)) * (top as u128 + 1)) >> 64) as usize;
        if !picked.insert(vertex(draw)) {
            picked.insert(vertex(top));
        }
    }
    picked.into_iter().collect()
}

/// The next number of a SplitMix64 sequence (S. Vigna).
pub(super) fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
