//! Gives out extents to the threads of a scan.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use esker_format::Result;
use esker_graph::Run;

use crate::pool::Supply;

/// How often a waiting thread looks for cancellation.
const PATIENCE: Duration = Duration::from_millis(10);

#[derive(Debug, Default)]
struct TurnState {
    ready: VecDeque<u32>,
    has_failed: bool,
}

/// Gives out extents.
#[derive(Debug, Default)]
pub(super) struct Turns {
    state: Mutex<TurnState>,
    changed: Condvar,
}

/// An extent given out to a thread. If it is dropped before it is done, nothing more is given out.
#[derive(Debug)]
pub(super) struct Turn<'t> {
    turns: &'t Turns,
    pub(super) extent: usize,
    is_done: bool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.turns.lock().has_failed = true;
        }
        self.turns.changed.notify_all();
    }
}

impl Turn<'_> {
    /// The thread has scanned it.
    pub(super) fn done(mut self) {
        self.is_done = true;
    }
}

impl Turns {
    fn lock(&self) -> MutexGuard<'_, TurnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An extent for the calling thread; `None` if there are no more, or a thread failed. `supply` adds
    /// extents that are in memory. If there are none yet, `wait` waits for some; it returns false if another
    /// thread already waits.
    pub(super) fn take(
        &self,
        run: &Run,
        supply: impl Fn(&mut VecDeque<u32>) -> Result<Supply>,
        wait: impl Fn() -> Result<bool>,
    ) -> Result<Option<Turn<'_>>> {
        let turn = self.next(run, supply, wait);
        if turn.is_err() {
            self.lock().has_failed = true;
            self.changed.notify_all();
        }
        turn
    }

    fn next(
        &self,
        run: &Run,
        supply: impl Fn(&mut VecDeque<u32>) -> Result<Supply>,
        wait: impl Fn() -> Result<bool>,
    ) -> Result<Option<Turn<'_>>> {
        let mut state = self.lock();
        loop {
            if state.has_failed {
                return Ok(None);
            }
            run.check()?;
            if let Some(extent) = state.ready.pop_front() {
                return Ok(Some(Turn { turns: self, extent: extent as usize, is_done: false }));
            }
            match supply(&mut state.ready)? {
                Supply::More => self.changed.notify_all(),
                Supply::End => return Ok(None),
                Supply::Later => {
                    drop(state);
                    let has_waited = wait()?;
                    state = self.lock();
                    if !has_waited {
                        state = self
                            .changed
                            .wait_timeout(state, PATIENCE)
                            .unwrap_or_else(PoisonError::into_inner)
                            .0;
                    }
                }
            }
        }
    }
}
