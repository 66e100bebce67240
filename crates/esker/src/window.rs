//! Windows over a stream, as users ask for them: lengths with units, ends at times, and steps.
//!
//! A time is a timestamp, whose unit is known, or a whole number in an edge property. The unit of a number is guessed from the latest time unless it is given: seconds, milliseconds,
//! microseconds or nanoseconds since 1970. A window of length `l` that ends at `t` has the edges later than `t - l`, until `t` and with it.

use std::fmt;
use std::str::FromStr;

use esker_graph::Run;
use esker_store::Snapshot;
use esker_store::format::{LogicalType, PropertyRecord, TimeUnit as StoredUnit};
use esker_store::version::{format_time, parse_time};
use esker_store::windows::{Copies, TimeWindow};

use crate::error::{Error, Result};

const DAY_SECONDS: u64 = 86_400;
/// Units of lengths, and their nanoseconds.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", DAY_SECONDS * 1_000_000_000),
    ("w", 7 * DAY_SECONDS * 1_000_000_000),
];
/// The first Monday after the first of January 1970, in days.
const FIRST_MONDAY: i128 = 4;

/// A length of time: `90s`, `15m`, `1h`, `7d`, `2w`, `500ms`, or a whole number in the unit of the times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    number: u64,
    /// Its symbol, and its nanoseconds; `None`: that of the times.
    unit: Option<(&'static str, u64)>,
}

impl Span {
    /// The length as a duration; `None` if it has no unit.
    pub fn duration(self) -> Option<std::time::Duration> {
        let (_, nanoseconds) = self.unit?;
        Some(std::time::Duration::from_nanos(self.number.saturating_mul(nanoseconds)))
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong = || {
            format!("{text:?} is not a length of time: write 90s, 15m, 1h, 7d, 2w, 500ms, or a whole number")
        };
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let number: u64 = number.parse().map_err(|_| wrong())?;
        if number == 0 {
            return Err("a length of time must be more than 0".to_owned());
        }
        if unit.is_empty() {
            return Ok(Self { number, unit: None });
        }
        let unit = UNITS.iter().find(|known| known.0 == unit).copied().ok_or_else(wrong)?;
        Ok(Self { number, unit: Some(unit) })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number, self.unit.map_or("", |unit| unit.0))
    }
}

