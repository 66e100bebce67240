//! The rates of memory.

use std::hint::black_box;
use std::time::Instant;

use esker_graph::{Run, Stop};

use super::effort::{Effort, best};
use crate::error::Result;
use crate::rates::{Rate, Rates};

/// Words that a thread takes at a time.
const GRAIN: usize = 1 << 16;

/// Reads words sequentially, and at random.
pub(super) fn measure(rates: Rates, effort: &Effort, run: &Run) -> Result<Rates> {
    let run = run.begin("measuring memory", effort.memory_bytes)?;
    run.round(0)?;
    let words: Vec<u64> = (0..effort.memory_bytes / 8).collect();
    let timed = |sum: &(dyn Fn(std::ops::Range<usize>) -> u64 + Sync)| -> Result<f64> {
        let begin = Instant::now();
        let sums = run.share_ranges(
            words.len(),
            GRAIN,
            || 0_u64,
            |total, range| {
                *total = total.wrapping_add(sum(range));
                Ok::<_, Stop>(())
            },
        )?;
        black_box(sums);
        Ok(begin.elapsed().as_secs_f64())
    };
    let seconds = effort.seconds / 4.0;
    let straight =
        |range: std::ops::Range<usize>| words[range].iter().fold(0, |sum: u64, word| sum.wrapping_add(*word));
    let bytes = best(effort.memory_bytes as f64, seconds, || timed(&straight))?;
    // Each address depends on the number of the read alone, so the processor has many under way, as in a
    // scan.
    let scattered = |range: std::ops::Range<usize>| {
        let place = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        range.fold(0, |sum: u64, i| sum.wrapping_add(words[place(i) as usize % words.len()]))
    };
    let at_random = best(words.len() as f64, seconds, || timed(&scattered))?;
    Ok(rates.with(Rate::MemoryBytes, bytes).with(Rate::MemoryWords, at_random))
}
