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

use crate::error::{Error, Result};
use crate::layout::logical::{DateText, LogicalType};
use crate::layout::reading::{DateFormatRecord, NotationRecord};
use crate::value::calendar::CivilText;
use crate::value::decimal::is_numeral;
use crate::value::name::split_name;
use crate::value::zone::{ClockShows, Zone};

mod numbers;

use numbers::{without_comma, without_groups};

/// A format of dates and times, in the words of `strptime`: `%d.%m.%Y %H:%M`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateFormat {
    text: String,
}

impl FromStr for DateFormat {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
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
            // The library leaves the fraction to whoever asks for it.
            let behind = i128::from(read.subsec_nanosecond().unwrap_or(0));
            let behind = if text.trim_start().starts_with('-') { -behind } else { behind };
            let time = time.as_nanosecond() + behind;
            let fraction = nanoseconds(time.rem_euclid(1_000_000_000) as i32);
            let second = i64::try_from(time.div_euclid(1_000_000_000)).ok()?;
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

impl std::fmt::Display for ColumnFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.column {
            Some(column) => write!(f, "{column}={}", self.format.text),
            None => f.write_str(&self.format.text),
        }
    }
}

impl FromStr for ColumnFormat {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        // A name has no percent sign before the equals sign.
        match split_name(text, '=').filter(|(name, _)| !name.contains('%') || text.starts_with('"')) {
            Some((name, format)) => Ok(Self { column: Some(name), format: format.parse()? }),
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
    /// Whether numbers have a decimal comma: `1.234,56` or `1234,56`. `None`: nothing was chosen; they have
    /// none, unless a database remembers it.
    pub decimal_comma: Option<bool>,
    /// The zone of local times without an offset.
    pub zone: Option<Zone>,
    /// Counts of local times that were decided, of all columns.
    pub odd_times: Arc<OddTimes>,
}

impl Notation {
    /// Whether values are written in the common way.
    pub fn is_common(&self) -> bool {
        self.formats.is_empty() && !self.has_decimal_comma() && self.zone.is_none()
    }

    /// Whether numbers have a decimal comma.
    pub fn has_decimal_comma(&self) -> bool {
        self.decimal_comma == Some(true)
    }

    /// This notation with what a database remembers, where nothing else was chosen. A format for all columns
    /// that was chosen takes the place of all formats.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a remembered format that this Esker does not know.
    pub fn over(&self, remembered: &NotationRecord) -> Result<Self> {
        let mut formats = self.formats.clone();
        let is_for_all = self.formats.iter().any(|one| one.column.is_none());
        for DateFormatRecord { property, format } in remembered.date_formats.iter().filter(|_| !is_for_all) {
            let column = Some(property.clone()).filter(|name| !name.is_empty());
            let format = format.parse().map_err(Error::invalid)?;
            if !formats.iter().any(|one| one.column == column) {
                formats.push(ColumnFormat { column, format });
            }
        }
        let decimal_comma = self.decimal_comma.or(remembered.decimal_comma.then_some(true));
        Ok(Self { formats, decimal_comma, ..self.clone() })
    }

    /// What a database remembers of this notation. `property` gives the property of a column with a format.
    pub fn record(&self, property: impl Fn(&str) -> String) -> NotationRecord {
        let of_format = |one: &ColumnFormat| DateFormatRecord {
            property: one.column.as_deref().map(&property).unwrap_or_default(),
            format: one.format.text.clone(),
        };
        NotationRecord {
            date_formats: self.formats.iter().map(of_format).collect(),
            decimal_comma: self.has_decimal_comma(),
        }
    }

    /// How a column writes its values, by a sample. A format for all columns holds where most values fit it.
    /// `is_own` says whether a name is that of the column.
    pub fn of_column<'v>(
        &self,
        is_own: impl Fn(&str) -> bool,
        values: impl Iterator<Item = &'v [u8]> + Clone,
    ) -> ColumnNotation {
        let common = ColumnNotation { groups: self.has_groups(values.clone()), ..self.common_of_column() };
        if self.formats.is_empty() {
            return common;
        }
        let own = self.formats.iter().find(|one| one.column.as_deref().is_some_and(&is_own));
        let given: Vec<&[u8]> = values.filter(|value| !value.is_empty()).collect();
        let fits = |one: &&ColumnFormat| {
            let fitting = given.iter().filter(|value| parsed(&one.format, value).is_some()).count();
            one.column.is_none() && fitting * 2 > given.len()
        };
        ColumnNotation {
            format: own.or_else(|| self.formats.iter().find(fits)).map(|one| one.format.clone()),
            ..common
        }
    }