/// The unit of times since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl TimeUnit {
    /// All units, by their symbols.
    pub const ALL: [(&'static str, Self); 4] = [
        ("s", Self::Seconds),
        ("ms", Self::Milliseconds),
        ("us", Self::Microseconds),
        ("ns", Self::Nanoseconds),
    ];

    /// The unit of a property of timestamps; `None` for others.
    pub(crate) fn of(property: &PropertyRecord) -> Option<Self> {
        let LogicalType::Timestamp { unit, .. } = property.logical else { return None };
        Some(match unit {
            StoredUnit::Second => Self::Seconds,
            StoredUnit::Milli => Self::Milliseconds,
            StoredUnit::Micro => Self::Microseconds,
            StoredUnit::Nano => Self::Nanoseconds,
        })
    }

    /// The unit in which a time lies between 1973 and 5138, or before that the smallest.
    pub fn guess(latest: i64) -> Self {
        match latest.unsigned_abs() {
            0..100_000_000_000 => Self::Seconds,
            100_000_000_000..100_000_000_000_000 => Self::Milliseconds,
            100_000_000_000_000..100_000_000_000_000_000 => Self::Microseconds,
            _ => Self::Nanoseconds,
        }
    }

    /// Nanoseconds in one.
    const fn nanoseconds(self) -> i128 {
        match self {
            Self::Seconds => 1_000_000_000,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1_000,
            Self::Nanoseconds => 1,
        }
    }

    /// A length in seconds.
    pub(crate) fn seconds(self, length: i64) -> f64 {
        length as f64 * self.nanoseconds() as f64 / 1e9
    }

    /// The word for several.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
            Self::Microseconds => "microseconds",
            Self::Nanoseconds => "nanoseconds",
        }
    }

    /// A length in this unit.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is not a whole number of units.
    pub fn length(self, length: Span) -> Result<i64> {
        let mut units = i128::from(length.number);
        if let Some((_, nanoseconds)) = length.unit {
            units *= i128::from(nanoseconds);
            if units % self.nanoseconds() != 0 {
                let name = self.name();
                return Err(Error::Usage(format!(
                    "the times are in {name}: the length {length} must be a whole number of them"
                )));
            }
            units /= self.nanoseconds();
        }
        i64::try_from(units).map_err(|_| Error::Usage("the length of time is beyond 64 bits".to_owned()))
    }

    /// A time in milliseconds since 1970, rounded down; `None` before 1970.
    pub(crate) fn to_ms(self, time: i64) -> Option<u64> {
        u64::try_from((i128::from(time) * self.nanoseconds()).div_euclid(1_000_000)).ok()
    }

    /// A time in milliseconds since 1970 in this unit, rounded down.
    pub fn of_ms(self, ms: u64) -> i64 {
        i64::try_from(i128::from(ms) * 1_000_000 / self.nanoseconds()).unwrap_or(i64::MAX)
    }

    /// The last time of a millisecond since 1970.
    fn last_of_ms(self, ms: u64) -> i64 {
        let nanoseconds = i128::from(ms) * 1_000_000 + 999_999;
        i64::try_from(nanoseconds.div_euclid(self.nanoseconds())).unwrap_or(i64::MAX)
    }

    /// A time as text: RFC 3339, UTC, as far as the unit goes; the number itself if it is before 1970.
    pub fn format(self, time: i64) -> String {
        let Ok(time) = u64::try_from(time) else { return time.to_string() };
        let nanoseconds = u128::from(time) * self.nanoseconds() as u128;
        let (ms, rest) = (nanoseconds / 1_000_000, nanoseconds % 1_000_000);
        let Ok(ms) = u64::try_from(ms) else { return time.to_string() };
        let text = format_time(ms);
        match rest {
            0 => text,
            _ => format!(
                "{}.{:03}{rest:06}Z",
                text.trim_end_matches('Z').split('.').next().unwrap_or(""),
                ms % 1000
            ),
        }
    }
}

/// An end of a window, as a user wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimePoint(String);

impl FromStr for TimePoint {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text.parse::<i64>().is_err() {
            parse_time(text)
                .map_err(|error| format!("{error}, or a whole number in the unit of the times"))?;
        }
        Ok(Self(text.to_owned()))
    }
}

impl TimePoint {
    /// A number in the unit of the times.
    pub fn of_number(time: i64) -> Self {
        Self(time.to_string())
    }

    /// Milliseconds since 1970, UTC.
    pub fn of_ms(ms: u64) -> Self {
        Self(format!("@{ms}"))
    }

    /// The time in a unit: that of a number as it is, the last of a day, minute, second or millisecond.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is not a time.
    pub fn last(&self, unit: TimeUnit) -> Result<i64> {
        match self.0.parse::<i64>() {
            Ok(time) => Ok(time),
            Err(_) => parse_time(&self.0).map(|range| unit.last_of_ms(*range.end())).map_err(Error::Usage),
        }
    }

    /// The time just before the first of a day, minute, second or millisecond.
    ///
    /// # Errors
    /// As [`TimePoint::last`].
    pub fn before(&self, unit: TimeUnit) -> Result<i64> {
        match self.0.parse::<i64>() {
            Ok(time) => Ok(time.saturating_sub(1)),
            Err(_) => {
                let start = parse_time(&self.0).map_err(Error::Usage)?;
                let nanoseconds = i128::from(*start.start()) * 1_000_000;
                let first = nanoseconds.div_euclid(unit.nanoseconds());
                Ok(i64::try_from(first).unwrap_or(i64::MAX).saturating_sub(1))
            }
        }
    }
}

impl fmt::Display for TimePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The times of a version: where they are, what they mean, and how far they go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times {
    /// The edge property.
    pub property: String,
    /// Its unit.
    pub unit: TimeUnit,
    /// The least and the greatest; `None` if there are no edges.
    pub range: Option<(i64, i64)>,
}

