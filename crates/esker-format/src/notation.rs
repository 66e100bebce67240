//! How texts write dates, times and numbers where they do it in another way than `docs/values.md` says: a
//! format of dates, a decimal comma, local times. A text is rewritten in the common way once, where it comes
//! in, so that one parser reads all values.

use std::borrow::Cow;
use std::fmt::Write;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::civil::Date;
use jiff::fmt::strtime;

use crate::layout::logical::{DateText, LogicalType};
use crate::value::calendar::CivilText;
use crate::value::decimal::is_numeral;
use crate::value::zone::{ClockShows, Zone};

/// A format of dates and times, in the words of `strptime`: `%d.%m.%Y %H:%M`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateFormat {
    text: String,
}

impl FromStr for DateFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let format = Self { text: text.to_owned() };
        let example = Date::constant(2001, 11, 22).at(13, 14, 15, 123_456_789);
        let example = jiff::tz::Offset::UTC.to_timestamp(example).map_err(|error| error.to_string())?;
        let written = strtime::format(text, &example.to_zoned_datetime(jiff::tz::TimeZone::UTC));
        let read = written.and_then(|written| strtime::parse(text, written));
        let told = |error| {
            format!(
                "{text:?} is no format of dates ({error}); write one such as %d.%m.%Y, %m/%d/%Y %H:%M:%S or %d/%b/%Y:%T %z"
            )
        };
        let read = read.map_err(told)?;
        match read.timestamp().is_some() || read.to_date().is_ok() {
            true => Ok(format),
            false => Err(format!("the format {text:?} has no day, month and year, as in %d.%m.%Y")),
        }
    }
}

/// A point in time as a text has it.
struct GivenTime {
    /// Seconds since 1970-01-01 00:00 where the text was written, or in UTC if it says so.
    second: i64,
    /// The digits behind the point of the second.
    fraction: String,
    /// Whether the text has no time of day.
    is_date: bool,
    /// Whether it is in UTC.
    is_utc: bool,
}

impl GivenTime {
    /// The time in the common way.
    fn text(&self) -> String {
        let (days, of_day) = (self.second.div_euclid(86_400), self.second.rem_euclid(86_400));
        let mut text = DateText(days).to_string();
        if self.is_date {
            return text;
        }
        // Writing to a string does not fail.
        let _ = write!(text, "T{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60);
        if !self.fraction.is_empty() {
            let _ = write!(text, ".{}", self.fraction);
        }
        if self.is_utc {
            text.push('Z');
        }
        text
    }
}

impl DateFormat {
    fn parse(&self, text: &str) -> Option<GivenTime> {
        let read = strtime::parse(&self.text, text).ok()?;
        let nanoseconds = |count: i32| match count {
            0 => String::new(),
            count => format!("{count:09}").trim_end_matches('0').to_owned(),
        };
        if let Some(time) = read.timestamp() {
            let second = time.as_nanosecond().div_euclid(1_000_000_000);
            let fraction = nanoseconds(time.as_nanosecond().rem_euclid(1_000_000_000) as i32);
            let second = i64::try_from(second).ok()?;
            return Some(GivenTime { second, fraction, is_date: false, is_utc: true });
        }
        let is_date = read.hour().is_none();
        let local = read.to_date().ok()?.to_datetime(read.to_time().ok()?);
        let as_utc = jiff::tz::Offset::UTC.to_timestamp(local).ok()?;
        let ahead = read.offset().map(|offset| i64::from(offset.seconds()));
        let second = as_utc.as_nanosecond().div_euclid(1_000_000_000);
        Some(GivenTime {
            second: i64::try_from(second).ok()? - ahead.unwrap_or(0),
            fraction: nanoseconds(local.subsec_nanosecond()),
            is_date,
            is_utc: ahead.is_some(),
        })
    }
}

/// A format for the dates of all columns, or of one: `FORMAT` or `NAME=FORMAT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnFormat {
    /// The column; `None`: all whose values fit.
    pub column: Option<String>,
    /// The format.
    pub format: DateFormat,
}

