//! Failures of requests, and what clients are told of them.

use std::path::Path;

use axum::http::StatusCode;
use esker::Error;
use esker::graph::{AlgorithmOption, Assignment, Call, Language, Setting, SettingValue, Stop};
use esker::store::{self, ErrorKind};
use serde_json::{Value, json};

use crate::limits::{MESSAGE_CHARS_MAX, TEXT_BYTES_MAX};

/// Why a request has no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server refused it.
    Refused {
        /// The status of the response.
        status: StatusCode,
        /// What programs tell it apart by.
        kind: &'static str,
        /// What it says.
        message: String,
    },
    /// The library refused it, or failed.
    Library(Box<Error>),
}

/// The result of a request.
pub(crate) type Outcome<T = Value> = Result<T, Failure>;

impl Failure {
    /// A request that makes no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::refused(StatusCode::BAD_REQUEST, "usage", message)
    }

    /// A refusal.
    pub(crate) fn refused(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        Self::Refused { status, kind, message: message.into() }
    }

    /// The status and the body of the response; `database` is where the database lies, which clients do not
    /// learn.
    pub(crate) fn told(&self, database: &Path) -> (StatusCode, Value) {
        let (status, kind, message) = match self {
            Self::Refused { status, kind, message } => (*status, *kind, message.clone()),
            Self::Library(error) => {
                (status_of(error.kind()), name_of(error.kind()), without_paths(error, database))
            }
        };
        (status, json!({ "error": { "kind": kind, "message": shortened(message) } }))
    }
}

/// A message, or the beginning of a long one.
fn shortened(message: String) -> String {
    match message.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message,
    }
}

/// Refuses a text that is too long.
pub(crate) fn check_text(what: &str, text: &str) -> Outcome<()> {
    match text.len() {
        0..=TEXT_BYTES_MAX => Ok(()),
        bytes => Err(Failure::usage(format!("{what} has {bytes} bytes; at most {TEXT_BYTES_MAX} are taken"))),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(Box::new(error))
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Error::from(stop).into()
    }
}

/// What an error says, with the name of the database in place of its path, and no path of another file.
fn without_paths(error: &Error, database: &Path) -> String {
    let name = name_of_database(database);
    let said = match error {
        Error::Store(store::Error::Io { action, path, source }) if !path.starts_with(database) => {
            format!("cannot {action} a file: {source}")
        }
        other => other.message().render(&HttpWords),
    };
    said.replace(&database.display().to_string(), &name)
}

/// The last part of the path of a database.
pub(crate) fn name_of_database(database: &Path) -> String {
    database.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn status_of(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::Usage | ErrorKind::Invalid | ErrorKind::InputLine | ErrorKind::Input => {
            StatusCode::BAD_REQUEST
        }
        ErrorKind::VertexNotFound | ErrorKind::VersionNotFound => StatusCode::NOT_FOUND,
        ErrorKind::OverBudget | ErrorKind::Unsuitable => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorKind::Locked | ErrorKind::Exists => StatusCode::CONFLICT,
        ErrorKind::Cancelled | ErrorKind::Threads => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Io
        | ErrorKind::PermissionDenied
        | ErrorKind::Corrupt
        | ErrorKind::Lost
        | ErrorKind::FileNotFound
        | ErrorKind::ProcessLost
        | ErrorKind::WrongAnswer => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn name_of(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Io => "io",
        ErrorKind::PermissionDenied => "permission_denied",
        ErrorKind::Corrupt => "corrupt",
        ErrorKind::Lost => "lost",
        ErrorKind::Input => "input",
        ErrorKind::InputLine => "input_line",
        ErrorKind::Usage => "usage",
        ErrorKind::Invalid => "invalid",
        ErrorKind::Locked => "locked",
        ErrorKind::Exists => "exists",
        ErrorKind::FileNotFound => "file_not_found",
        ErrorKind::VertexNotFound => "vertex_not_found",
        ErrorKind::VersionNotFound => "version_not_found",
        ErrorKind::Cancelled => "cancelled",
        ErrorKind::OverBudget => "over_budget",
        ErrorKind::Unsuitable => "unsuitable",
        ErrorKind::Threads => "threads",
        ErrorKind::ProcessLost => "process_lost",
        ErrorKind::WrongAnswer => "wrong_answer",
    }
}

/// The words of requests: settings are their parameters, operations are commands.
pub(crate) struct HttpWords;

impl Language for HttpWords {
    fn setting(&self, Assignment { setting, value }: &Assignment) -> String {
        let name = match *setting {
            Setting::AsUndirected => "undirected",
            other => other.word(),
        };
        match value {
            None => name.to_owned(),
            Some(SettingValue::Flag(flag)) => format!("{name}={flag}"),
            Some(value) => format!("{name}={value}"),
        }
    }

    fn option(&self, AlgorithmOption { name, value }: &AlgorithmOption) -> String {
        value.as_ref().map_or_else(|| name.clone(), |value| format!("{name}={value}"))
    }

    fn operation(&self, call: &Call) -> String {
        format!("`esker {}`", call.operation.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_cut() {
        let said = |letters: usize| shortened("ü".repeat(letters)).chars().collect::<Vec<_>>();
        assert_eq!(said(MESSAGE_CHARS_MAX), ['ü'; MESSAGE_CHARS_MAX]);
        let cut = said(MESSAGE_CHARS_MAX + 1);
        assert_eq!((cut.len(), cut[MESSAGE_CHARS_MAX]), (MESSAGE_CHARS_MAX + 1, '…'));
    }

    #[test]
    fn no_path_of_the_machine_is_told() {
        let database = Path::new("/srv/ann/web.esker");
        let said = |error: store::Error| Failure::from(error).told(database).1.to_string();
        let damaged = said(store::Error::corrupt("/srv/ann/web.esker/ids/1", 7, "bad"));
        assert!(damaged.contains("web.esker/ids/1 is damaged") && !damaged.contains("ann"), "{damaged}");
        let source = std::io::Error::other("no space");
        let elsewhere = store::Error::io("write", "/tmp/secret/file")(source);
        let (status, body) = Failure::from(elsewhere).told(database);
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(body["error"]["message"], "cannot write a file: no space");
    }
}
