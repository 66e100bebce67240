//! What the values of a column of text are, by a sample.

use std::collections::HashSet;

use esker_format::LogicalType;
use esker_format::value::decimal::{self, NotId, NotNumber};

use crate::read::typed;

/// Values that are looked at for the kind of a column.
const VALUES_MAX: usize = 200;

/// What a column holds, as far as ends of edges are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// No value is known.
    Unknown,
    /// Integers, of which most can be ids.
    Integers,
    /// Numbers, of which some are not whole.
    Fractions,
    /// Truth values.
    Truths,
    /// Dates or times.
    Times,
    /// Texts.
    Texts,
    /// Something that a graph has no place for.
    Other,
}

impl ValueKind {
    /// The kind of a sample: the one that nine of ten values have, so that a bad cell changes nothing.
    pub(crate) fn of<'v>(values: impl Iterator<Item = &'v [u8]>) -> Self {
        let mut counts = [0_usize; 5];
        let mut given = 0;
        for value in values.filter(|value| !value.is_empty()).take(VALUES_MAX) {
            counts[Self::of_value(value) as usize - 1] += 1;
            given += 1;
        }
        let [integers, fractions, truths, times, _] = counts;
        let most = |count: usize| count * 10 >= given * 9;
        match given {
            0 => Self::Unknown,
            _ if most(integers) => Self::Integers,
            _ if most(integers + fractions) => Self::Fractions,
            _ if most(truths) => Self::Truths,
            _ if most(times) => Self::Times,
            _ => Self::Texts,
        }
    }

    /// The kind of one value.
    pub(crate) fn of_value(value: &[u8]) -> Self {
        match decimal::id(value) {
            Ok(_) | Err(NotId::TooLarge) => return Self::Integers,
            Err(NotId::Negative | NotId::Signed) => {
                return match decimal::number(value) {
                    Ok(decimal::Number::Float(float)) if float.fract() != 0.0 => Self::Fractions,
                    _ => Self::Integers,
                };
            }
            Err(_) => {}
        }
        match decimal::number(value) {
            Ok(_) | Err(NotNumber::NotFinite | NotNumber::TooSmall) => return Self::Fractions,
            Err(_) => {}
        }
        match typed::sniff(std::iter::once(value)) {
            Some(LogicalType::Boolean) => Self::Truths,
            Some(LogicalType::Date | LogicalType::Timestamp { .. }) => Self::Times,
            _ => Self::Texts,
        }
    }

    /// Whether all values are one of two letters or words that databases write for truth values.
    pub(crate) fn are_answers<'v>(values: impl Iterator<Item = &'v [u8]>) -> bool {
        let pairs: [[&[u8]; 2]; 4] = [[b"t", b"f"], [b"y", b"n"], [b"yes", b"no"], [b"on", b"off"]];
        let given: HashSet<Vec<u8>> = values
            .filter(|value| !value.is_empty())
            .map(<[u8]>::to_ascii_lowercase)
            .take(VALUES_MAX)
            .collect();
        let is_one = |value: &Vec<u8>, pair: &[&[u8]; 2]| pair.contains(&value.as_slice());
        !given.is_empty() && pairs.iter().any(|pair| given.iter().all(|value| is_one(value, pair)))
    }

    /// Whether the values may be ids of vertices.
    pub(crate) fn may_be_ids(self) -> bool {
        matches!(self, Self::Integers | Self::Texts | Self::Unknown)
    }

    /// Whether the values are not plain texts, so that a text above them is a name.
    pub(crate) fn is_typed(self) -> bool {
        matches!(self, Self::Integers | Self::Fractions | Self::Truths | Self::Times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_from_ids() {
        let are = |values: &[&str]| ValueKind::are_answers(values.iter().map(|value| value.as_bytes()));
        for answers in [&["t", "f", ""][..], &["Y", "n"], &["no"]] {
            assert!(are(answers), "{answers:?}");
        }
        for ids in [&["t", "n"][..], &["", ""], &["yes", "no", "maybe"]] {
            assert!(!are(ids), "{ids:?}");
        }
    }

    #[test]
    fn a_bad_cell_does_not_change_the_kind_of_a_column() {
        let kind = |values: &[&str]| ValueKind::of(values.iter().map(|value| value.as_bytes()));
        let table = [
            (&["", ""][..], ValueKind::Unknown),
            (&["1", "2", "-3"], ValueKind::Integers),
            (&["1.0", "2.0"], ValueKind::Integers),
            (&["1", "2.5"], ValueKind::Fractions),
            (&["-1", "-2.5"], ValueKind::Fractions),
            (&["1", "2", "3", "4", "5", "6", "7", "8", "9", "n/a"], ValueKind::Integers),
            (&["1", "n/a"], ValueKind::Texts),
            (&["true", "false"], ValueKind::Truths),
            (&["2024-01-02", "2024-01-03"], ValueKind::Times),
            (&["2024-01-02T10:00:00Z"], ValueKind::Times),
            (&["10.0.0.1", "a"], ValueKind::Texts),
            (&["007", "abc"], ValueKind::Texts),
        ];
        for (values, expected) in table {
            assert_eq!(kind(values), expected, "{values:?}");
        }
    }
}
