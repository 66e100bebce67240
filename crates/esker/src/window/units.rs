//! Lengths, units and points of time, as users write them.

use std::fmt;
use std::str::FromStr;

use esker_store::format::value::zone::Zone;
use esker_store::format::{LogicalType, PropertyRecord, TimeUnit as StoredUnit, Timestamp};
use esker_store::manifest::{format_signed_time, parse_nanoseconds, parse_nanoseconds_in};

use crate::error::{Error, Result};

const DAY_SECONDS: u64 = 86_400;
/// The earliest time by number that is taken for one, in seconds of 1973: smaller numbers are of versions.
pub(super) const TIME_MIN: u64 = 100_000_000;
/// The beginning of the year 0, before which years have a sign.
const YEAR_0_MS: i64 = -62_167_219_200_000;
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

/// A length of time: `90s`, `15m`, `1h`, `7d`, `2w`, `500ms`, or a whole number in the unit of the times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    number: u64,
    /// Its symbol, and its nanoseconds; `None`: that of the times.
    unit: Option<(&'static str, u64)>,
}

/// A day.
pub(super) const DAY: Span = Span { number: 1, unit: Some(("d", DAY_SECONDS * 1_000_000_000)) };

impl Span {
    pub(super) fn has_unit(self) -> bool {
        self.unit.is_some()
    }

    /// The number of units.
    pub(super) fn number(self) -> u64 {
        self.number
    }

    /// The symbol of the unit; empty for that of the times.
    pub(super) fn symbol(self) -> &'static str {
        self.unit.map_or("", |unit| unit.0)
    }

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
pub enum EpochUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl EpochUnit {
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

    /// A time in a unit that columns of any format have: Parquet has no seconds.
    pub(super) fn stored(self, time: i64) -> (i64, StoredUnit) {
        match self {
            Self::Seconds => (time.saturating_mul(1_000), StoredUnit::Milli),
            Self::Milliseconds => (time, StoredUnit::Milli),
            Self::Microseconds => (time, StoredUnit::Micro),
            Self::Nanoseconds => (time, StoredUnit::Nano),
        }
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
    pub(super) const fn nanoseconds(self) -> i128 {
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
                return Err(Error::usage(format!(
                    "the times are in {name}: the length {length} must be a whole number of them"
                )));
            }
            units /= self.nanoseconds();
        }
        i64::try_from(units).map_err(|_| Error::usage("the length of time is beyond 64 bits".to_owned()))
    }

    /// A length in the largest unit that divides it.
    pub fn span(self, length: i64) -> Span {
        let nanoseconds = u128::from(length.unsigned_abs()) * self.nanoseconds().unsigned_abs();
        let fits = |unit: &&(&str, u64)| nanoseconds > 0 && nanoseconds.is_multiple_of(u128::from(unit.1));
        let unit = UNITS.iter().rev().find(fits).copied();
        match unit.and_then(|unit| Some((unit, u64::try_from(nanoseconds / u128::from(unit.1)).ok()?))) {
            Some((unit, number)) => Span { number, unit: Some(unit) },
            None => Span { number: length.unsigned_abs(), unit: None },
        }
    }

    /// A time in milliseconds since 1970, rounded down; `None` before 1970.
    pub(crate) fn to_ms(self, time: i64) -> Option<u64> {
        u64::try_from((i128::from(time) * self.nanoseconds()).div_euclid(1_000_000)).ok()
    }

    /// A time in milliseconds since 1970 in this unit, rounded down.
    pub fn of_ms(self, ms: u64) -> i64 {
        i64::try_from(i128::from(ms) * 1_000_000 / self.nanoseconds()).unwrap_or(i64::MAX)
    }

    /// As [`EpochUnit::format`], as the clocks of a zone show it.
    pub(crate) fn format_in(self, time: i64, zone: Option<&Zone>) -> String {
        let stored = [StoredUnit::Second, StoredUnit::Milli, StoredUnit::Micro, StoredUnit::Nano];
        let unit = stored[Self::ALL.iter().position(|known| known.1 == self).unwrap_or(0)];
        match zone {
            Some(zone) if is_local(zone) => {
                Timestamp { count: time, unit, offset_seconds: None }.shown_in(zone.name()).to_string()
            }
            _ => self.format(time),
        }
    }

    /// A time as text: RFC 3339, UTC, as far as the unit goes; the number itself if it is before the year 0.
    pub fn format(self, time: i64) -> String {
        let nanoseconds = i128::from(time) * self.nanoseconds();
        let (ms, rest) = (nanoseconds.div_euclid(1_000_000), nanoseconds.rem_euclid(1_000_000));
        let ms = i64::try_from(ms).ok().filter(|&ms| ms >= YEAR_0_MS);
        let Some(ms) = ms else { return time.to_string() };
        let text = format_signed_time(ms);
        if rest == 0 {
            return text;
        }
        let seconds = text.trim_end_matches('Z').split('.').next().unwrap_or("");
        let digits = format!("{:03}{rest:06}", ms.rem_euclid(1000));
        let len = if self == Self::Microseconds { 6 } else { 9 };
        format!("{seconds}.{}Z", &digits[..len])
    }
}

/// An end of a window, as a user wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimePoint(String);

