//! Long work on a thread of its own, while the caller's looks after signals and progress.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use esker::graph::Cancel;
use pyo3::prelude::*;

use crate::failure::{Failure, Outcome};

/// How often signals are looked at. With the at most 100 ms in which a kernel obeys, and usually far less, an interrupt is soon felt.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// What a progress callback is told: stage, fraction done, round, vertices or edges.
pub(crate) type Told = (String, Option<f64>, Option<u64>, u64);

/// Where a working thread leaves its progress for the calling one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Board(Arc<Mutex<Option<Told>>>);

impl Board {
    pub(crate) fn tell(&self, told: Told) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
    }

    fn take(&self) -> Option<Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Somebody who wants to know of progress.
pub(crate) struct Listener {
    pub(crate) callback: Py<PyAny>,
    pub(crate) board: Board,
}

/// Does `work` on another thread, detached from the interpreter. A signal whose handler raises, or a callback that does, sets
/// `cancel`, and its exception is the outcome once the work has stopped.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    listener: Option<&Listener>,
    work: impl FnOnce() -> Outcome<T> + Send,
) -> Outcome<T> {
    py.detach(|| {
        let (sender, receiver) = sync_channel(1);
        std::thread::scope(|scope| {
            let working = std::thread::Builder::new().name("esker-work".to_owned());
            let started = working.spawn_scoped(scope, move || {
                let outcome = catch_unwind(AssertUnwindSafe(work));
                // Nobody receives only if the caller's thread is unwinding.
                let _ = sender.send(outcome);
            });
            if let Err(error) = started {
                return Err(Failure::Named("Error", format!("no thread can be started: {error}")));
            }
            let mut raised = None;
            loop {
                match receiver.recv_timeout(LOOK_EVERY) {
                    Ok(outcome) => return finish(outcome, raised, listener),
                    Err(RecvTimeoutError::Disconnected) => return Err(defect("a thread vanished")),
                    Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = Python::attach(|py| look(py, listener)) {
                            cancel.cancel();
                            raised = Some(error);
                        }
                    }
                }
            }
        })
    })
}

fn finish<T>(
    outcome: std::thread::Result<Outcome<T>>,
    raised: Option<PyErr>,
    listener: Option<&Listener>,
) -> Outcome<T> {
    if let Some(error) = raised {
        return Err(error.into());
    }
    let outcome = outcome.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        defect(&text.unwrap_or_default())
    })?;
    if outcome.is_ok() && listener.is_some() {
        Python::attach(|py| look(py, listener))?;
    }
    outcome
}

fn defect(text: &str) -> Failure {
    Failure::Named("Error", format!("a defect of Esker: {text}; please report it"))
}

fn look(py: Python<'_>, listener: Option<&Listener>) -> PyResult<()> {
    py.check_signals()?;
    if let Some(listener) = listener
        && let Some(told) = listener.board.take()
    {
        listener.callback.call1(py, told)?;
    }
    Ok(())
}
