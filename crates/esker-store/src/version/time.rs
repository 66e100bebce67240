//! Parsing and formatting times: RFC 3339, in UTC unless an offset is given.

use std::fmt::Write;
use std::ops::RangeInclusive;

use esker_format::calendar::{date_of, digits, offset, take_date, then};
use esker_format::{Error, Result};

const DAY_MS: i64 = 86_400_000;

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
    Err(Error::Invalid("the time of a commit must be before the year 10000".to_owned()))
}

/// Parses a time to a range of milliseconds since 1970, UTC: a day, minute or second gives all its milliseconds. Also accepts `@`
/// followed by a number of milliseconds.
///
/// # Errors
/// A message that shows the accepted forms.
pub fn parse_time(text: &str) -> std::result::Result<RangeInclusive<u64>, String> {
    let wrong = || {
        format!(
            "{text:?} is not a time: write 2026-11-21, 2026-11-21T10:00:00Z, or @ and milliseconds since 1970"
        )
    };
    if let Some(milliseconds) = text.strip_prefix('@') {
        return milliseconds.parse().map(|ms| ms..=ms).map_err(|_| wrong());
    }
    let range = civil(text).ok_or_else(wrong)?;
    match u64::try_from(*range.start()) {
        Ok(start) => Ok(start..=*range.end() as u64),
        Err(_) => Err(format!("{text:?} is before 1970")),
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
    let (days, of_day) = ((ms / DAY_MS as u64) as i64, ms % DAY_MS as u64);
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if !ms.is_multiple_of(1000) {
        // Writing to a string does not fail.
        let _ = write!(text, ".{:03}", ms % 1000);
    }
    text + "Z"
}

fn civil(text: &str) -> Option<RangeInclusive<i64>> {
    let mut rest = text;
    let start = take_date(&mut rest)? * DAY_MS;
    if rest.is_empty() {
        return Some(start..=start + DAY_MS - 1);
    }
    rest = rest.strip_prefix(['T', 't', ' '])?;
    let (hour, minute) = (digits(&mut rest, 2)?, then(&mut rest, ':', 2).flatten()?);
    let (mut ms, mut span) = ((hour * 60 + minute) * 60_000, 60_000);
    if let Some(second) = then(&mut rest, ':', 2) {
        let second = second.filter(|&second| second < 60)?;
        (ms, span) = (ms + second * 1000, 1000);
        if let Some(fraction) = rest.strip_prefix('.') {
            let len = fraction.bytes().take_while(u8::is_ascii_digit).count();
            // Milliseconds; ignores further digits.
            let mut thousandths = format!("{:0<3}", &fraction[..len]);
            thousandths.truncate(3);
            ms += thousandths.parse::<i64>().ok().filter(|_| len > 0)?;
            (rest, span) = (&fraction[len..], 1);
        }
    }
    let offset_minutes = offset(rest)?.unwrap_or(0);
    let valid = hour < 24 && minute < 60;
    valid.then(|| start + ms - offset_minutes * 60_000).map(|first| first..=first + span - 1)
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
