//! Group commit: what was written, what of it was synced, and who syncs.
//!
//! Whoever waits for a version, finds it not durable and nobody syncing, syncs everything written so far, for all who
//! wait. No two syncs run at the same time: the system tells a failure to one of them only.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::io::File;

/// How far a log has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reach {
    /// Bytes of the segment.
    pub(super) bytes: u64,
    /// The last version.
    pub(super) version: u64,
}

/// Shared by all who append and wait.
#[derive(Debug)]
pub(super) struct Durability {
    directory: PathBuf,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// The segment that is appended to. All before it was synced.
    file: Arc<dyn File>,
    written: Reach,
    durable: Reach,
    is_syncing: bool,
    /// What failed first.
    failure: Option<String>,
}

impl Durability {
    /// All that is in `file` is durable.
    pub(super) fn new(directory: PathBuf, file: Arc<dyn File>, reach: Reach) -> Self {
        let state = State { file, written: reach, durable: reach, is_syncing: false, failure: None };
        Self { directory, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// An error if anything failed before.
    pub(super) fn check(&self) -> Result<()> {
        self.refusal(&self.state())
    }

    /// From now on everything is refused, because of this.
    pub(super) fn fail(&self, error: &Error) {
        self.state().failure.get_or_insert_with(|| error.to_string());
        self.changed.notify_all();
    }

    /// Something was written.
    pub(super) fn wrote(&self, reach: Reach) {
        self.state().written = reach;
    }

    /// A new segment is appended to; it is durable as it is, and all before it.
    pub(super) fn begin_segment(&self, file: Arc<dyn File>, bytes: u64) {
        let mut state = self.state();
        debug_assert!(state.written == state.durable && !state.is_syncing);
        state.file = file;
        state.written.bytes = bytes;
        state.durable = state.written;
    }

    /// What was written, durable or not.
    pub(super) fn written(&self) -> Reach {
        self.state().written
    }

    /// What is known to be durable.
    pub(super) fn durable(&self) -> Reach {
        self.state().durable
    }

    /// Returns once a version that was written is durable.
    pub(super) fn sync_to(&self, version: u64) -> Result<()> {
        self.sync_until(|state| state.durable.version >= version)
    }

    /// Returns once all that was written before the call is durable.
    pub(super) fn sync_all(&self) -> Result<()> {
        let (file, written) = {
            let state = self.state();
            (Arc::clone(&state.file), state.written)
        };
        self.sync_until(|state| !Arc::ptr_eq(&state.file, &file) || state.durable.bytes >= written.bytes)?;
        self.check()
    }

    fn sync_until(&self, is_done: impl Fn(&State) -> bool) -> Result<()> {
        let mut state = self.state();
        while !is_done(&state) {
            self.refusal(&state)?;
            if state.is_syncing {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.is_syncing = true;
            let (file, written) = (Arc::clone(&state.file), state.written);
            drop(state);
            let synced = file.sync();
            state = self.state();
            state.is_syncing = false;
            match &synced {
                Ok(()) => state.durable = written,
                Err(error) => {
                    state.failure.get_or_insert_with(|| error.to_string());
                }
            }
            self.changed.notify_all();
            synced?;
        }
        Ok(())
    }

    fn refusal(&self, state: &State) -> Result<()> {
        match &state.failure {
            None => Ok(()),
            Some(first) => Err(Error::Invalid(format!(
                "the log {} takes nothing more since this failed: {first}; open the database again",
                self.directory.display()
            ))),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
