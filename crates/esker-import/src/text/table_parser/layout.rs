//! Which column of a table is what, and the texts of its fields.

use std::borrow::Cow;

use arrow_array::builder::BinaryBuilder;
use esker_format::notation::ColumnNotation;
use esker_format::value::decimal;

use super::super::line::{Dialect, Field, Separator};
use crate::columns::missing::MissingWords;

/// Which column is what in one input.
#[derive(Debug, Clone)]
pub(crate) struct ColumnLayout {
    pub(crate) dialect: Dialect,
    /// Number of columns; 0 if unknown.
    pub(crate) columns: usize,
    pub(crate) has_header: bool,
    /// The line that is a header if the user says so.
    pub(crate) may_be_header: Option<u64>,
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) properties: Vec<usize>,
    /// How the values of each property are written; `None`, also of those beyond: in the common way.
    pub(crate) notations: Vec<Option<ColumnNotation>>,
    /// The end whose ids are written as floats, `7.0` for 7, beside integers at the other.
    pub(crate) float_end: Option<usize>,
    /// The column that says whether an edge is directed.
    pub(crate) direction: Option<usize>,
    /// The words for no value; `None`: every edge has all values.
    pub(crate) missing: Option<MissingWords>,
    /// A letter and a blank with which every line begins, as column 0.
    pub(crate) mark: Option<u8>,
}

impl ColumnLayout {
    /// The columns that every line has: all where one character separates two columns, none for certain
    /// between blanks.
    pub(super) fn least_columns(&self) -> usize {
        match self.dialect.separator {
            Separator::Byte(_) => self.columns,
            Separator::Blank => 0,
        }
    }
}

/// Where the first line at or behind `at` begins that is not empty: an input may have millions of them in a
/// row.
#[inline]
pub(super) fn skip_empty(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at += match bytes.get(at..) {
            Some([b'\n', ..]) => 1,
            Some([b'\r', b'\n', ..]) => 2,
            _ => return at,
        };
    }
}

impl ColumnLayout {
    /// Checks that a line begins with the letter of edges, where lines have one.
    pub(super) fn check_mark(&self, bytes: &[u8], fields: &[Field]) -> std::result::Result<(), String> {
        let Some(mark) = self.mark else { return Ok(()) };
        match fields.first() {
            Some(field) if bytes[field.start..field.end] == [mark] => Ok(()),
            _ => {
                Err(format!("the line begins with neither {} (an edge) nor c (a comment)", char::from(mark)))
            }
        }
    }

    /// Whether the edge of a line leads from a vertex to itself: a loop is the same in both directions.
    pub(super) fn is_loop(&self, bytes: &[u8], fields: &[Field]) -> bool {
        let [source, target] = [self.source, self.target].map(|column| {
            let is_float = self.float_end == Some(column);
            let field = if is_float { without_zeros(bytes, fields[column]) } else { fields[column] };
            text_of(bytes, field)
        });
        source == target
    }
}

/// A field without the point and the zeros behind an integer.
pub(super) fn without_zeros(bytes: &[u8], field: Field) -> Field {
    let text = &bytes[field.start..field.end];
    match memchr::memchr(b'.', text) {
        Some(point) if decimal::id(text).is_ok() => Field { end: field.start + point, ..field },
        _ => field,
    }
}

pub(super) fn push_text(column: &mut BinaryBuilder, bytes: &[u8], field: Field) {
    column.append_value(text_of(bytes, field));
}

/// The text of a field, its doubled quotes undone.
pub(super) fn text_of(bytes: &[u8], field: Field) -> Cow<'_, [u8]> {
    match field.doubled {
        true => Cow::Owned(super::super::shape::text(bytes, field)),
        false => Cow::Borrowed(&bytes[field.start..field.end]),
    }
}
