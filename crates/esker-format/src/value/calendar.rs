//! Days of the Gregorian calendar, counted from 1970-01-01, and the hours of the day as texts.
//!
//! The calendar is that of the crate `jiff`. The texts are read here, because values are refused by stricter
//! rules than its parsers have (`docs/values.md`). Times are kept in UTC; `zone` has the local ones.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;

const DAY_SECONDS: i64 = 86_400;

/// Days of 400 years, after which the calendar repeats.
const CYCLE_DAYS: i64 = 146_097;

/// The days from 1970-01-01 to a date of the years 0 to 9999; `None` if there is no such date.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let (year, month, day) = (year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?);
    let date = Date::new(year, month, day).ok()?;
    Some(date.duration_since(Date::constant(1970, 1, 1)).as_secs() / DAY_SECONDS)
}

/// Year, month and day of a number of days since 1970-01-01.
pub fn date_of(days: i64) -> (i64, i64, i64) {
    // The crate has the years to 9999, but values of any year are shown.
    let (cycles, days) = (days.div_euclid(CYCLE_DAYS), days.rem_euclid(CYCLE_DAYS));
    let midnight = Timestamp::from_second(days * DAY_SECONDS).expect("a time from 1970 to 2369");
    let date = Offset::UTC.to_datetime(midnight).date();
    (400 * cycles + i64::from(date.year()), date.month().into(), date.day().into())
}

/// Parses a date such as `2026-11-21` at the start of `rest`, and advances `rest` past it: its days since
/// 1970-01-01.
fn take_date(rest: &mut &str) -> Option<i64> {
    let (year, month, day) = (digits(rest, 4)?, then(rest, '-', 2).flatten()?, then(rest, '-', 2).flatten()?);
    days_since_1970(year, month, day)
}

/// Parses what follows the digits of a time: nothing (`Some(None)`), `Z` or an offset such as `+01:30`, in
/// minutes ahead of UTC.
fn offset(text: &str) -> Option<Option<i64>> {
    if text.is_empty() {
        return Some(None);
    }
    if matches!(text, "Z" | "z") {
        return Some(Some(0));
    }
    let (sign, mut rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = (digits(&mut rest, 2)?, then(&mut rest, ':', 2).flatten()?);
    (rest.is_empty() && hours < 24 && minutes < 60).then_some(Some(sign * (hours * 60 + minutes)))
}

/// Parses `count` digits at the start of `rest` and advances it past them.
fn digits(rest: &mut &str, count: usize) -> Option<i64> {
    let (number, after) = rest.split_at_checked(count)?;
    *rest = after;
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())?
}

/// Parses `mark` and `count` digits after it: `None` without the mark, `Some(None)` without the digits.
fn then(rest: &mut &str, mark: char, count: usize) -> Option<Option<i64>> {
    *rest = rest.strip_prefix(mark)?;
    Some(digits(rest, count))
}

/// A date, perhaps with a time of day and an offset, as a text has them: `2026-11-21`, `2026-11-21 10:00`,
/// `2026-11-21T10:00:00.25+01:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CivilText<'t> {
    /// Days since 1970-01-01.
    pub days: i64,
    /// Seconds of the day; `None` if the text is a date.
    pub second: Option<i64>,
    /// Whether the time of day has seconds.
    pub has_seconds: bool,
    /// The digits behind the point of the second.
    pub fraction: &'t str,
    /// Minutes ahead of UTC, if the text says so.
    pub offset_minutes: Option<i64>,
}

impl<'t> CivilText<'t> {
    /// Parses a whole text; `None` if it is no such time.
    pub fn parse(text: &'t str) -> Option<Self> {
        let mut rest = text;
        let days = take_date(&mut rest)?;
        let (mut second, mut has_seconds, mut fraction) = (None, false, "");
        if let Some(after) = rest.strip_prefix(['T', 't', ' ']) {
            rest = after;
            let (hour, minute) = (digits(&mut rest, 2)?, then(&mut rest, ':', 2).flatten()?);
            if hour > 23 || minute > 59 {
                return None;
            }
            second = Some(hour * 3600 + minute * 60);
            if let Some(given) = then(&mut rest, ':', 2) {
                has_seconds = true;
                second = second.zip(given.filter(|&given| given < 60)).map(|(time, given)| time + given);
                second?;
                fraction = take_fraction(&mut rest)?;
            }
        }
        Some(Self { days, second, has_seconds, fraction, offset_minutes: offset(rest)? })
    }

    /// Seconds since 1970-01-01 00:00 in the zone of the text.
    pub fn local_second(&self) -> i64 {
        self.days * DAY_SECONDS + self.second.unwrap_or(0)
    }

    /// Seconds since 1970-01-01 00:00 UTC; without an offset, the text is in UTC.
    pub fn utc_second(&self) -> i64 {
        self.local_second() - self.offset_minutes.unwrap_or(0) * 60
    }
}

/// The digits behind a point or comma at the start of `rest`, which is advanced past them: empty without a
/// point, `None` without digits.
fn take_fraction<'t>(rest: &mut &'t str) -> Option<&'t str> {
    let Some(after) = rest.strip_prefix(['.', ',']) else { return Some("") };
    let (fraction, after) = after.split_at(after.bytes().take_while(u8::is_ascii_digit).count());
    *rest = after;
    (!fraction.is_empty()).then_some(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_days_are_each_others_inverse() {
        for year in [0, 1, 4, 100, 400, 1582, 1899, 1900, 1969, 1970, 1999, 2000, 2024, 2369, 2370, 9999] {
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let first = days_since_1970(year, 1, 1).unwrap();
            let mut day_of_year = 0;
            let lengths = [31, 28 + i64::from(is_leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (month, len) in (1..).zip(lengths) {
                for day in 1..=len {
                    let days = days_since_1970(year, month, day);
                    assert_eq!(days, Some(first + day_of_year), "{year}-{month}-{day}");
                    assert_eq!(date_of(first + day_of_year), (year, month, day));
                    day_of_year += 1;
                }
                assert_eq!([0, len + 1].map(|day| days_since_1970(year, month, day)), [None; 2]);
            }
            assert_eq!([0, 13].map(|month| days_since_1970(year, month, 1)), [None; 2]);
        }
        assert_eq!(days_since_1970(1970, 1, 1), Some(0));
        assert_eq!(date_of(-1), (1969, 12, 31));
    }

    #[test]
    fn days_far_from_today_are_dates_too() {
        for (days, date) in [
            (i64::from(i32::MIN), (-5_877_641, 6, 23)),
            (i64::from(i32::MAX), (5_881_580, 7, 11)),
            (-719_529, (-1, 12, 31)),
            (2_932_897, (10_000, 1, 1)),
        ] {
            assert_eq!(date_of(days), date, "{days}");
        }
        // Neither overflows.
        assert!(date_of(i64::MIN).0 < date_of(i64::MAX).0);
    }
}
