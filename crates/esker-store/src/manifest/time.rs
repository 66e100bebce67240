//! Parsing and formatting times: RFC 3339, in UTC unless an offset is given.

use std::fmt::Write;
use std::ops::RangeInclusive;

use esker_format::value::calendar::{CivilText, date_of};
use esker_format::value::zone::Zone;
use esker_format::{Error, Result};

const DAY_MS: i64 = 86_400_000;
pub(super) const MS_NANOSECONDS: i128 = 1_000_000;
const SECOND_NANOSECONDS: i128 = 1_000_000_000;

/// The last millisecond of the year 9999. Later times have no common notation.
const EVENT_MS_MAX: u64 = 253_402_300_799_999;

/// Checks the event time of a commit.
///
/// # Errors
/// [`Error::Invalid`] if it is after the year 9999.
pub fn check_event_time(time_ms: u64) -> Result<()> {
    if time_ms <= EVENT_MS_MAX {
        return Ok(());
    }
    Err(Error::invalid("the time of a commit must be before the year 10000".to_owned()))
}

/// Parses a time to a range of milliseconds since 1970, UTC: a day, minute or second gives all its
/// milliseconds. Also accepts `@` followed by a number of milliseconds. Of a time within a millisecond, the
/// result is that millisecond.
///
/// # Errors
/// A message that shows the accepted forms.
pub fn parse_time(text: &str) -> std::result::Result<RangeInclusive<u64>, String> {
    let range = parse_nanoseconds(text)?;
    if *range.start() < 0 {
        return Err(format!("{text:?} is before 1970"));
    }
    // A time of the year 9999 fits, and `@` takes no more than 64 bits.
    Ok((range.start() / MS_NANOSECONDS) as u64..=(range.end() / MS_NANOSECONDS) as u64)
}

/// As [`parse_time`], in nanoseconds since 1970, or before: of a fraction of a second with one to three
/// digits, those of a millisecond, with four to six, of a microsecond, with more, of a nanosecond.
///
/// # Errors
/// As [`parse_time`].
pub fn parse_nanoseconds(text: &str) -> std::result::Result<RangeInclusive<i128>, String> {
    parse_nanoseconds_in(text, None)
}

/// As [`parse_nanoseconds`], where a time without an offset is of a zone: a day may have 23 or 25 hours.
///
/// # Errors
/// As [`parse_time`].
pub fn parse_nanoseconds_in(
    text: &str,
    zone: Option<&Zone>,
) -> std::result::Result<RangeInclusive<i128>, String> {
    let wrong = || {
        format!(
            "{text:?} is not a time: write 2026-11-21, 2026-11-21T10:00:00Z, or @ and milliseconds since 1970"
        )
    };
    match text.strip_prefix('@') {
        Some(milliseconds) => {
            let ms: u64 = milliseconds.parse().map_err(|_| wrong())?;
            let first = i128::from(ms) * MS_NANOSECONDS;
            Ok(first..=first + MS_NANOSECONDS - 1)
        }
        None => civil(text, zone).ok_or_else(wrong),
    }
}

/// Whether a text begins like a time, so that it must be one.
pub(super) fn looks_like_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let date = bytes.len() >= 6 && bytes[..4].iter().all(u8::is_ascii_digit) && bytes[4] == b'-';
    text.starts_with('@') || (date && bytes[5].is_ascii_digit())
}

/// Formats a time as `2026-11-21T10:00:00.123Z`, without the fraction if it is 0.
pub fn format_time(ms: u64) -> String {
    format_signed_time(i64::try_from(ms).unwrap_or(i64::MAX))
}

/// As [`format_time`], of milliseconds since 1970, or before if they are negative.
pub fn format_signed_time(ms: i64) -> String {
    let (days, of_day) = (ms.div_euclid(DAY_MS), ms.rem_euclid(DAY_MS));
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    let fraction = ms.rem_euclid(1000);
    if fraction != 0 {
        // Writing to a string does not fail.
        let _ = write!(text, ".{fraction:03}");
    }
    text + "Z"
}

/// Nanoseconds since 1970.
fn civil(text: &str, zone: Option<&Zone>) -> Option<RangeInclusive<i128>> {
    let civil = CivilText::parse(text)?;
    let zone = zone.filter(|_| civil.offset_minutes.is_none());
    let moment = |local: i64| zone.map_or(local, |zone| zone.moment(local).second);
    let second =
        if civil.offset_minutes.is_some() { civil.utc_second() } else { moment(civil.local_second()) };
    let start = i128::from(second) * SECOND_NANOSECONDS;
    // Nanoseconds; ignores further digits.
    let len = civil.fraction.len();
    let billionths: i128 = format!("{:0<9}", &civil.fraction[..len.min(9)]).parse().ok()?;
    let span = match len {
        _ if civil.second.is_none() && civil.offset_minutes.is_some() => return None,
        _ if civil.second.is_none() => {
            i128::from(moment(civil.local_second() + DAY_MS / 1000) - second) * SECOND_NANOSECONDS
        }
        _ if !civil.has_seconds => 60 * SECOND_NANOSECONDS,
        0 => SECOND_NANOSECONDS,
        1..=3 => MS_NANOSECONDS,
        4..=6 => 1000,
        7.. => 1,
    };
    let first = start + billionths - billionths % span;
    Some(first..=first + span - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_ranges_of_milliseconds() {
        let second = 1_795_255_200_000;
        let day = 1_795_219_200_000;
        for (text, range) in [
            ("2026-11-21", day..=day + 86_399_999),
            ("2026-11-21T10:00", second..=second + 59_999),
            ("2026-11-21T10:00:00", second..=second + 999),
            ("2026-11-21 10:00:00Z", second..=second + 999),
            ("2026-11-21t10:00:00z", second..=second + 999),
            ("2026-11-21T10:00:00.250Z", second + 250..=second + 250),
            ("2026-11-21T10:00:00.2509", second + 250..=second + 250),
            ("2026-11-21T10:00:00.5+00:00", second + 500..=second + 500),
            ("2026-11-21T11:30:00+01:30", second..=second + 999),
            ("2026-11-21T05:00-05:00", second..=second + 59_999),
            ("@1795255200000", second..=second),
            ("1970-01-01", 0..=86_399_999),
            ("2000-02-29T23:59:59Z", 951_868_799_000..=951_868_799_999),
        ] {
            assert_eq!(parse_time(text), Ok(range), "{text}");
        }
        for text in [
            "2026",
            "2026-11",
            "2026-13-01",
            "2026-00-01",
            "2026-11-31",
            "2026-02-29",
            "2026-11-00",
            "2026-11-21T",
            "2026-11-21T24:00",
            "2026-11-21T10:60",
            "2026-11-21T10:00:60",
            "2026-11-21T10",
            "2026-11-21T10:00:",
            "2026-11-21T10:00:00.",
            "2026-11-21T10:00:00+1",
            "2026-11-21T10:00:00 CET",
            "+026-11-21",
            "@",
            "@-1",
            "@now",
            "1969-12-31",
            "2026-11-21é",
            "",
        ] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn formatted_times_parse_to_the_same_value() {
        let mut ms = 0;
        for step in 0..100_000_u64 {
            let text = format_time(ms);
            let range = parse_time(&text).unwrap();
            assert_eq!(*range.start(), ms, "{text}");
            ms += 86_399_999 + step % 7 * 1000;
        }
        assert_eq!(format_time(1_795_255_200_000), "2026-11-21T10:00:00Z");
        assert_eq!(format_time(1_795_255_200_007), "2026-11-21T10:00:00.007Z");
    }
}
