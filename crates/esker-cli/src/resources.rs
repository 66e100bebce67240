//! Options for threads and memory, and measurements of memory and reads.

use clap::Args;
use esker::catalogue::Resources;
use esker::graph::{Budget, Cancel, OnProgress, Run, RunOptions};
use esker::plan::available_bytes;
use esker::rates::Known;
use esker::store::DatabaseOptions;
use esker::store::format::{return_large_blocks, trimmed_budget};

use crate::failure::Failure;
use crate::size::parse_bytes;

/// With less memory than this by default, writers keep to it.
const SMALL_BYTES: u64 = 1 << 30;

/// The resources of a command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Resources")]
pub(crate) struct ResourceArgs {
    /// Number of worker threads [default: one per processor]
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Memory limit, such as 256MiB or 2G [default: half of the available memory]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,
}

impl ResourceArgs {
    /// The number of threads; 0 means one per processor.
    pub(crate) fn threads(&self) -> usize {
        self.threads.map_or(0, usize::from)
    }

    /// The memory limit.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory.unwrap_or_else(|| available_bytes() / 2)
    }

    /// The resources of a run, for its plan. Without a limit, mapped files may take all memory that is available.
    pub(crate) fn of_run(&self, deterministic: bool) -> Resources {
        let threads = match self.threads() {
            0 => std::thread::available_parallelism().map_or(1, Into::into),
            threads => threads,
        };
        let available = self.memory.map_or_else(available_bytes, |_| 0);
        let memory_bytes = self.memory.unwrap_or(available / 2);
        let (mapped_bytes, rates) = (memory_bytes.max(available), Known::of_user().rates);
        Resources { threads, deterministic, memory_bytes, mapped_bytes, rates }
    }

    /// Options to write a database. Its commits draw from the budget of `run` under an explicit limit, and where so little memory is
    /// available, as in a small container, that they could not do without one.
    pub(crate) fn of_database(&self, run: &Run) -> DatabaseOptions {
        let budget = if self.memory.is_some() || self.memory_bytes() < SMALL_BYTES {
            return_large_blocks();
            run.budget().clone()
        } else {
            Budget::default()
        };
        DatabaseOptions { threads: self.threads(), budget, ..DatabaseOptions::default() }
    }

    /// A run with these resources.
    pub(crate) fn run(
        &self,
        cancel: &Cancel,
        seed: u64,
        deterministic: bool,
        on_progress: Option<OnProgress>,
    ) -> Result<Run, Failure> {
        Ok(Run::new(RunOptions {
            threads: self.threads(),
            seed,
            budget: trimmed_budget(self.memory_bytes()),
            deterministic,
            cancel: cancel.clone(),
            on_progress,
            ..RunOptions::default()
        })?)
    }
}

/// The peak resident memory of this process.
#[allow(clippy::disallowed_methods)]
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// Bytes read from storage for this process, as the system counts them; reads from the page cache do not count.
#[allow(clippy::disallowed_methods)]
pub(crate) fn bytes_read() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes:"))?.trim().parse().ok()
}
