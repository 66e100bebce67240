//! Converts errors of Esker to Python exceptions.

use esker::graph::Stop;
use esker::store::{CommitSizing, Error as StoreError, ErrorKind, Reported};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use serde::Deserialize;

use crate::language::said;

/// An error before its conversion to an exception.
#[derive(Debug)]
pub(crate) enum PyFailure {
    /// An error of the library.
    Esker(esker::Error),
    /// A Python exception.
    Python(PyErr),
    /// The name of an exception of `esker._errors`, and the message.
    Named(&'static str, String),
    /// A refusal for lack of memory, and what would help other than a higher limit.
    Refused(StoreError, &'static str),
}

impl PyFailure {
    /// The failure of feeding, which says what would help if a commit did not fit.
    pub(crate) fn of_feed(error: StoreError) -> Self {
        match CommitSizing::is_refusal(&error) {
            true => Self::from(error).or("commit fewer changes at a time with batch_edges"),
            false => error.into(),
        }
    }

    /// Adds to a refusal for lack of memory what would help other than a higher limit.
    pub(crate) fn or(self, remedy: &'static str) -> Self {
        match self {
            Self::Esker(esker::Error::Store(refusal @ StoreError::Stop(Stop::OverBudget { .. }))) => {
                Self::Refused(refusal, remedy)
            }
            other => other,
        }
    }
}

/// Result with a [`PyFailure`].
pub(crate) type PyOutcome<T> = Result<T, PyFailure>;

/// An error about the value of an argument.
pub(crate) fn invalid<T>(message: impl Into<String>) -> PyOutcome<T> {
    Err(PyFailure::Named("InvalidError", message.into()))
}

/// An error about the type of an argument.
pub(crate) fn mistyped<T>(message: impl Into<String>) -> PyOutcome<T> {
    Err(PyFailure::Named("MistypedError", message.into()))
}

impl From<esker::Error> for PyFailure {
    fn from(error: esker::Error) -> Self {
        Self::Esker(error)
    }
}

impl From<StoreError> for PyFailure {
    fn from(error: StoreError) -> Self {
        Self::Esker(error.into())
    }
}

impl From<Stop> for PyFailure {
    fn from(stop: Stop) -> Self {
        Self::Esker(stop.into())
    }
}

impl From<PyErr> for PyFailure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<arrow_schema::ArrowError> for PyFailure {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Self::Named("InvalidError", error.to_string())
    }
}

impl From<PyFailure> for PyErr {
    fn from(failure: PyFailure) -> Self {
        Python::attach(|py| raise(py, failure))
    }
}

fn raise(py: Python<'_>, failure: PyFailure) -> PyErr {
    match failure {
        PyFailure::Python(error) => error,
        PyFailure::Named(class, message) => named(py, class, &message, |_| Ok(())),
        PyFailure::Refused(error, remedy) => {
            raise_store(py, &error, &format!("{}, or {remedy}", said(&error.message())))
        }
        PyFailure::Esker(esker::Error::Store(error)) => raise_store(py, &error, &said(&error.message())),
        PyFailure::Esker(esker::Error::Usage(message)) => {
            named(py, "InvalidError", &said(&message), |_| Ok(()))
        }
        PyFailure::Esker(error @ esker::Error::Wrong { .. }) => {
            named(py, "WrongAnswerError", &error.to_string(), |_| Ok(()))
        }
    }
}

fn raise_store(py: Python<'_>, error: &StoreError, message: &str) -> PyErr {
    let class = class_of(error.kind());
    match error {
        StoreError::Io { path, source, .. } => named(py, class, message, |exception| {
            exception.setattr("errno", source.raw_os_error())?;
            exception.setattr("filename", path.display().to_string())
        }),
        StoreError::Corrupt { path, offset, .. } => named(py, class, message, |exception| {
            exception.setattr("path", path.display().to_string())?;
            exception.setattr("offset", offset)
        }),
        StoreError::Lost { path, .. } => {
            named(py, class, message, |exception| exception.setattr("path", path.display().to_string()))
        }
        StoreError::Input { path, line, text, reason } => named(py, class, message, |exception| {
            exception.setattr("path", path.display().to_string())?;
            exception.setattr("line", line)?;
            exception.setattr("text", text)?;
            exception.setattr("reason", said(reason))
        }),
        StoreError::Stop(Stop::Cancelled) => named(py, class, "cancelled", |_| Ok(())),
        StoreError::Stop(Stop::OverBudget { needed_bytes, budget_bytes, .. }) => {
            named(py, class, message, |exception| {
                exception.setattr("needed_bytes", needed_bytes)?;
                exception.setattr("limit_bytes", budget_bytes)
            })
        }
        StoreError::Usage(_)
        | StoreError::Invalid(_)
        | StoreError::Locked { .. }
        | StoreError::Exists(_)
        | StoreError::NotFound { .. }
        | StoreError::Stop(Stop::Unsuitable(_) | Stop::Threads(_))
        | StoreError::Reported(_) => named(py, class, message, |_| Ok(())),
    }
}

/// The class of `esker._errors` for an error.
fn class_of(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Io => "StorageError",
        ErrorKind::PermissionDenied => "PermissionDeniedError",
        ErrorKind::Corrupt => "CorruptError",
        ErrorKind::Lost => "LostError",
        ErrorKind::Input | ErrorKind::InputLine => "InputError",
        ErrorKind::Usage | ErrorKind::Invalid => "InvalidError",
        ErrorKind::Locked => "LockedError",
        ErrorKind::Exists => "ExistsError",
        ErrorKind::FileNotFound => "NotFoundError",
        ErrorKind::VertexNotFound => "VertexNotFoundError",
        ErrorKind::VersionNotFound => "VersionNotFoundError",
        ErrorKind::Cancelled => "Cancelled",
        ErrorKind::OverBudget => "MemoryLimitError",
        ErrorKind::Unsuitable => "UnsuitableError",
        ErrorKind::Threads | ErrorKind::ProcessLost => "Error",
        ErrorKind::WrongAnswer => "WrongAnswerError",
    }
}

/// What the command prints of a failure if `ESKER_ERRORS` is `json`.
#[derive(Deserialize)]
struct CommandFailure {
    error: Reported,
    /// What was done before it.
    done: Option<String>,
}

/// The exception for a failure of the command, a line of JSON. None if it is no such line.
#[pyfunction]
pub(crate) fn command_failure(py: Python<'_>, line: &str) -> Option<Py<PyAny>> {
    let CommandFailure { error, done } = serde_json::from_str(line).ok()?;
    let said = match error.kind {
        ErrorKind::Cancelled => "cancelled".to_owned(),
        _ => said(&error.message),
    };
    let message = match (done, error.kind) {
        (None, _) => said,
        (Some(done), ErrorKind::Cancelled) => format!("{done}, then {said}"),
        (Some(done), _) => format!("{done}, but then: {said}"),
    };
    Some(named(py, class_of(error.kind), &message, |_| Ok(())).into_value(py).into_any())
}

fn named(
    py: Python<'_>,
    class: &str,
    message: &str,
    describe: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>,
) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let errors = py.import("esker._errors")?;
        let class = errors.getattr(class)?.cast_into::<PyType>()?;
        let exception = class.call1((message,))?;
        describe(&exception)?;
        Ok(PyErr::from_value(exception))
    };
    make().unwrap_or_else(|error| {
        PyRuntimeError::new_err(format!("{message} (its exception class cannot be created: {error})"))
    })
}
