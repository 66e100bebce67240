//! The store's error type. Every message says what went wrong, where, and what to do.
//!
//! Callers tell errors apart by their variants, never by their words. A message that says what to do names
//! settings and operations as facts ([`Message`]); the command, Python and others render them.

use std::path::{Path, PathBuf};

use esker_graph::{Message, Operation, Stop, message};

/// An error of the store.
#[derive(Debug)]
pub enum Error {
    /// The operating system refused an operation on a file.
    Io {
        /// The operation, as a verb: `read`, `create`, `sync` ...
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file of a database does not hold what Esker wrote.
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// Byte offset of the damage.
        offset: u64,
        /// What was expected there.
        reason: String,
    },
    /// A file of a database, or a part of it, is gone or was replaced by an older copy.
    Lost {
        /// The database.
        database: PathBuf,
        /// The file.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// An input file cannot be parsed.
    Input {
        /// The input; `-` is standard input.
        path: PathBuf,
        /// Line number from 1, where the format has lines.
        line: Option<u64>,
        /// The offending text, shortened; may be empty.
        text: String,
        /// What is wrong, and the remedy.
        reason: Message,
    },
    /// A setting makes no sense, or names what the input does not have.
    Usage(Message),
    /// The request does not fit this database or these options.
    Invalid(Message),
    /// Another writer has locked the database or cluster.
    Locked {
        /// The database or cluster.
        path: PathBuf,
        /// Who has locked it.
        holder: LockHolder,
    },
    /// Something exists in the place of what was to be made.
    Exists(Message),
    /// What was named is not there.
    NotFound {
        /// What was looked for.
        what: Sought,
        /// The name, and what there is instead.
        reason: Message,
    },
    /// The run was cancelled, or needs more memory than its budget.
    Stop(Stop),
    /// An error of another process.
    Reported(Reported),
}

/// What an error is, without its facts. What other processes report keeps this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ErrorKind {
    /// The operating system refused an operation on a file.
    Io,
    /// The operating system denied permission.
    PermissionDenied,
    /// A file is damaged.
    Corrupt,
    /// A file is gone or was replaced by an older copy.
    Lost,
    /// An input cannot be read.
    Input,
    /// A line of an input cannot be parsed.
    InputLine,
    /// A setting makes no sense, or names what the input does not have.
    Usage,
    /// The request does not fit this database or these options.
    Invalid,
    /// Another writer has locked the database or cluster.
    Locked,
    /// Something exists in the place of what was to be made.
    Exists,
    /// A file, a database or a cluster is not there.
    FileNotFound,
    /// No vertex has the id.
    VertexNotFound,
    /// No version has the number, tag or time.
    VersionNotFound,
    /// The run was cancelled.
    Cancelled,
    /// The run needs more memory than its budget.
    OverBudget,
    /// The graph or the options do not allow the computation.
    Unsuitable,
    /// The system starts no threads.
    Threads,
    /// A process of the operation was lost, or its connection.
    ProcessLost,
    /// A verifier rejected an answer: a bug in Esker.
    WrongAnswer,
}

/// An error as it crosses from one process to another: what callers tell it apart by, and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reported {
    /// What it is.
    pub kind: ErrorKind,
    /// What it says.
    pub message: Message,
}

impl From<&Error> for Reported {
    fn from(error: &Error) -> Self {
        Self { kind: error.kind(), message: error.message() }
    }
}

/// Who has locked a database or a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockHolder {
    /// Another process.
    OtherProcess,
    /// Another handle of this process.
    OtherHandle,
    /// Another operation on the cluster.
    OtherChange,
}

/// What a caller named that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sought {
    /// A file, a database or a cluster.
    File,
    /// A vertex, by its id.
    Vertex,
    /// A version, by its number, tag or time.
    Version,
}