impl FromStr for ColumnFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // A name has no percent sign before the equals sign.
        match text.split_once('=').filter(|(name, _)| !name.contains('%') && !name.is_empty()) {
            Some((name, format)) => Ok(Self { column: Some(name.to_owned()), format: format.parse()? }),
            None => Ok(Self { column: None, format: text.parse()? }),
        }
    }
}

/// Local times that the clocks of the zone showed twice, or never.
#[derive(Debug, Default)]
pub struct OddTimes {
    twice: AtomicU64,
    never: AtomicU64,
}

impl OddTimes {
    /// How many were shown twice, and how many never.
    pub fn counts(&self) -> [u64; 2] {
        [&self.twice, &self.never].map(|count| count.load(Ordering::Relaxed))
    }

    /// What to warn of, if there were any.
    pub fn warning(&self) -> Option<String> {
        let told = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
        let [twice, never] = self.counts();
        let told = [
            told(twice, "that the clocks of their zone showed twice (the first is taken)"),
            told(never, "that they skipped (taken as long after the change)"),
        ];
        let told: Vec<String> = told.into_iter().flatten().collect();
        (!told.is_empty()).then(|| format!("local times at changes of the clocks: {}", told.join(", ")))
    }
}

/// How the texts of an input write their values. The default is the common way.
#[derive(Debug, Clone, Default)]
pub struct Notation {
    /// Formats of dates; that of a column comes before that of all.
    pub formats: Vec<ColumnFormat>,
    /// Whether numbers have a decimal comma: `1.234,56` or `1234,56`.
    pub decimal_comma: bool,
    /// The zone of local times without an offset.
    pub zone: Option<Zone>,
    /// Counts of local times that were decided, of all columns.
    pub odd_times: Arc<OddTimes>,
}

impl Notation {
    /// Whether values are written in the common way.
    pub fn is_common(&self) -> bool {
        self.formats.is_empty() && !self.decimal_comma && self.zone.is_none()
    }

    /// How a column writes its values, by a sample. A format for all columns holds where most values fit it.
    /// `is_own` says whether a name is that of the column.
    pub fn of_column<'v>(
        &self,
        is_own: impl Fn(&str) -> bool,
        values: impl Iterator<Item = &'v [u8]>,
    ) -> ColumnNotation {
        if self.formats.is_empty() {
            return self.common_of_column();
        }
        let own = self.formats.iter().find(|one| one.column.as_deref().is_some_and(&is_own));
        let given: Vec<&[u8]> = values.filter(|value| !value.is_empty()).collect();
        let fits = |one: &&ColumnFormat| {
            let fitting = given.iter().filter(|value| parsed(&one.format, value).is_some()).count();
            one.column.is_none() && fitting * 2 > given.len()
        };
        ColumnNotation {
            format: own.or_else(|| self.formats.iter().find(fits)).map(|one| one.format.clone()),
            ..self.common_of_column()
        }
    }

    fn common_of_column(&self) -> ColumnNotation {
        ColumnNotation {
            format: None,
            decimal_comma: self.decimal_comma,
            zone: self.zone.clone(),
            odd_times: Arc::clone(&self.odd_times),
        }
    }
}

/// The zone of the local times of a property with this zone: UTC is no zone of anybody's clock.
fn zone_of(name: &str) -> Option<Zone> {
    match name {
        "" | "UTC" => None,
        name => Zone::named(name),
    }
}

fn parsed(format: &DateFormat, value: &[u8]) -> Option<GivenTime> {
    format.parse(std::str::from_utf8(value).ok()?)
}

/// How the texts of one column write their values.
#[derive(Debug, Clone, Default)]
pub struct ColumnNotation {
    format: Option<DateFormat>,
    decimal_comma: bool,
    zone: Option<Zone>,
    odd_times: Arc<OddTimes>,
}

impl PartialEq for ColumnNotation {
    fn eq(&self, other: &Self) -> bool {
        let own = (&self.format, self.decimal_comma, &self.zone);
        own == (&other.format, other.decimal_comma, &other.zone)
    }
}

impl Eq for ColumnNotation {}

impl ColumnNotation {
    /// Whether values are written in the common way.
    fn is_common(&self) -> bool {
        self.format.is_none() && !self.decimal_comma && self.zone.is_none()
    }

