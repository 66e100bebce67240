//! The counters of a worker for its own work.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::net::engine::Engine;

/// What a worker did during an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkerCounters {
    /// Blocks that it sent to other workers, empty ones left out.
    pub messages: u64,
    /// Bytes of these blocks.
    pub sent_bytes: u64,
    /// Exchanges that it took part in: supersteps.
    pub exchanges: u64,
    /// Its peak resident memory; 0 if the system does not tell.
    pub peak_memory_bytes: u64,
    /// Where the time of a change went.
    pub times: ChangeTimes,
}

/// Where the time of a change went, in one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChangeTimes {
    /// Waiting for parsed input.
    pub input: Duration,
    /// Finding the shards of edges, and writing them to blocks.
    pub serialise: Duration,
    /// Waiting for the blocks of the others, and copying.
    pub exchange: Duration,
    /// Putting edges into the batch.
    pub insert: Duration,
    /// Committing and syncing.
    pub commit: Duration,
    /// Waiting for the commits of the others, and until the version of the whole is published.
    pub publish: Duration,
}

impl WorkerCounters {
    /// The counters of a process that has used an engine.
    pub(crate) fn of(engine: &Engine<'_>, times: ChangeTimes) -> Self {
        Self {
            messages: engine.sent_messages(),
            sent_bytes: engine.sent_bytes(),
            exchanges: engine.rounds(),
            peak_memory_bytes: peak_memory_bytes().unwrap_or(0),
            times,
        }
    }
}

/// Adds the time that `work` takes to `sum`.
pub(crate) fn timed<T>(sum: &mut Duration, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let done = work();
    *sum += begin.elapsed();
    done
}

/// The peak resident memory of this process.
#[allow(clippy::disallowed_methods)] // A file of the system, not of a cluster.
fn peak_memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}