/// The store's result.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// For `map_err`: makes an [`Error::Io`] from the operation and the file.
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    /// Whether a file is missing.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    }

    /// Makes an [`Error::Corrupt`].
    pub fn corrupt(path: impl Into<PathBuf>, offset: u64, reason: impl Into<String>) -> Self {
        Self::Corrupt { path: path.into(), offset, reason: reason.into() }
    }

    /// Makes an [`Error::Input`] of a whole input.
    pub fn input(path: impl Into<PathBuf>, reason: impl Into<Message>) -> Self {
        Self::Input { path: path.into(), line: None, text: String::new(), reason: reason.into() }
    }

    /// Makes an [`Error::Invalid`].
    pub fn invalid(reason: impl Into<Message>) -> Self {
        Self::Invalid(reason.into())
    }

    /// Makes an [`Error::Usage`].
    pub fn usage(reason: impl Into<Message>) -> Self {
        Self::Usage(reason.into())
    }

    /// Makes an [`Error::NotFound`].
    pub fn not_found(what: Sought, reason: impl Into<Message>) -> Self {
        Self::NotFound { what, reason: reason.into() }
    }

    /// Makes an [`Error::Reported`].
    pub fn reported(kind: ErrorKind, message: impl Into<Message>) -> Self {
        Self::Reported(Reported { kind, message: message.into() })
    }

    /// What it is, without its facts.
    pub fn kind(&self) -> ErrorKind {
        use std::io::ErrorKind as OfSystem;
        match self {
            Self::Io { source, .. } => match source.kind() {
                OfSystem::NotFound => ErrorKind::FileNotFound,
                OfSystem::AlreadyExists => ErrorKind::Exists,
                OfSystem::PermissionDenied => ErrorKind::PermissionDenied,
                _ => ErrorKind::Io,
            },
            Self::Corrupt { .. } => ErrorKind::Corrupt,
            Self::Lost { .. } => ErrorKind::Lost,
            Self::Input { line: Some(_), .. } => ErrorKind::InputLine,
            Self::Input { line: None, .. } => ErrorKind::Input,
            Self::Usage(_) => ErrorKind::Usage,
            Self::Invalid(_) => ErrorKind::Invalid,
            Self::Locked { .. } => ErrorKind::Locked,
            Self::Exists(_) => ErrorKind::Exists,
            Self::NotFound { what: Sought::File, .. } => ErrorKind::FileNotFound,
            Self::NotFound { what: Sought::Vertex, .. } => ErrorKind::VertexNotFound,
            Self::NotFound { what: Sought::Version, .. } => ErrorKind::VersionNotFound,
            Self::Stop(Stop::Cancelled) => ErrorKind::Cancelled,
            Self::Stop(Stop::OverBudget { .. }) => ErrorKind::OverBudget,
            Self::Stop(Stop::Unsuitable(_)) => ErrorKind::Unsuitable,
            Self::Stop(Stop::Threads(_)) => ErrorKind::Threads,
            Self::Reported(reported) => reported.kind,
        }
    }

    /// What it says. `Display` says the same in the words of the library.
    pub fn message(&self) -> Message {
        match self {
            Self::Io { action, path, source } => {
                format!("cannot {action} {}: {source}", path.display()).into()
            }
            Self::Corrupt { path, offset, reason } => format!(
                "{} is damaged at byte {offset}: {reason}; restore the database from a copy or import it again",
                path.display()
            )
            .into(),
            Self::Lost { database, path, reason } => message![
                format!("{} {reason}; restore the database from a copy, or let ", path.display()),
                Operation::Recover.on(database.display()),
                " say what can be kept",
            ],
            Self::Input { path, line, text, reason } => of_input(path, *line, text, reason),
            Self::Usage(reason)
            | Self::Invalid(reason)
            | Self::Exists(reason)
            | Self::NotFound { reason, .. } => reason.clone(),
            Self::Locked { path, holder } => locked(path, *holder).into(),
            Self::Stop(stop) => stop.message(),
            Self::Reported(reported) => reported.message.clone(),
        }
    }

    /// This error, with more said after its message. Of an error of the system, a damaged file, a lock or a
    /// stop, the facts are what callers go by: those stay as they are.
    #[must_use]
    pub fn and(self, more: impl Into<Message>) -> Self {
        match self {
            Self::Usage(reason) => Self::Usage(reason.and(more)),
            Self::Invalid(reason) => Self::Invalid(reason.and(more)),
            Self::Exists(reason) => Self::Exists(reason.and(more)),
            Self::NotFound { what, reason } => Self::NotFound { what, reason: reason.and(more) },
            Self::Reported(Reported { kind, message }) => Self::reported(kind, message.and(more)),
            other => other,
        }
    }
}

fn of_input(path: &Path, line: Option<u64>, text: &str, reason: &Message) -> Message {
    let place = match line {
        Some(line) => format!("{}:{line}: ", path.display()),
        None => format!("{}: ", path.display()),
    };
    let said = message![place, reason.clone()];
    if text.is_empty() { said } else { said.and(format!(": {text:?}")) }
}

fn locked(path: &Path, holder: LockHolder) -> String {
    let path = path.display();
    match holder {
        LockHolder::OtherProcess => {
            format!("{path} is being written to by another process: wait until it is done")
        }
        LockHolder::OtherHandle => {
            format!("{path} is being written to by another handle of this process: close that one, or use it")
        }
        LockHolder::OtherChange => format!("another command is changing {path}: wait until it has ended"),
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Stop(stop) => std::error::Error::source(stop),
            _ => None,
        }
    }
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}
