//! Trees of the Graph500 benchmark [1]: roots to search from, and the validation of trees against the edges
//! that a generator makes anew.
//!
//! [1] Graph500 benchmark specification, version 2.0 (3.0 for shortest paths), <https://graph500.org>.

mod trees;
mod validate;

use esker_graph::random::Random;

pub use trees::{Graph500Trees, Tree};
pub use validate::{Findings, expect_met, look_at_edges, validate};

/// Draws `count` distinct roots, or as many as there are, from candidates in a fixed order.
pub fn draw_roots<T>(candidates: &mut Vec<T>, count: usize, seed: u64) {
    let count = count.min(candidates.len());
    let mut random = Random::new(seed);
    for place in 0..count {
        let rest = (candidates.len() - place) as u64;
        candidates.swap(place, place + (random.next_u64() % rest) as usize);
    }
    candidates.truncate(count);
}
