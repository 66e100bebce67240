//! The store's error type. Every message says what went wrong, where, and what to do.

use std::path::{Path, PathBuf};

use esker_graph::Stop;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused an operation on a file.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The operation, as a verb: `read`, `create`, `sync` ...
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file of a database does not hold what Esker wrote.
    #[error("{} is damaged at byte {offset}: {reason}; restore the database from a copy or import it again", path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// Byte offset of the damage.
        offset: u64,
        /// What was expected there.
        reason: String,
    },
    /// A file of a database, or a part of it, is gone or was replaced by an older copy.
    #[error(
        "{} {reason}; restore the database from a copy, or let `esker recover {}` say what can be kept",
        path.display(), database.display()
    )]
    Lost {
        /// The database.
        database: PathBuf,
        /// The file.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// An input file cannot be parsed.
    #[error("{}", describe_input(path, *line, text, reason))]
    Input {
        /// The input; `-` is standard input.
        path: PathBuf,
        /// Line number from 1, where the format has lines.
        line: Option<u64>,
        /// The offending text, shortened; may be empty.
        text: String,
        /// What is wrong, and the remedy.
        reason: String,
    },
    /// An option names what the input does not have.
    #[error("{0}")]
    Usage(String),
    /// The request does not fit this database or these options.
    #[error("{0}")]
    Invalid(String),
    /// The run was cancelled, or needs more memory than its budget.
    #[error(transparent)]
    Stop(#[from] Stop),
}

fn describe_input(path: &Path, line: Option<u64>, text: &str, reason: &str) -> String {
    let place = match line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    };
    if text.is_empty() { format!("{place}: {reason}") } else { format!("{place}: {reason}: {text:?}") }
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
}
