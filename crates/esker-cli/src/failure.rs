//! Failures of commands and their exit codes.

use esker::Error;
use esker::graph::Stop;
use esker::store;

use crate::interrupt::{self, EXIT_INTERRUPTED};
use crate::language::said;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Bad usage: exit code 2.
    Usage(String),
    /// A failed operation: exit code 1.
    Failed(String),
    /// The change of a database is durable, but what came after it failed: exit code 3.
    Done(String),
    /// A check found nothing but an incomplete record at the end of a file: exit code 4.
    Unfinished(String),
    /// The user stopped it: exit code 130.
    Interrupted,
    /// The reader of the output closed the pipe, as `head` does: no message, exit code 0.
    PipeClosed,
}

/// Exit code of a failed operation.
pub(crate) const EXIT_FAILED: i32 = 1;
/// Exit code of a failure after a durable change.
pub(crate) const EXIT_DONE: i32 = 3;
/// Exit code of a check that found an incomplete record at the end of a file.
const EXIT_UNFINISHED: i32 = 4;

impl Failure {
    /// This failure after a change that is durable; `done` says which, as in `committed as version 7`.
    pub(crate) fn after(self, done: &str) -> Self {
        match self {
            Self::Usage(reason) | Self::Failed(reason) | Self::Unfinished(reason) => {
                Self::Done(format!("{done}, but then: {reason}"))
            }
            Self::Interrupted => Self::Done(format!("{done}, then interrupted")),
            Self::Done(_) | Self::PipeClosed => self,
        }
    }

    /// The exit code of the process.
    pub(crate) fn exit_code(&self) -> i32 {
        match self {
            Self::Usage(_) => 2,
            Self::Failed(_) => EXIT_FAILED,
            Self::Done(_) => EXIT_DONE,
            Self::Unfinished(_) => EXIT_UNFINISHED,
            Self::Interrupted => EXIT_INTERRUPTED,
            Self::PipeClosed => 0,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Usage(message) => Self::Usage(said(&message)),
            Error::Store(error) => error.into(),
            other => Self::Failed(said(&other.message())),
        }
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Stop(Stop::Cancelled) => Self::Interrupted,
            store::Error::Usage(message) => Self::Usage(said(&message)),
            store::Error::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe => {
                Self::PipeClosed
            }
            // A wait for input that a signal ended.
            store::Error::Io { .. } if interrupt::token().is_cancelled() => Self::Interrupted,
            other => Self::Failed(said(&other.message())),
        }
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        store::Error::from(stop).into()
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            Self::PipeClosed
        } else {
            Self::Failed(error.to_string())
        }
    }
}

/// The result of a command.
pub(crate) type Outcome = Result<(), Failure>;
