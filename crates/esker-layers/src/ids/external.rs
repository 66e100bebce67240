//! External ids, as users give and get them.

use std::fmt;

/// The external id of a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExternalId<'a> {
    /// An integer.
    Int(u64),
    /// A text, usually but not necessarily UTF-8.
    Text(&'a [u8]),
}

impl ExternalId<'_> {
    /// The kind of the id, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Int(_) => "an integer",
            Self::Text(_) => "a text",
        }
    }

    /// Writes the id as in the input: an integer as decimal digits, a text as its bytes.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
        match self {
            Self::Int(id) => write!(out, "{id}"),
            Self::Text(text) => out.write_all(text),
        }
    }
}

impl fmt::Display for ExternalId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(id) => id.fmt(f),
            Self::Text(text) => String::from_utf8_lossy(text).fmt(f),
        }
    }
}

impl From<u64> for ExternalId<'_> {
    fn from(id: u64) -> Self {
        Self::Int(id)
    }
}

impl<'a> From<&'a str> for ExternalId<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.as_bytes())
    }
}

impl<'a> From<&'a [u8]> for ExternalId<'a> {
    fn from(text: &'a [u8]) -> Self {
        Self::Text(text)
    }
}

/// Parses decimal digits, with optional spaces around them. `None` for other text, or if the number exceeds 64 bits.
pub(super) fn parse_int(text: &str) -> Option<u64> {
    let text = text.trim();
    text.parse().ok().filter(|_| !text.starts_with('+'))
}