impl FromStr for TimePoint {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text.parse::<i64>().is_err() {
            parse_nanoseconds(text)
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

    /// Nanoseconds since 1970, UTC.
    pub fn of_nanoseconds(time: i128) -> Self {
        let (seconds, rest) = (time.div_euclid(1_000_000_000), time.rem_euclid(1_000_000_000));
        let text = format_signed_time(i64::try_from(seconds * 1000).unwrap_or(i64::MAX));
        Self(format!("{}.{rest:09}Z", text.trim_end_matches('Z')))
    }

    /// The time in a unit: that of a number as it is, else the last of a day, minute or second, or of the
    /// last digits of a fraction. Without an offset it is of a zone; without a zone, in UTC.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is not a time.
    pub fn last(&self, unit: EpochUnit, zone: Option<&Zone>) -> Result<i64> {
        match self.0.parse::<i64>() {
            Ok(time) => Ok(time),
            Err(_) => {
                let range = parse_nanoseconds_in(&self.0, zone).map_err(Error::usage)?;
                Ok(i64::try_from(range.end().div_euclid(unit.nanoseconds())).unwrap_or(i64::MAX))
            }
        }
    }

    /// The time just before the first of a day, minute or second, or of the last digits of a fraction.
    ///
    /// # Errors
    /// As [`TimePoint::last`].
    pub fn before(&self, unit: EpochUnit, zone: Option<&Zone>) -> Result<i64> {
        match self.0.parse::<i64>() {
            Ok(time) => Ok(time.saturating_sub(1)),
            Err(_) => {
                let range = parse_nanoseconds_in(&self.0, zone).map_err(Error::usage)?;
                let first = range.start().div_euclid(unit.nanoseconds());
                Ok(i64::try_from(first).unwrap_or(i64::MAX).saturating_sub(1))
            }
        }
    }
}

/// Whether a zone has clocks of its own.
pub(super) fn is_local(zone: &Zone) -> bool {
    zone.name() != "UTC"
}

impl fmt::Display for TimePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units() {
        let seconds = |text: &str| EpochUnit::Seconds.length(text.parse().unwrap()).ok();
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
        assert!(EpochUnit::Nanoseconds.length("99999999999999w".parse().unwrap()).is_err());
        for text in ["7d", "90", "36h"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn units_are_guessed_and_written() {
        for (latest, unit, text) in [
            (1_795_255_200, EpochUnit::Seconds, "2026-11-21T10:00:00Z"),
            (1_795_255_200_007, EpochUnit::Milliseconds, "2026-11-21T10:00:00.007Z"),
            (1_795_255_200_007_001, EpochUnit::Microseconds, "2026-11-21T10:00:00.007001Z"),
            (1_795_255_200_000_000_002, EpochUnit::Nanoseconds, "2026-11-21T10:00:00.000000002Z"),
            (40, EpochUnit::Seconds, "1970-01-01T00:00:40Z"),
            (-5, EpochUnit::Seconds, "1969-12-31T23:59:55Z"),
        ] {
            assert_eq!(EpochUnit::guess(latest), unit);
            assert_eq!(unit.format(latest), text);
        }
        assert_eq!(EpochUnit::Nanoseconds.format(-1), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(EpochUnit::Milliseconds.format(-619_919_999_900), "1950-05-11T00:00:00.100Z");
        assert_eq!(EpochUnit::Seconds.format(-62_167_219_200), "0000-01-01T00:00:00Z");
        assert_eq!(EpochUnit::Seconds.format(-62_167_219_201), "-62167219201");
        let early: TimePoint = "1950-05-11".parse().unwrap();
        assert_eq!(early.last(EpochUnit::Seconds, None).unwrap(), -619_920_000 + 86_399);
        assert_eq!(early.before(EpochUnit::Seconds, None).unwrap(), -619_920_001);
        assert_eq!(TimePoint::of_nanoseconds(-1).last(EpochUnit::Nanoseconds, None).unwrap(), -1);
    }

    #[test]
    fn ends_of_windows_are_as_exact_as_they_are_written() {
        let second = 1_795_255_200;
        for (text, unit, before, last) in [
            ("2026-11-21T10:00:00", EpochUnit::Microseconds, -1, 999_999),
            ("2026-11-21T10:00:00.25Z", EpochUnit::Microseconds, 249_999, 250_999),
            ("2026-11-21T10:00:00.000500Z", EpochUnit::Microseconds, 499, 500),
            ("2026-11-21T10:00:00.000500001Z", EpochUnit::Nanoseconds, 500_000, 500_001),
            ("2026-11-21T10:00:00.0005001239Z", EpochUnit::Nanoseconds, 500_122, 500_123),
            ("2026-11-21T10:00:00.000500Z", EpochUnit::Seconds, -1, 0),
        ] {
            let point: TimePoint = text.parse().unwrap();
            let start = second * (1_000_000_000 / unit.nanoseconds() as i64);
            let found = (point.before(unit, None).unwrap() - start, point.last(unit, None).unwrap() - start);
            assert_eq!(found, (before, last), "{text}");
        }
        let written: TimePoint = EpochUnit::Microseconds.format(second * 1_000_000 + 7001).parse().unwrap();
        assert_eq!(written.last(EpochUnit::Microseconds, None).unwrap(), second * 1_000_000 + 7001);
    }
}