impl Times {
    /// Finds the times of a version: in the property of that name, or the only one that can hold times. Reads them all.
    ///
    /// # Errors
    /// [`Error::Usage`] if no property is named and several or none can hold times; as [`Snapshot::time_range`].
    pub fn of(snapshot: &Snapshot, name: Option<&str>, unit: Option<TimeUnit>, run: &Run) -> Result<Self> {
        let property = match name {
            Some(name) => name.to_owned(),
            None => only_time(snapshot)?,
        };
        let range = snapshot.time_range(&property, run)?;
        let known = TimeUnit::of(snapshot.edge_property(&property)?);
        if let (Some(known), Some(given)) = (known, unit.filter(|&given| known != Some(given))) {
            let (known, given) = (known.name(), given.name());
            return Err(Error::Usage(format!("the times in {property:?} are in {known}, not in {given}")));
        }
        let guess = || TimeUnit::guess(range.map_or(0, |range| range.1));
        let unit = known.or(unit).unwrap_or_else(guess);
        Ok(Self { property, unit, range })
    }

    /// The window of a length that ends at a time; at the latest if none is given.
    ///
    /// # Errors
    /// [`Error::Usage`] for a length or an end that makes no sense in the unit.
    pub fn window(&self, length: Span, until: Option<&TimePoint>, copies: Copies) -> Result<TimeWindow> {
        let until = match until {
            Some(until) => until.last(self.unit)?,
            None => self.range.map_or(0, |range| range.1),
        };
        self.window_until(length, until, copies)
    }

    /// As [`Times::window`], with an end in the unit of the times.
    ///
    /// # Errors
    /// [`Error::Usage`] for a length that makes no sense in the unit.
    pub fn window_until(&self, length: Span, until: i64, copies: Copies) -> Result<TimeWindow> {
        Ok(TimeWindow { after: until.saturating_sub(self.unit.length(length)?), until, copies })
    }

    /// The ends of windows that follow each other, ascending. Lengths with a unit follow the calendar in UTC, weeks from Monday: hours end
    /// with the last moment before the next full hour. Lengths without a unit end at their multiples. The first is the end of the step in which `from` lies, the last that of `to`; if they are not given, those of
    /// the first and the last edge.
    ///
    /// # Errors
    /// [`Error::Usage`] for a length or an end that makes no sense in the unit.
    pub fn steps(
        &self,
        every: Span,
        from: Option<&TimePoint>,
        to: Option<&TimePoint>,
    ) -> Result<impl Iterator<Item = i64> + use<>> {
        let step = i128::from(self.unit.length(every)?);
        let week = 7 * i128::from(DAY_SECONDS) * 1_000_000_000 / self.unit.nanoseconds();
        let origin = match every {
            // A minute ends with its last second, or whatever the unit is.
            Span { unit: Some(_), .. } if step % week == 0 => FIRST_MONDAY * (week / 7) - 1,
            Span { unit: Some(_), .. } => -1,
            Span { unit: None, .. } => 0,
        };
        let from =
            from.map(|from| from.before(self.unit).map(|before| before.saturating_add(1))).transpose()?;
        let to = to.map(|to| to.last(self.unit)).transpose()?;
        let first = from.or(self.range.map(|range| range.0));
        let last = to.or(self.range.map(|range| range.1));
        let end_of = move |time: i64| {
            let up = (i128::from(time) - origin + step - 1).div_euclid(step);
            up * step + origin
        };
        let ends = first.zip(last).map(|(first, last)| (end_of(first), end_of(last)));
        let (first, last) = ends.unwrap_or((0, -1));
        let count = if last < first { 0 } else { (last - first) / step + 1 };
        Ok((0..count).filter_map(move |i| i64::try_from(first + i * step).ok()))
    }
}

