//! Group commit: tracks how much of the log is written and synced, and lets one thread sync for all.
//!
//! A thread that waits for a version that is not durable syncs everything written so far, unless another
//! thread is already syncing. Syncs never run concurrently, because the system reports a failure to only one
//! of them. What was synced counts as durable if the files are still the database's afterwards.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::path::PathBuf;
use std::sync::Arc;

use esker_format::io::File;
use esker_format::{Error, LogMark, Result};

use crate::holding::{GrowingFile, WriterLock};

/// A position in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogPosition {
    /// Bytes of the last segment up to it.
    pub(super) bytes: u64,
    /// The last commit before it.
    pub(super) last: LogMark,
}

/// The state shared by all threads that append and wait.
#[derive(Debug)]
pub(super) struct Durability {
    directory: PathBuf,
    lock: WriterLock,
    state: Mutex<DurabilityState>,
    changed: Condvar,
}

#[derive(Debug)]
struct DurabilityState {
    /// The segment being appended to. All earlier ones are synced.
    file: Arc<dyn File>,
    written: LogPosition,
    durable: LogPosition,
    is_syncing: bool,
    /// The message of the first failure.
    failure: Option<String>,
}

impl Durability {
    /// The state of a log whose last segment, `file`, is durable.
    pub(super) fn new(
        directory: PathBuf,
        lock: WriterLock,
        file: Arc<dyn File>,
        position: LogPosition,
    ) -> Self {
        let state =
            DurabilityState { file, written: position, durable: position, is_syncing: false, failure: None };
        lock.note_written(GrowingFile::Segment, position.bytes);
        Self { directory, lock, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// An error if the log has failed.
    pub(super) fn check(&self) -> Result<()> {
        self.refusal(&self.state())
    }

    /// As [`Durability::check`], and makes the log fail if its files are not the database's any more.
    pub(super) fn check_files(&self) -> Result<()> {
        self.check()?;
        self.lock.expect_segment().inspect_err(|error| self.fail(error))
    }

    /// Makes the log fail: every later call returns an error with this one's message.
    pub(super) fn fail(&self, error: &Error) {
        self.state().failure.get_or_insert_with(|| error.to_string());
        self.changed.notify_all();
    }

    /// Records that a write has reached `position`.
    pub(super) fn set_written(&self, position: LogPosition) {
        self.lock.note_written(GrowingFile::Segment, position.bytes);
        self.state().written = position;
    }

    /// Begins a new segment; its `bytes` so far and all earlier segments are durable.
    pub(super) fn begin_segment(&self, file: Arc<dyn File>, bytes: u64) {
        self.lock.note_written(GrowingFile::Segment, bytes);
        let mut state = self.state();
        debug_assert!(state.written == state.durable && !state.is_syncing);
        state.file = file;
        state.written.bytes = bytes;
        state.durable = state.written;
    }

    /// The end of what is written, durable or not.
    pub(super) fn written(&self) -> LogPosition {
        self.state().written
    }

    /// The end of what is known to be durable.
    pub(super) fn durable(&self) -> LogPosition {
        self.state().durable
    }

    /// Returns once a written version is durable.
    pub(super) fn sync_to(&self, version: u64) -> Result<()> {
        self.sync_until(|state| state.durable.last.version >= version)
    }

    /// Returns once everything written before the call is durable.
    pub(super) fn sync_all(&self) -> Result<()> {
        let (file, written) = {
            let state = self.state();
            (Arc::clone(&state.file), state.written)
        };
        self.sync_until(|state| !Arc::ptr_eq(&state.file, &file) || state.durable.bytes >= written.bytes)?;
        self.check()
    }

    fn sync_until(&self, is_done: impl Fn(&DurabilityState) -> bool) -> Result<()> {
        let mut state = self.state();
        while !is_done(&state) {
            self.refusal(&state)?;
            if state.is_syncing {
                self.changed.wait(&mut state);
                continue;
            }
            state.is_syncing = true;
            let (file, written) = (Arc::clone(&state.file), state.written);
            drop(state);
            let synced = file.sync().and_then(|()| self.lock.expect_segment());
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

    fn refusal(&self, state: &DurabilityState) -> Result<()> {
        match &state.failure {
            None => Ok(()),
            Some(first) => Err(Error::invalid(format!(
                "the log {} is closed after a failure: {first}; open the database again",
                self.directory.display()
            ))),
        }
    }

    fn state(&self) -> MutexGuard<'_, DurabilityState> {
        self.state.lock()
    }
}
