//! The error type of verifiers.

/// The first violated property of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong(pub String);

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

/// Returns an error with the message unless `holds`.
pub(super) fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), Wrong> {
    if holds { Ok(()) } else { Err(Wrong(message())) }
}
