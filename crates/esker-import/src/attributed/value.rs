//! Values of attributes as a file has them.

use std::borrow::Cow;

use esker_format::value::decimal::{self, Number};
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
    /// A number by its decimal digits; `None` if they are none. An integer that 64 bits hold is never taken
    /// for a float, not even one from 2^63 on that a float holds exactly.
    pub(super) fn of_number(digits: &[u8]) -> Option<Self> {
        match (decimal::number(digits), decimal::unsigned(digits)) {
            (Ok(Number::Int(value)), _) => Some(Self::Int(value)),
            (_, Some(value)) => Some(Self::Unsigned(value)),
            (Ok(Number::Float(value)), _) => Some(Self::Float(value)),
            (Err(_), None) => None,
        }
    }

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
