//! Trees of the Graph500 benchmark [1]: roots to search from, and the validation of trees against the edges
//! that a generator makes anew.
//!
//! [1] Graph500 benchmark specification, version 2.0 (3.0 for shortest paths), <https://graph500.org>.

mod trees;
mod validate;

pub use trees::{Graph500Trees, Tree};
pub use validate::{Findings, expect_met, look_at_edges, validate};

/// Draws `count` distinct roots, or as many as there are, from candidates in a fixed order.
pub fn draw_roots<T>(candidates: &mut Vec<T>, count: usize, seed: u64) {
    let count = count.min(candidates.len());
    let mut state = seed;
    for place in 0..count {
        let rest = (candidates.len() - place) as u64;
        candidates.swap(place, place + (next_random(&mut state) % rest) as usize);
    }
    candidates.truncate(count);
}

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
