//! The random numbers of a case, which follow from the seed and the number of the case.

use std::ops::Range;

use esker_graph::random::Random;

/// The numbers of case `number` under `seed`.
pub(crate) fn of_case(seed: u64, number: u64) -> Random {
    let mut random = Random::new(seed ^ number.wrapping_mul(0xd605_bbb5_8c8a_bbfd));
    random.next_u64();
    random
}

/// One of several.
pub(crate) fn pick<'a, T>(random: &mut Random, choices: &'a [T]) -> &'a T {
    &choices[random.index(choices.len())]
}

/// A range within `0..len`, of at most `len_max`.
pub(crate) fn range(random: &mut Random, len: usize, len_max: usize) -> Range<usize> {
    let start = random.index(len + 1);
    let count = random.index(len_max.min(len - start) + 1);
    start..start + count
}
