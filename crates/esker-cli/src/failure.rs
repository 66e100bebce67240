//! Failures of commands and their exit codes.

use esker::Error;
use esker::graph::{Message, Stop, message};
use esker::store::{self, ErrorKind, Reported};

use crate::interrupt::{self, EXIT_INTERRUPTED};
use crate::language::said;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Bad usage: exit code 2.
    Usage(String),
    /// A failed operation: exit code 1.
    Failed(String),
    /// An error of the library: exit code 2 if it is one of usage, else 1.
    Library(Box<Reported>),
    /// The change of a database is durable, but what came after it failed: exit code 3.
    Done(Box<DoneFailure>),
    /// A check found nothing but an incomplete record at the end of a file: exit code 4.
    Unfinished(String),
    /// The user stopped it: exit code 130.
    Interrupted,
    /// The reader of the output closed the pipe, as `head` does: no message, exit code 0.
    PipeClosed,
}

/// What failed after a durable change.
#[derive(Debug)]
pub(crate) struct DoneFailure {
    /// The change, as in `committed as version 7`.
    pub(crate) done: String,
    /// What came after it.
    pub(crate) then: Failure,
}

/// Exit code of a failed operation.
pub(crate) const EXIT_FAILED: i32 = 1;
/// Exit code of bad usage.
const EXIT_USAGE: i32 = 2;
/// Exit code of a failure after a durable change.
pub(crate) const EXIT_DONE: i32 = 3;
/// Exit code of a check that found an incomplete record at the end of a file.
const EXIT_UNFINISHED: i32 = 4;

impl Failure {
    /// An error of the library.
    pub(crate) fn of(kind: ErrorKind, message: Message) -> Self {
        Self::Library(Box::new(Reported { kind, message }))
    }

    /// This failure after a change that is durable; `done` says which, as in `committed as version 7`.
    pub(crate) fn after(self, done: &str) -> Self {
        match self {
            Self::Usage(_) | Self::Failed(_) | Self::Library(_) | Self::Unfinished(_) | Self::Interrupted => {
                Self::Done(Box::new(DoneFailure { done: done.to_owned(), then: self }))
            }
            Self::Done(_) | Self::PipeClosed => self,
        }
    }

    /// This failure with words before and after what it says, if it is one of the work.
    pub(crate) fn between(self, before: &str, after: &str) -> Self {
        match self {
            Self::Failed(reason) => Self::Failed(format!("{before}{reason}{after}")),
            Self::Library(error) if !error.message.is_empty() => {
                Self::of(error.kind, message![before, error.message, after])
            }
            other => other,
        }
    }

    /// What it says; `None`: nothing.
    pub(crate) fn words(&self) -> Option<String> {
        match self {
            Self::Usage(reason) | Self::Failed(reason) | Self::Unfinished(reason) => Some(reason.clone()),
            Self::Library(error) => Some(said(&error.message)),
            Self::Done(failure) => Some(match (&failure.then, failure.then.words()) {
                (Self::Interrupted, _) | (_, None) => format!("{}, then interrupted", failure.done),
                (_, Some(then)) => format!("{}, but then: {then}", failure.done),
            }),
            Self::Interrupted => Some("interrupted".to_owned()),
            Self::PipeClosed => None,
        }
    }

    /// What it is, and what it says in no words of one interface.
    pub(crate) fn reported(&self) -> Reported {
        let (kind, message) = match self {
            Self::Usage(reason) => (ErrorKind::Usage, reason.into()),
            Self::Failed(reason) | Self::Unfinished(reason) => (ErrorKind::Invalid, reason.into()),
            Self::Library(error) => return Reported::clone(error),
            Self::Done(failure) => return failure.then.reported(),
            Self::Interrupted | Self::PipeClosed => (ErrorKind::Cancelled, Message::default()),
        };
        Reported { kind, message }
    }

    /// The exit code of the process.
    pub(crate) fn exit_code(&self) -> i32 {
        match self {
            Self::Usage(_) => EXIT_USAGE,
            Self::Library(error) if error.kind == ErrorKind::Usage => EXIT_USAGE,
            Self::Failed(_) | Self::Library(_) => EXIT_FAILED,
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
            Error::Store(error) => error.into(),
            other => Self::of(other.kind(), other.message()),
        }
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        match error {
            cancelled if cancelled.kind() == ErrorKind::Cancelled => Self::Interrupted,
            store::Error::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe => {
                Self::PipeClosed
            }
            // A wait for input that a signal ended.
            store::Error::Io { .. } if interrupt::token().is_cancelled() => Self::Interrupted,
            other => Self::Library(Box::new(Reported::from(&other))),
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
