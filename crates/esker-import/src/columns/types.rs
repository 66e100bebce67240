//! The types of columns of text, by a sample.

use esker_format::PropertyType;
use esker_format::notation::ColumnNotation;
use esker_format::value::decimal;

use crate::read::typed::{self, as_time};

/// The type of a column; `None`: numbers, or whatever other inputs say if this one has no row.
pub(crate) fn sniffed(values: &[&[u8]], notation: &ColumnNotation) -> Option<PropertyType> {
    let read = notation.sample(values.iter().copied());
    let fields = || read.iter().map(AsRef::as_ref);
    if values.is_empty() || decimal::are_numbers(fields()) {
        return None;
    }
    Some(typed::sniff(fields()).map_or_else(PropertyType::text, |found| notation.zoned(found).into()))
}

/// As [`sniffed`], of a time: a text among times is a bad line, not a category. A date of a column that is
/// named as the time is the beginning of its day.
pub(crate) fn sniffed_time(
    values: &[&[u8]],
    notation: &ColumnNotation,
    is_named: bool,
) -> Option<PropertyType> {
    let mut found = sniffed(values, notation)?;
    if found.logical.is_text() {
        let read = notation.sample(values.iter().copied());
        found = typed::sniff_most(&read.iter().map(AsRef::as_ref))?.into();
    }
    let found = if is_named { as_time(found) } else { found };
    Some(notation.zoned(found.logical).into())
}
