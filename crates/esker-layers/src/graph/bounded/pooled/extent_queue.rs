//! The queue from which the threads of a scan take extents that are in memory.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::time::Duration;

use esker_format::Result;
use esker_graph::Run;

use crate::pool::Supply;

/// How often a waiting thread looks for cancellation.
const PATIENCE: Duration = Duration::from_millis(10);

#[derive(Debug, Default)]
struct QueueState {
    ready: VecDeque<u32>,
    has_failed: bool,
}

/// The extents that are in memory and not yet scanned.
#[derive(Debug, Default)]
pub(super) struct ExtentQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

/// An extent that a thread took. If it is dropped before it is done, the queue gives out nothing more.
#[derive(Debug)]
pub(super) struct QueuedExtent<'t> {
    extent_queue: &'t ExtentQueue,
    pub(super) extent: usize,
    is_done: bool,
}

impl Drop for QueuedExtent<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.extent_queue.lock().has_failed = true;
        }
        self.extent_queue.changed.notify_all();
    }
}

impl QueuedExtent<'_> {
    /// The thread has scanned it.
    pub(super) fn done(mut self) {
        self.is_done = true;
    }
}

impl ExtentQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock()
    }

    /// An extent for the calling thread; `None` if there are no more, or a thread failed. `supply` adds
    /// extents that are in memory. If there are none yet, `wait` waits for some; it returns false if another
    /// thread already waits.
    pub(super) fn take(
        &self,
        run: &Run,
        supply: impl Fn(&mut VecDeque<u32>) -> Result<Supply>,
        wait: impl Fn() -> Result<bool>,
    ) -> Result<Option<QueuedExtent<'_>>> {
        let queued = self.next(run, supply, wait);
        if queued.is_err() {
            self.lock().has_failed = true;
            self.changed.notify_all();
        }
        queued
    }

    fn next(
        &self,
        run: &Run,
        supply: impl Fn(&mut VecDeque<u32>) -> Result<Supply>,
        wait: impl Fn() -> Result<bool>,
    ) -> Result<Option<QueuedExtent<'_>>> {
        let mut state = self.lock();
        loop {
            if state.has_failed {
                return Ok(None);
            }
            run.check()?;
            if let Some(extent) = state.ready.pop_front() {
                return Ok(Some(QueuedExtent {
                    extent_queue: self,
                    extent: extent as usize,
                    is_done: false,
                }));
            }
            match supply(&mut state.ready)? {
                Supply::More => {
                    self.changed.notify_all();
                }
                Supply::End => return Ok(None),
                Supply::Later => {
                    drop(state);
                    let has_waited = wait()?;
                    state = self.lock();
                    if !has_waited {
                        self.changed.wait_for(&mut state, PATIENCE);
                    }
                }
            }
        }
    }
}
