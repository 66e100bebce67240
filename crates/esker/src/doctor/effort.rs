//! How much is measured, and how often.

use std::time::Instant;

use crate::error::Result;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Vertices of the graph, as a power of 2; it has 16 edges a vertex.
    pub scale: u32,
    /// Bytes of the file that is written and read.
    pub file_bytes: u64,
    /// Bytes of memory that are read.
    pub memory_bytes: u64,
    /// The longest time to write or read the file, and the least time for trials of the rest, in seconds.
    pub seconds: f64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { scale: 18, file_bytes: 256 << 20, memory_bytes: 256 << 20, seconds: 2.0 }
    }
}

impl Effort {
    /// Little: some two seconds instead of 15, and rates that are less sure.
    pub fn quick() -> Self {
        Self { scale: 13, file_bytes: 32 << 20, memory_bytes: 64 << 20, seconds: 0.1 }
    }
}

/// The most of `amount` a second that trials did, as many as take `seconds`, at least two.
pub(super) fn best(amount: f64, seconds: f64, mut trial: impl FnMut() -> Result<f64>) -> Result<f64> {
    let (begin, mut least, mut trials) = (Instant::now(), f64::INFINITY, 0);
    while trials < 2 || begin.elapsed().as_secs_f64() < seconds {
        least = least.min(trial()?);
        trials += 1;
    }
    Ok(amount / least)
}