    /// Whether [`ColumnNotation::read`] may change values of a property of this type.
    pub fn changes(&self, wanted: &LogicalType) -> bool {
        let is_zoned = matches!(wanted, LogicalType::Timestamp { zone, .. } if zone_of(zone).is_some());
        is_zoned || !self.is_common()
    }

    /// Counts of local times that were decided.
    pub fn odd_times(&self) -> &OddTimes {
        &self.odd_times
    }

    /// Whether a format says how dates are written.
    pub fn has_format(&self) -> bool {
        self.format.is_some()
    }

    /// The values of a sample in the common way, to tell their type. Values that do not fit the format of the
    /// column are left out; they are refused later.
    pub fn sample<'v>(&self, values: impl Iterator<Item = &'v [u8]>) -> Vec<Cow<'v, [u8]>> {
        if self.is_common() {
            return values.map(Cow::Borrowed).collect();
        }
        let read = |value: &'v [u8]| match self.rewritten(value, None, |_| {}) {
            Ok(read) => Some(read),
            Err(_) => self.format.is_none().then_some(Cow::Borrowed(value)),
        };
        values.filter_map(read).collect()
    }

    /// The type of such a column: times have its zone.
    #[must_use]
    pub fn zoned(&self, logical: LogicalType) -> LogicalType {
        match (logical, &self.zone) {
            (LogicalType::Timestamp { unit, .. }, Some(zone)) => {
                LogicalType::Timestamp { unit, zone: zone.name().to_owned() }
            }
            (logical, _) => logical,
        }
    }

    /// A value in the common way. `wanted` is the type of the property.
    ///
    /// # Errors
    /// Why the value does not fit, as what is said of it.
    pub fn read<'t>(&self, text: &'t [u8], wanted: &LogicalType) -> Result<Cow<'t, [u8]>, String> {
        self.rewritten(text, Some(wanted), |clock| match clock {
            ClockShows::Once => {}
            ClockShows::Twice => _ = self.odd_times.twice.fetch_add(1, Ordering::Relaxed),
            ClockShows::Never => _ = self.odd_times.never.fetch_add(1, Ordering::Relaxed),
        })
    }

    fn rewritten<'t>(
        &self,
        text: &'t [u8],
        wanted: Option<&LogicalType>,
        count: impl FnOnce(ClockShows),
    ) -> Result<Cow<'t, [u8]>, String> {
        if text.is_empty() {
            return Ok(Cow::Borrowed(text));
        }
        match wanted {
            Some(
                LogicalType::Text | LogicalType::Boolean | LogicalType::EdgeId | LogicalType::Vector { .. },
            ) => Ok(Cow::Borrowed(text)),
            Some(LogicalType::Number) => self.number(text),
            Some(LogicalType::Date | LogicalType::Timestamp { .. }) => self.time(text, wanted, count),
            None if self.format.is_some() => self.time(text, None, count),
            None => match self.time(text, None, count)? {
                Cow::Borrowed(text) => self.number(text),
                time => Ok(time),
            },
        }
    }

    fn time<'t>(
        &self,
        text: &'t [u8],
        wanted: Option<&LogicalType>,
        count: impl FnOnce(ClockShows),
    ) -> Result<Cow<'t, [u8]>, String> {
        let (is_moment, has_zone, own) = match wanted {
            Some(LogicalType::Timestamp { zone, .. }) => (true, !zone.is_empty(), zone_of(zone)),
            _ => (false, wanted.is_none(), None),
        };
        let given = match &self.format {
            Some(format) => {
                parsed(format, text).ok_or_else(|| format!("does not fit the date format {}", format.text))?
            }
            None => {
                let civil = std::str::from_utf8(text).ok().and_then(|text| CivilText::parse(text.trim()));
                let Some(civil) = civil else { return Ok(Cow::Borrowed(text)) };
                GivenTime {
                    second: civil.utc_second(),
                    fraction: civil.fraction.to_owned(),
                    is_date: civil.second.is_none(),
                    is_utc: civil.offset_minutes.is_some(),
                }
            }
        };
        // A day is one of the calendar, unless a time is wanted: then it is its first moment.
        let is_local = !given.is_utc && (!given.is_date || is_moment);
        match self.zone.as_ref().or(own.as_ref()).filter(|_| is_local) {
            Some(zone) if has_zone => {
                let moment = zone.moment(given.second);
                count(moment.clock);
                let given = GivenTime { second: moment.second, is_utc: true, is_date: false, ..given };
                Ok(Cow::Owned(given.text().into_bytes()))
            }
            Some(zone) if is_moment => {
                Err(format!("is a local time of {zone}, but the property keeps times without a zone"))
            }
            _ if self.format.is_none() => Ok(Cow::Borrowed(text)),
            _ => Ok(Cow::Owned(given.text().into_bytes())),
        }
    }

    /// A number with a decimal comma, and points between groups of three digits perhaps.
    fn number<'t>(&self, text: &'t [u8]) -> Result<Cow<'t, [u8]>, String> {
        if self.format.is_some() {
            return Err("is a date by its format, but the property holds numbers".to_owned());
        }
        if !self.decimal_comma || !text.iter().any(|byte| matches!(byte, b'.' | b',')) {
            return Ok(Cow::Borrowed(text));
        }
        match without_comma(text) {
            Some(number) if is_numeral(&number) => Ok(Cow::Owned(number)),
            _ if is_numeral(text) => {
                Err("has a point that does not separate groups of three digits, where decimals have a comma"
                    .to_owned())
            }
            _ => Ok(Cow::Borrowed(text)),
        }
    }
}

