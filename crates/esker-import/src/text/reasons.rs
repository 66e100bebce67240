//! Why ids and values are refused, in words.

use std::ops::RangeInclusive;
use std::path::Path;

use esker_format::PropertyType;
use esker_format::value::decimal::{NotNumber, text_id};
use esker_graph::{Message, Setting, message};

use super::blocks::excerpt;
pub(crate) use crate::columns::{not_id, not_id_of_database};

/// The warning that all ids are texts, though most are integers.
pub(crate) fn texts_for_some(path: &Path, first: &[u8]) -> Message {
    message![
        format!(
            "{}: all ids are taken as texts, for some are no integers, such as {:?}; ",
            path.display(),
            excerpt(first)
        ),
        Setting::Ids.to("int"),
        " refuses these lines",
    ]
}

/// Why an integer is no id of a format that numbers its vertices, in words.
pub(crate) fn not_in_range(end: &str, id: u64, ids: &RangeInclusive<u64>) -> Message {
    let (first, last) = (ids.start(), ids.end());
    format!(
        "the {end} is {id}, but the header promises ids from {first} to {last}; mend the header or the line"
    )
    .into()
}

/// The column of a value that is refused.
#[derive(Clone, Copy)]
pub(crate) struct RefusedColumn<'a> {
    pub(crate) name: &'a str,
    pub(crate) is_weight: bool,
    pub(crate) is_time: bool,
    /// Whether its type is that of a database, which the options cannot change.
    pub(crate) type_is_fixed: bool,
}

impl RefusedColumn<'_> {
    /// Why a value is no number, in words.
    pub(crate) fn not_number(&self, why: NotNumber) -> Message {
        let (name, reason) = (self.name, why.reason());
        match why {
            NotNumber::Other if self.is_time => {
                format!(
                    "{name} is not a whole number; times are whole numbers unless most of the first are dates; correct it"
                )
                .into()
            }
            NotNumber::TooLong if self.may_be_text() => {
                let declared = format!("{name} {reason}, or declare {name}:u64 (to 2^64 - 1) or {name}:text with ");
                message![declared, Setting::Schema]
            }
            NotNumber::Other if self.may_be_text() => {
                let kept = message![format!("{name} {reason}, or keep the column as texts with ")];
                let kept = if self.is_weight { message![kept, Setting::Weight.to(false), " "] } else { kept };
                kept.and(Setting::Schema.to_type(name, "text"))
            }
            _ => format!("{name} {reason}").into(),
        }
    }

    /// Why a value is not of the type of the column, in words.
    pub(crate) fn not_of_type(&self, property_type: &PropertyType, reason: &str) -> Message {
        let name = self.name;
        let wrong = format!("{name}, of type {property_type}, {reason}; correct it");
        let other = Setting::Schema.to_type(name, "text");
        match self.may_be_text() {
            true => message![wrong, ", or import it with another type, as in ", other],
            false => wrong.into(),
        }
    }

    /// Whether the column could be imported as texts. Texts are no times.
    fn may_be_text(&self) -> bool {
        !self.type_is_fixed && !self.is_time
    }
}

/// Why a line is refused, with the remedy if it may be a header.
pub(crate) fn of_line(reason: Message, may_be_header: bool) -> Message {
    match may_be_header {
        true => message![reason, "; if this line names the columns, pass ", Setting::Header.to(true)],
        false => reason,
    }
}

/// Checks an id that is a text.
///
/// # Errors
/// Why it is none, in words.
pub(crate) fn check_text(id: &[u8], end: &str) -> std::result::Result<(), Message> {
    text_id(id).map_err(|why| format!("the {end} {}", why.reason()).into())
}
