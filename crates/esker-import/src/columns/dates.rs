//! Dates that no rule without an option reads: `21.11.2026`, `03/04/2026 10:00`, `20261121`.

/// Values that are looked at.
const VALUES_MAX: usize = 1000;

/// What follows a day, and its format.
const TIMES: [(&str, &str); 7] = [
    ("", ""),
    ("00:00", " %H:%M"),
    ("00:00:00", " %H:%M:%S"),
    ("00:00:00.", " %H:%M:%S%.f"),
    ("00:00 M", " %I:%M %p"),
    ("00:00:00 M", " %I:%M:%S %p"),
    ("00:00:00. M", " %I:%M:%S%.f %p"),
];

/// A time of day with zeros for digits, as [`TIMES`] has it: an hour of one digit is one of two, a fraction
/// of the second is a point, and AM and PM are an M.
fn form_of_time(time: &str) -> String {
    let (clock, half) = match time.split_once(' ') {
        Some((clock, half)) if half.eq_ignore_ascii_case("am") || half.eq_ignore_ascii_case("pm") => {
            (clock, " M")
        }
        _ => (time, ""),
    };
    let (clock, point) = match clock.split_once('.') {
        Some((clock, digits)) if !digits.is_empty() && digits.bytes().all(|one| one.is_ascii_digit()) => {
            (clock, ".")
        }
        _ => (clock, ""),
    };
    let zeros: String = clock.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let hour = if zeros.starts_with("0:") { "0" } else { "" };
    format!("{hour}{zeros}{point}{half}")
}

/// The format of a column whose values all look like such dates, and a second one if day and month cannot be
/// told apart; `None` for other columns.
pub(crate) fn date_formats<'v>(values: impl Iterator<Item = &'v [u8]>) -> Option<Vec<String>> {
    let mut seen: Option<DateLike> = None;
    for value in values.filter(|value| !value.is_empty()).take(VALUES_MAX) {
        let found = DateLike::of(std::str::from_utf8(value).ok()?)?;
        seen = Some(match seen {
            None => found,
            Some(before) => before.united(&found)?,
        });
    }
    let DateLike { day_first, month_first, time } = seen?;
    let formats: Vec<String> = [day_first, month_first].into_iter().flatten().map(|day| day + time).collect();
    (!formats.is_empty()).then_some(formats)
}

/// What a value may be as a date.
struct DateLike {
    /// The format of the day if the day comes first, or the year.
    day_first: Option<String>,
    /// If the month does.
    month_first: Option<String>,
    /// The format of the time of day.
    time: &'static str,
}

impl DateLike {
    fn of(text: &str) -> Option<Self> {
        let (day, time) = text.split_once(' ').unwrap_or((text, ""));
        let form = form_of_time(time);
        let (_, time) = TIMES.into_iter().find(|(known, _)| *known == form)?;
        if day.len() == 8 && day.bytes().all(|byte| byte.is_ascii_digit()) {
            let is_date = is_year(&day[..4]) && is_within(&day[4..6], 12) && is_within(&day[6..], 31);
            return is_date.then(|| Self { day_first: Some("%Y%m%d".to_owned()), month_first: None, time });
        }
        let mark = day.chars().find(|c| matches!(c, '.' | '/' | '-'))?;
        let parts: Vec<&str> = day.split(mark).collect();
        let &[first, second, last] = parts.as_slice() else { return None };
        if is_year(first) && mark != '-' && is_within(second, 12) && is_within(last, 31) {
            return Some(Self { day_first: Some(format!("%Y{mark}%m{mark}%d")), month_first: None, time });
        }
        let year = match last.len() {
            4 if is_year(last) => "%Y",
            2 if last.bytes().all(|byte| byte.is_ascii_digit()) => "%y",
            _ => return None,
        };
        let format = |fits: bool, order: [&str; 2]| {
            fits.then(|| format!("{}{mark}{}{mark}{year}", order[0], order[1]))
        };
        Some(Self {
            day_first: format(is_within(first, 31) && is_within(second, 12), ["%d", "%m"]),
            month_first: format(is_within(first, 12) && is_within(second, 31), ["%m", "%d"]),
            time,
        })
    }

    /// What both may be; `None` if their forms differ.
    fn united(self, other: &Self) -> Option<Self> {
        if self.time != other.time {
            return None;
        }
        let both =
            |own: Option<String>, other: &Option<String>| own.filter(|own| other.as_ref() == Some(own));
        Some(Self {
            day_first: both(self.day_first, &other.day_first),
            month_first: both(self.month_first, &other.month_first),
            time: self.time,
        })
    }
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && text.parse().is_ok_and(|year: u32| (1900..2100).contains(&year))
}

/// Whether a text is a number of one or two digits from 1 to `max`.
fn is_within(text: &str, max: u32) -> bool {
    text.len() <= 2
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && text.parse().is_ok_and(|number: u32| (1..=max).contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_other_forms_have_formats() {
        for (values, expected) in [
            (&["21.11.2026", "", "03.04.2026"][..], Some(&["%d.%m.%Y"][..])),
            (&["03/04/2026", "11/21/2026"], Some(&["%m/%d/%Y"])),
            (&["03/04/26", "01/02/26"], Some(&["%d/%m/%y", "%m/%d/%y"])),
            (&["3-4-2026 10:00"], Some(&["%d-%m-%Y %H:%M", "%m-%d-%Y %H:%M"])),
            (&["7/27/2017 3:30", "7/7/2017 12:30"], Some(&["%m/%d/%Y %H:%M"])),
            (&["7/27/2017 3:30 PM", "7/7/2017 12:30 am"], Some(&["%m/%d/%Y %I:%M %p"])),
            (&["27.7.2017 3:30:01.5"], Some(&["%d.%m.%Y %H:%M:%S%.f"])),
            (&["27.7.2017 3:30 o'clock"], None),
            (&["2026/11/21 10:00:00"], Some(&["%Y/%m/%d %H:%M:%S"])),
            (&["20261121", "20260101"], Some(&["%Y%m%d"])),
            (&["21/11/2026", "11/21/2026"], None),
            (&["21.11.2026", "21/11/2026"], None),
            (&["21.11.2026", "later"], None),
            (&["20261121", "20261321"], None),
            (&["1.2.3"], None),
            (&["10.0.12.13"], None),
            (&["2026-11-21"], None),
            (&["12345678"], None),
            (&[""], None),
            (&[], None),
        ] {
            let found = date_formats(values.iter().map(|value| value.as_bytes()));
            assert_eq!(
                found.as_deref(),
                expected.map(|all| all.iter().map(|&one| one.to_owned()).collect::<Vec<_>>()).as_deref(),
                "{values:?}"
            );
        }
    }
}
