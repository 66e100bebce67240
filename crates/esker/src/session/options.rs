//! What the runs of a session have in common.

use esker_graph::{Cancel, OnProgress, Run, RunOptions};
use esker_store::format::MemoryLimit;

use crate::catalogue::Resources;
use crate::error::Result;

/// Threads, memory limit, seed, cancellation and progress of a session.
///
/// The defaults take one thread a processor and half of the memory that is available when they are made.
#[derive(Clone)]
pub struct SessionOptions {
    /// Worker threads; 0 (default): one a processor.
    pub threads: usize,
    /// The memory limit, for plans and for the budget of runs alike.
    pub memory: MemoryLimit,
    /// Seed of everything random. Default: 1, as in the command.
    pub seed: u64,
    /// Whether answers must not depend on threads or timing. Default: no.
    pub deterministic: bool,
    /// The token that stops runs within 100 ms.
    pub cancel: Cancel,
    /// Told of rounds and of parts that are done.
    pub on_progress: Option<OnProgress>,
}

impl std::fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionOptions")
            .field("threads", &self.threads)
            .field("memory", &self.memory)
            .field("seed", &self.seed)
            .field("deterministic", &self.deterministic)
            .finish_non_exhaustive()
    }
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self::within(MemoryLimit::of_machine())
    }
}

impl SessionOptions {
    /// The defaults, within a memory limit.
    ///
    /// ```
    /// use esker::{MemoryLimit, SessionOptions};
    ///
    /// let options = SessionOptions { threads: 2, ..SessionOptions::within(MemoryLimit::of(256 << 20)) };
    /// assert_eq!(options.resources().memory.bytes(), 256 << 20);
    /// assert_eq!(options.start()?.budget().limit_bytes(), 256 << 20);
    /// # Ok::<(), esker::Error>(())
    /// ```
    pub fn within(memory: MemoryLimit) -> Self {
        Self {
            threads: 0,
            memory,
            seed: 1,
            deterministic: false,
            cancel: Cancel::default(),
            on_progress: None,
        }
    }

    /// The resources of its runs, for estimates and plans.
    pub fn resources(&self) -> Resources {
        Resources::within(self.memory, self.threads, self.deterministic)
    }

    /// Starts the threads of a run, with a budget of the whole limit.
    ///
    /// # Errors
    /// [`Stop::Threads`](esker_graph::Stop::Threads) if the system refuses them.
    pub fn start(&self) -> Result<Run> {
        Ok(Run::new(self.run_options())?)
    }

    /// The options of such a run.
    pub fn run_options(&self) -> RunOptions {
        RunOptions {
            threads: self.threads,
            seed: self.seed,
            budget: self.memory.budget(),
            deterministic: self.deterministic,
            cancel: self.cancel.clone(),
            on_progress: self.on_progress.clone(),
            ..RunOptions::default()
        }
    }
}
