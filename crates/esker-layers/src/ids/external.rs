//! External ids, as users give and get them.

use std::fmt;

use esker_format::value::decimal::{self, NotId};

/// The external id of a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExternalId<'a> {
    /// An integer.
    Int(u64),
    /// A text, usually but not necessarily UTF-8.
    Text(&'a [u8]),
}

impl<'a> ExternalId<'a> {
    /// An id as a user writes it: a text as it is, or an integer.
    ///
    /// # Errors
    /// Why the text is no id of this kind.
    pub fn parse(text: &'a [u8], are_texts: bool) -> Result<Self, NotId> {
        match are_texts {
            true => decimal::text_id(text).map(|()| Self::Text(text)),
            false => decimal::id(text).map(Self::Int),
        }
    }
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
    /// The errors of `out`.
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