/// A number with a point for its decimal comma, and without the points between its thousands; `None` if
/// points stand elsewhere.
fn without_comma(text: &[u8]) -> Option<Vec<u8>> {
    let (whole, fraction) = match text.iter().position(|&byte| byte == b',') {
        Some(comma) => (&text[..comma], Some(&text[comma + 1..])),
        None => (text, None),
    };
    if fraction.is_some_and(|fraction| fraction.iter().any(|byte| matches!(byte, b'.' | b','))) {
        return None;
    }
    let mut groups = whole.split(|&byte| byte == b'.');
    let first = groups.next()?;
    let has_groups = whole.contains(&b'.');
    let digits = first.strip_prefix(b"-").unwrap_or(first);
    if has_groups && !(1..=3).contains(&digits.len()) {
        return None;
    }
    let mut number = first.to_vec();
    for group in groups {
        if group.len() != 3 || !group.iter().all(u8::is_ascii_digit) {
            return None;
        }
        number.extend_from_slice(group);
    }
    if let Some(fraction) = fraction {
        number.push(b'.');
        number.extend_from_slice(fraction);
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::logical::TimeUnit;

    fn notation(formats: &[&str], decimal_comma: bool, zone: Option<&str>) -> Notation {
        Notation {
            formats: formats.iter().map(|format| format.parse().unwrap()).collect(),
            decimal_comma,
            zone: zone.map(|zone| zone.parse().unwrap()),
            odd_times: Arc::default(),
        }
    }

    fn stamp(zone: &str) -> LogicalType {
        LogicalType::Timestamp { unit: TimeUnit::Micro, zone: zone.to_owned() }
    }

    #[track_caller]
    fn check(notation: &ColumnNotation, wanted: &LogicalType, text: &str, expected: Result<&str, &str>) {
        let read = notation.read(text.as_bytes(), wanted);
        match (read, expected) {
            (Ok(read), Ok(expected)) => assert_eq!(String::from_utf8_lossy(&read), expected, "{text}"),
            (Err(error), Err(expected)) => assert!(error.contains(expected), "{text}: {error}"),
            (read, expected) => panic!("{text}: {read:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn numbers_have_a_decimal_comma() {
        let column = notation(&[], true, None).of_column(|_| false, [].into_iter());
        for (text, expected) in [
            ("1234,56", Ok("1234.56")),
            ("1.234,56", Ok("1234.56")),
            ("-1.234.567,5", Ok("-1234567.5")),
            ("1.234", Ok("1234")),
            ("12", Ok("12")),
            (",5", Ok(".5")),
            ("1,5e3", Ok("1.5e3")),
            ("", Ok("")),
            ("1.5", Err("has a point")),
            ("1234.567", Err("has a point")),
            // The parser of numbers refuses these.
            ("1,234.56", Ok("1,234.56")),
            ("1,2,3", Ok("1,2,3")),
            ("21.11.2026", Ok("21.11.2026")),
            ("x", Ok("x")),
        ] {
            check(&column, &LogicalType::Number, text, expected);
            check(&column, &LogicalType::Text, text, Ok(text));
        }
    }

    #[test]
    fn dates_have_a_format() {
        let given = notation(&["%d.%m.%Y", "seen=%d.%m.%Y %H:%M:%S%.f", "log=%d/%b/%Y:%T %z"], false, None);
        let column = |name: &'static str, value: &'static str| {
            given.of_column(|own| own == name, [value.as_bytes()].into_iter())
        };
        let day = column("day", "21.11.2026");
        check(&day, &LogicalType::Date, "21.11.2026", Ok("2026-11-21"));
        check(&day, &LogicalType::Date, "31.11.2026", Err("does not fit the date format %d.%m.%Y"));
        check(&day, &LogicalType::Date, "2026-11-21", Err("does not fit"));
        check(&day, &stamp(""), "21.11.2026", Ok("2026-11-21"));
        check(&day, &LogicalType::Number, "7", Err("is a date by its format"));
        check(&column("x", "2026-11-21"), &LogicalType::Date, "2026-11-21", Ok("2026-11-21"));
        let seen = column("seen", "x");
        check(&seen, &stamp(""), "21.11.2026 10:00:00", Ok("2026-11-21T10:00:00"));
        check(&seen, &stamp(""), "21.11.2026 10:00:00.25", Ok("2026-11-21T10:00:00.25"));
        let log = column("log", "x");
        check(&log, &stamp("UTC"), "21/Nov/2026:10:00:00 +0130", Ok("2026-11-21T08:30:00Z"));
        assert_eq!(log.sample([&b"21/Nov/2026:10:00:00 +0130"[..], b"?"].into_iter()).len(), 1);
        for wrong in ["", "%H:%M", "%d.%m", "%q", "%", "day"] {
            assert!(wrong.parse::<DateFormat>().is_err(), "{wrong}");
        }
        for right in ["%Y%m%d", "%s", "%m/%d/%y %I:%M %p", "%Y-%j", "%F %T%.6f", "%d %B %Y"] {
            assert_eq!(right.parse::<DateFormat>().map(|format| format.text), Ok(right.to_owned()));
        }
    }

    #[test]
    fn local_times_are_of_the_zone() {
        let given = notation(&["f=%d.%m.%Y"], false, Some("Europe/Berlin"));
        let column = given.of_column(|_| false, [].into_iter());
        check(&column, &stamp("UTC"), "2026-07-01 12:00:00.25", Ok("2026-07-01T10:00:00.25Z"));
        check(&column, &stamp("Europe/Berlin"), "2026-07-01 12:00Z", Ok("2026-07-01 12:00Z"));
        check(&column, &stamp("UTC"), "2026-07-01", Ok("2026-06-30T22:00:00Z"));
        check(&column, &stamp(""), "2026-07-01", Err("keeps times without a zone"));
        check(&column, &LogicalType::Date, "2026-07-01", Ok("2026-07-01"));
        let days = given.of_column(|own| own == "f", [].into_iter());
        check(&days, &stamp("UTC"), "01.01.2026", Ok("2025-12-31T23:00:00Z"));
        assert_eq!(given.odd_times.counts(), [0, 0]);
        check(&column, &stamp("UTC"), "2026-10-25 02:30", Ok("2026-10-25T00:30:00Z"));
        check(&column, &stamp("UTC"), "2026-03-29 02:30", Ok("2026-03-29T01:30:00Z"));
        assert_eq!(given.odd_times.counts(), [1, 1]);
        assert!(given.odd_times.warning().unwrap().contains("1 that the clocks"));
        assert_eq!(column.zoned(stamp("UTC")), stamp("Europe/Berlin"));
        // Without an option, local times are of the zone of the property.
        let common = ColumnNotation::default();
        check(&common, &stamp("Europe/Berlin"), "2026-07-01 12:00", Ok("2026-07-01T10:00:00Z"));
        check(&common, &stamp("UTC"), "2026-07-01 12:00", Ok("2026-07-01 12:00"));
        assert!(common.is_common());
    }
}