    /// Whether the numbers of a column have commas between groups of three digits: most that have commas are
    /// written so, and one of them cannot have a decimal comma, unless it was chosen that none has. What is
    /// no number decides nothing: it is refused where the column holds numbers.
    fn has_groups<'v>(&self, values: impl Iterator<Item = &'v [u8]>) -> bool {
        if self.has_decimal_comma() {
            return false;
        }
        let mut is_clear = self.decimal_comma == Some(false);
        let (mut grouped, mut others) = (0, 0);
        let is_of_number = |byte: &u8| byte.is_ascii_digit() || b",.+-".contains(byte);
        for value in values.map(<[u8]>::trim_ascii) {
            if !value.contains(&b',') || !value.iter().all(is_of_number) {
                continue;
            }
            if without_groups(value).is_none() {
                others += 1;
                continue;
            }
            grouped += 1;
            is_clear |= value.contains(&b'.') || value.iter().filter(|&&byte| byte == b',').count() > 1;
        }
        is_clear && grouped > others
    }

    fn common_of_column(&self) -> ColumnNotation {
        ColumnNotation {
            format: None,
            decimal_comma: self.has_decimal_comma(),
            groups: false,
            zone: self.zone.clone(),
            odd_times: Arc::clone(&self.odd_times),
        }
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
    /// Whether numbers have commas between groups of three digits.
    groups: bool,
    zone: Option<Zone>,
    odd_times: Arc<OddTimes>,
}

impl PartialEq for ColumnNotation {
    fn eq(&self, other: &Self) -> bool {
        let own = (&self.format, self.decimal_comma, self.groups, &self.zone);
        own == (&other.format, other.decimal_comma, other.groups, &other.zone)
    }
}

impl Eq for ColumnNotation {}

impl ColumnNotation {
    /// Whether values are written in the common way.
    fn is_common(&self) -> bool {
        self.format.is_none() && !self.decimal_comma && !self.groups && self.zone.is_none()
    }

    /// Whether [`ColumnNotation::read`] may change values of a property of this type.
    pub fn changes(&self, wanted: &LogicalType) -> bool {
        let is_zoned =
            matches!(wanted, LogicalType::Timestamp { zone, .. } if Zone::of_clocks(zone).is_some());
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
    pub fn read<'t>(
        &self,
        text: &'t [u8],
        wanted: &LogicalType,
    ) -> std::result::Result<Cow<'t, [u8]>, String> {
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
    ) -> std::result::Result<Cow<'t, [u8]>, String> {
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
    ) -> std::result::Result<Cow<'t, [u8]>, String> {
        let (is_moment, has_zone, own) = match wanted {
            Some(LogicalType::Timestamp { zone, .. }) => (true, !zone.is_empty(), Zone::of_clocks(zone)),
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
    fn number<'t>(&self, text: &'t [u8]) -> std::result::Result<Cow<'t, [u8]>, String> {
        if self.format.is_some() {
            return Err("is a date by its format, but the property holds numbers".to_owned());
        }
        if self.groups {
            let plain = without_groups(text.trim_ascii()).filter(|_| text.contains(&b','));
            return Ok(plain.map_or(Cow::Borrowed(text), Cow::Owned));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::logical::TimeUnit;

    fn notation(formats: &[&str], decimal_comma: bool, zone: Option<&str>) -> Notation {
        Notation {
            formats: formats.iter().map(|format| format.parse().unwrap()).collect(),
            decimal_comma: Some(decimal_comma),
            zone: zone.map(|zone| zone.parse().unwrap()),
            odd_times: Arc::default(),
        }
    }

    fn stamp(zone: &str) -> LogicalType {
        LogicalType::Timestamp { unit: TimeUnit::Micro, zone: zone.to_owned() }
    }

    #[track_caller]
    fn check(
        notation: &ColumnNotation,
        wanted: &LogicalType,
        text: &str,
        expected: std::result::Result<&str, &str>,
    ) {
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
    fn digits_are_grouped_by_commas_where_all_numbers_of_a_column_say_so() {
        let column = |values: &[&'static str], comma| {
            let given = Notation { decimal_comma: comma, ..Notation::default() };
            given.of_column(|_| false, values.iter().map(|value| value.as_bytes()))
        };
        for (values, comma, has_groups) in [
            (&["1,250.00", "90.00", "-1,000", "7"][..], None, true),
            (&["1,250,000"], None, true),
            // This may be 1.25.
            (&["1,250", "3"], None, false),
            (&["1,250", "3"], Some(false), true),
            (&["1,250.00", "1,25"], None, false),
            // What is no number is refused, not the others.
            (&["1,250.00", "x"], None, true),
            (&["1,250.00", "2,500.00", "1,25", "?"], None, true),
            (&["1,250.00", "21.11.2026", "a,b"], None, true),
            (&["1,25", "2,50", "1,250.00"], None, false),
            (&["1250,000.0"], None, false),
            (&["1.250,00"], Some(true), false),
            (&["12", "13"], None, false),
            (&[], None, false),
        ] {
            assert_eq!(column(values, comma).groups, has_groups, "{values:?} {comma:?}");
        }
        let grouped = column(&["1,250.00"], None);
        for (text, read) in [("1,250.5", "1250.5"), ("12", "12"), ("-1,000", "-1000"), ("1,25", "1,25")] {
            check(&grouped, &LogicalType::Number, text, Ok(read));
            check(&grouped, &LogicalType::Text, text, Ok(text));
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
        for format in ["%s.%f", "%s%.f"] {
            let seconds = notation(&[format], false, None);
            for (text, read) in [
                ("1709283600.123456", "2024-03-01T09:00:00.123456Z"),
                ("1709283600.5", "2024-03-01T09:00:00.5Z"),
                ("-1.25", "1969-12-31T23:59:58.75Z"),
            ] {
                let column = seconds.of_column(|_| false, [text.as_bytes()].into_iter());
                check(&column, &stamp("UTC"), text, Ok(read));
            }
        }
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
