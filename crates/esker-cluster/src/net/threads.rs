//! What to say when the system starts no thread.

use esker_format::Error;

/// The error of a thread that could not be started to do `what`, an infinitive.
pub(crate) fn no_thread(what: &str) -> impl Fn(std::io::Error) -> Error {
    move |error| Error::invalid(format!("cannot start a thread to {what}: {error}"))
}
