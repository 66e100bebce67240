//! Values of attributes as a file has them.

use std::borrow::Cow;

use esker_format::value::digits::{push_i64, push_u64};

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Attribute<'a> {
    Int(i64),
    /// Beyond the integers with a sign.
    Unsigned(u64),
    /// Never NaN, which is a missing value.
    Float(f64),
    Boolean(bool),
    Text(Cow<'a, str>),
}

impl Attribute<'_> {
    /// The value as a text, as it is written.
    pub(super) fn text(&self) -> Cow<'_, [u8]> {
        let mut out = Vec::new();
        match self {
            Self::Text(text) => return Cow::Borrowed(text.as_bytes()),
            Self::Int(value) => push_i64(&mut out, *value),
            Self::Unsigned(value) => push_u64(&mut out, *value),
            Self::Float(value) => out.extend_from_slice(format!("{value:?}").as_bytes()),
            Self::Boolean(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        }
        Cow::Owned(out)
    }
}
