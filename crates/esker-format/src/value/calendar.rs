//! Days of the Gregorian calendar, counted from 1970-01-01, and the hours of the day as texts.

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days of all years from 0 up to `year`.
fn days_before_year(year: i64) -> i64 {
    let last = year - 1;
    year * 365 + last.div_euclid(4) - last.div_euclid(100) + last.div_euclid(400) + 1
}

/// The days from 1970-01-01 to a date; `None` if there is no such date.
pub fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let valid = (1..=12).contains(&month) && day >= 1 && day <= days_in(year, month);
    let before: i64 = (1..month).map(|month| days_in(year, month)).sum();
    valid.then(|| days_before_year(year) - days_before_year(1970) + before + day - 1)
}

/// Year, month and day of a number of days since 1970-01-01.
pub fn date_of(days: i64) -> (i64, i64, i64) {
    let day_of = |year| days_before_year(year) - days_before_year(1970);
    // 400 years have 146097 days, so the guess is off by at most one year.
    let guess = 1970 + (i128::from(days) * 400).div_euclid(146_097) as i64;
    let year = (guess - 1..=guess + 1).rev().find(|&year| day_of(year) <= days).unwrap_or(guess);
    let (mut month, mut day) = (1, days - day_of(year));
    while day >= days_in(year, month) {
        day -= days_in(year, month);
        month += 1;
    }
    (year, month, day + 1)
}

/// Parses a date such as `2026-11-21` at the start of `rest`, and advances `rest` past it: its days since
/// 1970-01-01.
pub fn take_date(rest: &mut &str) -> Option<i64> {
    let (year, month, day) = (digits(rest, 4)?, then(rest, '-', 2).flatten()?, then(rest, '-', 2).flatten()?);
    days_since_1970(year, month, day)
}

/// Parses what follows the digits of a time: nothing (`Some(None)`), `Z` or an offset such as `+01:30`, in
/// minutes ahead of UTC.
pub fn offset(text: &str) -> Option<Option<i64>> {
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
pub fn digits(rest: &mut &str, count: usize) -> Option<i64> {
    let (number, after) = rest.split_at_checked(count)?;
    *rest = after;
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())?
}

/// Parses `mark` and `count` digits after it: `None` without the mark, `Some(None)` without the digits.
pub fn then(rest: &mut &str, mark: char, count: usize) -> Option<Option<i64>> {
    *rest = rest.strip_prefix(mark)?;
    Some(digits(rest, count))
}
