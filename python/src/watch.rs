//! Runs long work on a separate thread while the calling thread handles signals and progress.

use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use esker::graph::Cancel;
use pyo3::prelude::*;

use crate::failure::{PyFailure, PyOutcome};
use crate::interrupts::is_cancelled;

/// Interval between checks for signals and progress. An algorithm stops within 100 ms after that.
const CHECK_EVERY: Duration = Duration::from_millis(25);

/// The arguments of a progress callback: stage, fraction done, round, number of vertices or edges, number of
/// parts done, number of all parts.
pub(crate) type ProgressArgs = (String, Option<f64>, Option<u64>, u64, Option<u64>, Option<u64>);

/// Holds the latest progress of the working thread for the calling thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgressSlot(Arc<Mutex<Option<ProgressArgs>>>);

impl ProgressSlot {
    pub(crate) fn put(&self, args: ProgressArgs) {
        *self.0.lock() = Some(args);
    }

    fn take(&self) -> Option<ProgressArgs> {
        self.0.lock().take()
    }
}

/// A progress callback, and the slot whose contents it is called with.
pub(crate) struct Listener {
    pub(crate) callback: Py<PyAny>,
    pub(crate) slot: ProgressSlot,
}

/// Cancels runs and imports from any thread.
#[pyclass(frozen, module = "esker._esker")]
pub(crate) struct CancelHandle {
    cancel: Cancel,
}

#[pymethods]
impl CancelHandle {
    #[new]
    fn new() -> Self {
        Self { cancel: Cancel::default() }
    }

    fn cancel(&self) {
        self.cancel.cancel();
    }

    #[getter]
    fn cancelled(&self) -> bool {
        self.cancel.check().is_err()
    }
}

/// The cancel token of a handle, or a new one.
pub(crate) fn token(handle: Option<&Py<CancelHandle>>) -> Cancel {
    handle.map_or_else(Cancel::default, |handle| handle.get().cancel.clone())
}

/// Runs `work` on another thread, with the calling thread detached from the interpreter. If a signal handler
/// or the callback raises an exception, `cancel` is set, and the exception is returned once the work has
/// stopped. If the calling thread is in a `with` block that can be cancelled, its handle sets `cancel`, too.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    listener: Option<&Listener>,
    work: impl FnOnce() -> PyOutcome<T> + Send,
) -> PyOutcome<T> {
    py.detach(|| {
        let (sender, receiver) = sync_channel(1);
        std::thread::scope(|scope| {
            let working = std::thread::Builder::new().name("esker-work".to_owned());
            let started = working.spawn_scoped(scope, move || {
                let outcome = catch_unwind(AssertUnwindSafe(work));
                // Sending fails only if the calling thread is unwinding.
                let _ = sender.send(outcome);
            });
            if let Err(error) = started {
                return Err(PyFailure::Named("Error", format!("cannot start a thread: {error}")));
            }
            let mut raised = None;
            loop {
                match receiver.recv_timeout(CHECK_EVERY) {
                    Ok(outcome) => return finish(outcome, raised, listener),
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(bug("a thread ended without a result"));
                    }
                    Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
                    Err(RecvTimeoutError::Timeout) => {
                        match Python::attach(|py| check_in(py, listener).and_then(|()| is_cancelled(py))) {
                            Ok(false) => {}
                            // No exception is kept: the outcome says whether the work stopped or finished.
                            Ok(true) => cancel.cancel(),
                            Err(error) => {
                                cancel.cancel();
                                raised = Some(error);
                            }
                        }
                    }
                }
            }
        })
    })
}

/// As [`watched`], for work that reads a database. If another program overwrote a file of the database, the
/// outcome is an error that says so, even if the work returned a result or panicked.
pub(crate) fn watched_reading<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    listener: Option<&Listener>,
    database: &Path,
    work: impl FnOnce() -> PyOutcome<T> + Send,
) -> PyOutcome<T> {
    watched(py, cancel, listener, || esker::guarded(database, work))
}

/// Does short work that reads a database on the calling thread, detached from the interpreter. Has the errors
/// of [`watched_reading`].
pub(crate) fn reading<T: Send>(
    py: Python<'_>,
    database: &Path,
    work: impl FnOnce() -> PyOutcome<T> + Send,
) -> PyOutcome<T> {
    py.detach(|| esker::guarded(database, work))
}

/// The outcome for the caller: the exception that was raised meanwhile, or what the work returned.
fn finish<T>(
    outcome: std::thread::Result<PyOutcome<T>>,
    raised: Option<PyErr>,
    listener: Option<&Listener>,
) -> PyOutcome<T> {
    if let Some(error) = raised {
        return Err(error.into());
    }
    if outcome.is_err() {
        // A file that another program overwrote explains the panic.
        esker::check_maps(Path::new(""))?;
    }
    let outcome = outcome.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        bug(&text.unwrap_or_default())
    })?;
    if outcome.is_ok() && listener.is_some() {
        Python::attach(|py| check_in(py, listener))?;
    }
    outcome
}

fn bug(text: &str) -> PyFailure {
    PyFailure::Named("Error", format!("internal error: {text}; this is a bug in Esker, please report it"))
}

/// Handles pending signals and calls the progress callback.
fn check_in(py: Python<'_>, listener: Option<&Listener>) -> PyResult<()> {
    py.check_signals()?;
    if let Some(listener) = listener
        && let Some(args) = listener.slot.take()
    {
        listener.callback.call1(py, args)?;
    }
    Ok(())
}