/// The only edge property that can hold times.
fn only_time(snapshot: &Snapshot) -> Result<String> {
    let mut names: Vec<&str> = snapshot.time_properties().map(|property| property.name.as_str()).collect();
    if names.len() > 1 {
        let weight = snapshot.weight_property().map(|property| property.name.as_str());
        names.retain(|name| Some(*name) != weight);
    }
    match names[..] {
        [name] => Ok(name.to_owned()),
        [] => Err(Error::Usage(
            "no edge property can hold times: a window needs one with whole numbers".to_owned(),
        )),
        _ => Err(Error::Usage(format!("name the edge property that holds the times: {}", names.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(unit: TimeUnit, range: (i64, i64)) -> Times {
        Times { property: "time".to_owned(), unit, range: Some(range) }
    }

    #[test]
    fn lengths_have_units() {
        let seconds = |text: &str| TimeUnit::Seconds.length(text.parse().unwrap()).ok();
        for (text, expected) in [
            ("90s", Some(90)),
            ("15m", Some(900)),
            ("1h", Some(3600)),
            ("2w", Some(1_209_600)),
            ("5000ms", Some(5)),
            ("5001ms", None),
            ("77", Some(77)),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
        for text in ["", "h", "-1h", "1.5h", "1 h", "1y", "0s", "0"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
        assert!(TimeUnit::Nanoseconds.length("99999999999999w".parse().unwrap()).is_err());
        for text in ["7d", "90", "36h"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn units_are_guessed_and_written() {
        for (latest, unit, text) in [
            (1_795_255_200, TimeUnit::Seconds, "2026-11-21T10:00:00Z"),
            (1_795_255_200_007, TimeUnit::Milliseconds, "2026-11-21T10:00:00.007Z"),
            (1_795_255_200_007_001, TimeUnit::Microseconds, "2026-11-21T10:00:00.007001000Z"),
            (1_795_255_200_000_000_002, TimeUnit::Nanoseconds, "2026-11-21T10:00:00.000000002Z"),
            (40, TimeUnit::Seconds, "1970-01-01T00:00:40Z"),
            (-5, TimeUnit::Seconds, "-5"),
        ] {
            assert_eq!(TimeUnit::guess(latest), unit);
            assert_eq!(unit.format(latest), text);
        }
    }

    #[test]
    fn a_window_ends_with_the_last_moment_of_what_is_named() {
        let times = times(TimeUnit::Seconds, (0, 1_795_255_200));
        let window = |until: Option<&str>| {
            let until = until.map(|until| until.parse().unwrap());
            let found = times.window("1h".parse().unwrap(), until.as_ref(), Copies::All).unwrap();
            (found.after, found.until)
        };
        assert_eq!(window(None), (1_795_251_600, 1_795_255_200));
        assert_eq!(window(Some("1970-01-02")), (2 * 86_400 - 1 - 3600, 2 * 86_400 - 1));
        assert_eq!(window(Some("100")), (-3500, 100));
        assert!("yesterday".parse::<TimePoint>().is_err());
    }

    #[test]
    fn steps_are_aligned_to_the_calendar() {
        let steps = |range, every: &str, ends: [Option<&str>; 2]| -> Vec<i64> {
            let [from, to] = ends.map(|end| end.map(|end| end.parse().unwrap()));
            let times = times(TimeUnit::Seconds, range);
            times.steps(every.parse().unwrap(), from.as_ref(), to.as_ref()).unwrap().collect()
        };
        assert_eq!(steps((59, 121), "1m", [None, None]), [59, 119, 179]);
        assert_eq!(steps((60, 119), "1m", [None, None]), [119]);
        assert_eq!(steps((-61, 1), "60", [None, None]), [-60, 0, 60]);
        assert_eq!(steps((0, 1_000_000), "1m", [Some("30"), Some("90")]), [59, 119]);
        // 1970-01-05 was a Monday.
        assert_eq!(steps((0, 5 * 86_400), "1w", [None, None]), [4 * 86_400 - 1, 11 * 86_400 - 1]);
        assert!(steps((5, 7), "1m", [Some("90"), Some("30")]).is_empty());
    }
}
