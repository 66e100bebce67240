//! Turns at the interpreter, for loops over Python objects.
//!
//! Such a loop holds the interpreter's lock. Without checks, other threads would stand still and Ctrl-C would
//! have no effect until the loop ends.

use std::time::{Duration, Instant};

use esker::graph::Stop;
use pyo3::prelude::*;

use crate::failure::PyFailure;

/// Steps between two looks at the clock.
const STEPS: usize = 1 << 10;
/// How long a loop holds the lock. Other threads hold it for 5 ms, so they keep most of their rate.
const HELD: Duration = Duration::from_millis(2);
/// How long the lock is free, so that a waiting thread wakes up and takes it.
const FREE: Duration = Duration::from_micros(50);

/// Whether the handle of the block that the thread is in was cancelled.
pub(crate) fn is_cancelled(py: Python<'_>) -> PyResult<bool> {
    py.import("esker._cancel")?.call_method0("is_cancelled")?.extract()
}

/// Gives other threads a turn every two milliseconds, and handles signals and cancellation.
pub(crate) struct InterruptChecks {
    steps: usize,
    since: Instant,
}

impl InterruptChecks {
    pub(crate) fn new() -> Self {
        Self { steps: 0, since: Instant::now() }
    }

    /// Counts a step of the loop. Other threads can change any object during the call.
    ///
    /// # Errors
    /// What a signal handler raises: `KeyboardInterrupt` after Ctrl-C; `Cancelled`.
    #[inline]
    pub(crate) fn step(&mut self, py: Python<'_>) -> PyResult<()> {
        self.steps(py, 1)
    }

    /// Counts several steps, like [`Self::step`].
    ///
    /// # Errors
    /// Those of [`Self::step`].
    #[inline]
    pub(crate) fn steps(&mut self, py: Python<'_>, steps: usize) -> PyResult<()> {
        self.steps += steps;
        if self.steps < STEPS { Ok(()) } else { self.pause(py) }
    }

    #[cold]
    fn pause(&mut self, py: Python<'_>) -> PyResult<()> {
        self.steps = 0;
        if self.since.elapsed() < HELD {
            return Ok(());
        }
        py.check_signals()?;
        if is_cancelled(py)? {
            return Err(PyFailure::from(Stop::Cancelled).into());
        }
        py.detach(|| std::thread::sleep(FREE));
        self.since = Instant::now();
        Ok(())
    }
}
