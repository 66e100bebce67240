//! Why ids are refused, in words.

use std::ops::RangeInclusive;

use super::digits::NotId;

/// Why a field is no id, in words.
pub(crate) fn not_id(end: &str, why: NotId, may_be_text: bool) -> String {
    let remedy = if may_be_text { "; import with --ids text to take all ids as texts" } else { "" };
    match why {
        NotId::Empty => format!("the {end} is empty"),
        NotId::Negative => format!("the {end} is negative{remedy}"),
        NotId::TooLarge => format!("the {end} is larger than {}{remedy}", u64::MAX),
        NotId::Other => format!("the {end} is not an integer{remedy}"),
    }
}

/// Why an id is refused that an integer does not keep as it is written, in words.
pub(crate) fn not_plain(end: &str) -> String {
    format!(
        "the {end} has zeros or a plus sign in front, which integers do not keep; import with --ids text to take all ids as texts, or \
         with --ids int to leave them out"
    )
}

/// Why an integer is no id of a format that numbers its vertices, in words.
pub(crate) fn not_in_range(end: &str, id: u64, ids: &RangeInclusive<u64>) -> String {
    let (first, last) = (ids.start(), ids.end());
    format!(
        "the {end} is {id}, but the header promises ids from {first} to {last}; mend the header or the line"
    )
}

/// Why a line is refused, with the remedy if it may be a header.
pub(crate) fn of_line(reason: String, may_be_header: bool) -> String {
    match may_be_header {
        true => format!("{reason}; if this line names the columns, pass --header"),
        false => reason,
    }
}

/// Checks an id that is a text.
///
/// # Errors
/// Why it is none, in words.
pub(crate) fn check_text(id: &[u8], end: &str) -> std::result::Result<(), String> {
    if id.is_empty() {
        return Err(format!("the {end} is empty"));
    }
    if memchr::memchr(0, id).is_some() {
        return Err(format!("the {end} has a zero byte in it; the file may be damaged or binary"));
    }
    Ok(())
}
