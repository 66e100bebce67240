//! What the numbers of a property stand for: the types that users see, beside the types in which values are
//! stored.

use std::fmt;
use std::str::FromStr;

use crate::error::Result;
use crate::file::field::{FieldInput, FieldValue, codes};
use crate::file::header::ElementType;
use crate::value::calendar::{CivilText, date_of};
use crate::value::zone::Zone;

codes! {
    /// The unit of timestamps.
    pub enum TimeUnit: u8 {
        /// Seconds.
        Second = 0,
        /// Milliseconds.
        Milli = 1,
        /// Microseconds.
        Micro = 2,
        /// Nanoseconds.
        Nano = 3,
    }
}

impl TimeUnit {
    const ALL: [Self; 4] = [Self::Second, Self::Milli, Self::Micro, Self::Nano];

    /// Units of a second.
    pub const fn per_second(self) -> i64 {
        match self {
            Self::Second => 1,
            Self::Milli => 1_000,
            Self::Micro => 1_000_000,
            Self::Nano => 1_000_000_000,
        }
    }

    /// Its symbol: `s`, `ms`, `us` or `ns`.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Second => "s",
            Self::Milli => "ms",
            Self::Micro => "us",
            Self::Nano => "ns",
        }
    }

    /// Digits after the point of a second.
    const fn digits(self) -> usize {
        self as usize * 3
    }
}

codes! {
    /// What the values of a property are. `TimeUnit` and the name of the zone follow the code of timestamps,
    /// the length that of vectors.
    pub(crate) enum LogicalKind: u8 {
        /// Numbers of their element type.
        Number = 0,
        /// Texts. Edges store codes, which are positions in a dictionary; vertices store the texts.
        Text = 1,
        /// 1 for true, 0 for false, as `U8`.
        Boolean = 2,
        /// Days since 1970-01-01, as `I32`.
        Date = 3,
        /// Units of time since 1970-01-01 00:00, as `I64`: in UTC if there is a zone, else of a clock that is
        /// not known.
        Timestamp = 4,
        /// Ids of edges, as `I64`: 2^28 times the version that added the edge, plus its place among the edges
        /// between its two ends that this version added, from 1.
        EdgeId = 5,
        /// Vectors of fixed length: vertices store the numbers of each, `F32` or `F64`, one after another, as
        /// they store a text.
        Vector = 6,
    }
}

/// Most numbers of a vector: with 64 bits each, they take as much as the longest text.
pub const VECTOR_LEN_MAX: u32 = 8192;

/// The name of the type of ids of edges.
const EDGE_ID: &str = "edge-id";

/// What the values of a property are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogicalType {
    /// Numbers of the property's element type.
    Number,
    /// Texts.
    Text,
    /// Truth values.
    Boolean,
    /// Days of the Gregorian calendar.
    Date,
    /// Points in time.
    Timestamp {
        /// The unit.
        unit: TimeUnit,
        /// The time zone in which they are shown, such as `UTC` or `Europe/Berlin`; empty if the zone of the
        /// clock is not known.
        zone: String,
    },
    /// Ids that the database gives to edges: see [`crate::EdgeId`].
    EdgeId,
    /// Vectors of numbers of the property's element type, `F32` or `F64`. Only vertices have such values.
    Vector {
        /// The length of each: 1 to [`VECTOR_LEN_MAX`].
        len: u32,
    },
}

impl LogicalType {
    /// Whether values are texts.
    pub fn is_text(&self) -> bool {
        *self == Self::Text
    }

    /// Whether values are plain numbers.
    pub fn is_number(&self) -> bool {
        *self == Self::Number
    }

    /// Whether values are vectors.
    pub fn is_vector(&self) -> bool {
        matches!(self, Self::Vector { .. })
    }

    /// The one type in which such values are stored; `None` for numbers and vectors of them, and for texts,
    /// whose codes grow.
    pub fn element(&self) -> Option<ElementType> {
        match self {
            Self::Number | Self::Text | Self::Vector { .. } => None,
            Self::Boolean => Some(ElementType::U8),
            Self::Date => Some(ElementType::I32),
            Self::Timestamp { .. } | Self::EdgeId => Some(ElementType::I64),
        }
    }
}

impl FieldValue for LogicalType {
    #[cfg(test)]
    fn type_name() -> String {
        "u8, LogicalKind; for timestamps then u8, TimeUnit, and the zone, text: u32 bytes, then UTF-8; for vectors then u32, the length"
            .to_owned()
    }

    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Number => LogicalKind::Number.put(out),
            Self::Text => LogicalKind::Text.put(out),
            Self::Boolean => LogicalKind::Boolean.put(out),
            Self::Date => LogicalKind::Date.put(out),
            Self::EdgeId => LogicalKind::EdgeId.put(out),
            Self::Vector { len } => {
                LogicalKind::Vector.put(out);
                len.put(out);
            }
            Self::Timestamp { unit, zone } => {
                LogicalKind::Timestamp.put(out);
                unit.put(out);
                zone.put(out);
            }
        }
    }

    fn take(input: &mut FieldInput<'_>) -> Result<Self> {
        Ok(match LogicalKind::take(input)? {
            LogicalKind::Number => Self::Number,
            LogicalKind::Text => Self::Text,
            LogicalKind::Boolean => Self::Boolean,
            LogicalKind::Date => Self::Date,
            LogicalKind::EdgeId => Self::EdgeId,
            LogicalKind::Vector => Self::Vector { len: FieldValue::take(input)? },
            LogicalKind::Timestamp => {
                Self::Timestamp { unit: FieldValue::take(input)?, zone: FieldValue::take(input)? }
            }
        })
    }
}

/// The type of a property: what its values are, and how they are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyType {
    /// How values are stored. The codes of texts begin as bytes.
    pub element: ElementType,
    /// What they are.
    pub logical: LogicalType,
}

const NUMBERS: [ElementType; 8] = [
    ElementType::U8,
    ElementType::U16,
    ElementType::U32,
    ElementType::U64,
    ElementType::I32,
    ElementType::I64,
    ElementType::F32,
    ElementType::F64,
];

impl PropertyType {
    /// The type of texts.
    pub fn text() -> Self {
        LogicalType::Text.into()
    }
}

impl From<ElementType> for PropertyType {
    fn from(element: ElementType) -> Self {
        Self { element, logical: LogicalType::Number }
    }
}

impl From<Option<ElementType>> for PropertyType {
    /// Numbers of a type, or texts.
    fn from(element: Option<ElementType>) -> Self {
        element.map_or_else(Self::text, Self::from)
    }
}

impl From<LogicalType> for PropertyType {
    /// Numbers are of 64 bits with fractions.
    fn from(logical: LogicalType) -> Self {
        let element = match (&logical, logical.element()) {
            (_, Some(element)) => element,
            (LogicalType::Text, None) => ElementType::U8,
            (LogicalType::Vector { .. }, None) => ElementType::F32,
            (_, None) => ElementType::F64,
        };
        Self { element, logical }
    }
}

impl fmt::Display for PropertyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.logical {
            LogicalType::Number => f.write_str(self.element.name()),
            LogicalType::Text => f.write_str("text"),
            LogicalType::Boolean => f.write_str("bool"),
            LogicalType::Date => f.write_str("date"),
            LogicalType::EdgeId => f.write_str(EDGE_ID),
            LogicalType::Vector { len } => write!(f, "vector[{}, {len}]", self.element.name()),
            LogicalType::Timestamp { unit, zone } if zone.is_empty() => {
                write!(f, "timestamp[{}]", unit.symbol())
            }
            LogicalType::Timestamp { unit, zone } => write!(f, "timestamp[{}, {zone}]", unit.symbol()),
        }
    }
}

impl FromStr for PropertyType {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let text = own_name(text);
        let number = NUMBERS.into_iter().find(|element| element.name() == text);
        if let Some(element) = number {
            return Ok(element.into());
        }
        if let Some(vector) = text.strip_prefix("vector[").and_then(|rest| rest.strip_suffix(']')) {
            return vector_type(vector);
        }
        let logical = match text {
            "text" => Some(LogicalType::Text),
            "bool" | "boolean" => Some(LogicalType::Boolean),
            "date" => Some(LogicalType::Date),
            EDGE_ID => Some(LogicalType::EdgeId),
            "timestamp" => Some(LogicalType::Timestamp { unit: TimeUnit::Micro, zone: String::new() }),
            _ => text.strip_prefix("timestamp[").and_then(|rest| rest.strip_suffix(']')).and_then(timestamp),
        };
        logical.map(Self::from).ok_or_else(|| {
            let numbers: Vec<&str> = NUMBERS.iter().map(|element| element.name()).collect();
            format!(
                "unknown type {text:?}; the types are text, bool, date, timestamp, timestamp[UNIT] and timestamp[UNIT, ZONE] \
                 with the unit s, ms, us or ns, vector[LENGTH] and vector[f64, LENGTH] for vertices, {}",
                numbers.join(", ")
            )
        })
    }
}

/// The name here of a type that Arrow, NumPy or pandas call by another.
fn own_name(name: &str) -> &str {
    match name {
        "string" | "str" | "utf8" | "large_string" => "text",
        "date32" => "date",
        "int32" => "i32",
        "int64" => "i64",
        "uint8" => "u8",
        "uint16" => "u16",
        "uint32" => "u32",
        "uint64" => "u64",
        "float32" => "f32",
        "float64" | "double" => "f64",
        own => own,
    }
}

/// What stands between the brackets of a vector: the type of its numbers, if it is not `f32`, and the length.
fn vector_type(text: &str) -> std::result::Result<PropertyType, String> {
    let (element, len) = text.split_once(',').unwrap_or(("f32", text));
    let element = match own_name(element.trim()) {
        "f32" => ElementType::F32,
        "f64" => ElementType::F64,
        other => return Err(format!("a vector holds f32 or f64, not {other:?}")),
    };
    match len.trim().parse() {
        Ok(len) if (1..=VECTOR_LEN_MAX).contains(&len) => {
            Ok(PropertyType { element, logical: LogicalType::Vector { len } })
        }
        _ => Err(format!("the length of a vector is 1 to {VECTOR_LEN_MAX}, not {:?}", len.trim())),
    }
}

/// What stands between the brackets of a timestamp.
fn timestamp(text: &str) -> Option<LogicalType> {
    let (unit, zone) = text.split_once(',').map_or((text, ""), |(unit, zone)| (unit, zone.trim()));
    let unit = TimeUnit::ALL.into_iter().find(|one| one.symbol() == unit.trim())?;
    let has_zone = text.contains(',');
    (has_zone != zone.is_empty()).then(|| LogicalType::Timestamp { unit, zone: zone.to_owned() })
}

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamp {
    /// Units since 1970-01-01 00:00.
    pub count: i64,
    /// The unit.
    pub unit: TimeUnit,
    /// Seconds by which the clocks that show it are ahead of UTC; `None` if its zone is not known.
    pub offset_seconds: Option<i32>,
}

impl Timestamp {
    /// Nanoseconds since 1970-01-01 00:00.
    fn nanoseconds(self) -> i128 {
        i128::from(self.count) * i128::from(1_000_000_000 / self.unit.per_second())
    }

    /// Parses a time such as `2026-11-21T10:00:00.25Z`; without seconds or without a time of day, these
    /// are 0. An offset makes it UTC.
    ///
    /// # Errors
    /// Why `text` is no such time.
    pub fn parse(text: &str, unit: TimeUnit) -> std::result::Result<Self, &'static str> {
        const WRONG: &str = "is not a time such as 2026-11-21T10:00:00 or 2026-11-21T10:00:00Z";
        let civil = CivilText::parse(text).ok_or(WRONG)?;
        let is_utc = civil.offset_minutes.is_some();
        let fraction = units_of(civil.fraction, unit).ok_or_else(|| too_fine(unit, is_utc))?;
        let count = i128::from(civil.utc_second()) * i128::from(unit.per_second()) + i128::from(fraction);
        let count = i64::try_from(count).map_err(|_| "does not fit 64 bits in the unit of the property")?;
        let offset_seconds = is_utc.then_some(0);
        Ok(Self { count, unit, offset_seconds })
    }

    /// The time as the clocks of a zone show it.
    #[must_use]
    pub fn shown_in(self, zone: &str) -> Self {
        let second = self.count.div_euclid(self.unit.per_second());
        let offset = match zone {
            "" => None,
            // Most times are in UTC, whose rules need no search.
            "UTC" => Some(0),
            zone => Some(Zone::named(zone).map_or(0, |zone| zone.offset_seconds(second))),
        };
        Self { offset_seconds: offset, ..self }
    }

    /// The moment when the clocks of a zone show this time: see [`Zone::moment`]. `None` if it does not fit.
    #[must_use]
    pub fn local_in(self, zone: &Zone) -> Option<Self> {
        let second = self.count.div_euclid(self.unit.per_second());
        let behind = zone.moment(second).second.checked_sub(second)?.checked_mul(self.unit.per_second())?;
        Some(Self { count: self.count.checked_add(behind)?, offset_seconds: Some(0), ..self })
    }

    /// Whether its zone is known.
    pub fn is_utc(self) -> bool {
        self.offset_seconds.is_some()
    }
}

/// Why a unit does not hold a time with more digits after the point, and what does.
fn too_fine(unit: TimeUnit, has_zone: bool) -> &'static str {
    match (unit, has_zone) {
        (TimeUnit::Nano, _) => {
            "has more than nine digits after the point, and no type holds less than a nanosecond"
        }
        (_, false) => {
            "has more digits after the point than the unit of the property holds; timestamp[ns] holds nine of them"
        }
        (_, true) => {
            "has more digits after the point than the unit of the property holds; timestamp[ns, UTC] holds nine of them"
        }
    }
}

/// The digits after the point of a second, as units; `None` if there are more than the unit has.
fn units_of(fraction: &str, unit: TimeUnit) -> Option<i64> {
    let kept = fraction.trim_end_matches('0');
    let padded = || format!("{kept:0<width$}", width = unit.digits()).parse();
    (kept.len() <= unit.digits()).then(|| padded().unwrap_or(0))
}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.nanoseconds().cmp(&other.nanoseconds()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per_second = self.unit.per_second();
        let (seconds, fraction) = (self.count.div_euclid(per_second), self.count.rem_euclid(per_second));
        // Offsets of whole minutes can be written; those of centuries ago are not.
        let offset = self.offset_seconds.filter(|offset| offset % 60 == 0);
        let seconds = seconds + i64::from(offset.unwrap_or(0));
        let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        write!(f, "{}T{:02}:{:02}:{:02}", DateText(days), of_day / 3600, of_day / 60 % 60, of_day % 60)?;
        if fraction != 0 {
            let digits = format!("{fraction:0width$}", width = self.unit.digits());
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        match (self.offset_seconds, offset) {
            (None, _) => Ok(()),
            (Some(_), None | Some(0)) => f.write_str("Z"),
            (_, Some(offset)) => {
                let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60);
                write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }
}

/// Shows days since 1970-01-01 as a date.
#[derive(Debug, Clone, Copy)]
pub struct DateText(
    /// The days.
    pub i64,
);

impl fmt::Display for DateText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date_of(self.0);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// Parses a date such as `2026-11-21`: its days since 1970-01-01.
pub fn parse_date(text: &str) -> Option<i32> {
    let civil = CivilText::parse(text)?;
    let is_date = civil.second.is_none() && civil.offset_minutes.is_none();
    is_date.then(|| i32::try_from(civil.days).ok())?
}

/// Parses `true` or `false`, with a capital or in capitals too.
pub fn parse_boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_as_they_are_read() {
        for name in [
            "text",
            "bool",
            "date",
            "i64",
            "u8",
            "f32",
            "timestamp[s]",
            "timestamp[ns, Europe/Berlin]",
            "vector[f32, 3]",
            "vector[f64, 8192]",
        ] {
            assert_eq!(name.parse::<PropertyType>().unwrap().to_string(), name);
        }
        assert_eq!("timestamp".parse::<PropertyType>().unwrap().to_string(), "timestamp[us]");
        assert_eq!("timestamp[us,UTC]".parse::<PropertyType>().unwrap().to_string(), "timestamp[us, UTC]");
        for name in ["int", "timestamp[", "timestamp[h]", "timestamp[us,]", ""] {
            assert!(name.parse::<PropertyType>().unwrap_err().contains("the types are text, bool"), "{name}");
        }
    }

    #[test]
    fn types_have_the_names_of_arrow_and_numpy_too() {
        for (theirs, own) in
            [("int64", "i64"), ("float64", "f64"), ("double", "f64"), ("uint8", "u8"), ("string", "text")]
        {
            assert_eq!(theirs.parse::<PropertyType>(), own.parse::<PropertyType>(), "{theirs}");
        }
    }

    #[test]
    fn times_are_written_as_they_are_read() {
        for (text, unit, count) in [
            ("1970-01-01T00:00:00", TimeUnit::Second, 0),
            ("2026-11-21T10:00:00Z", TimeUnit::Second, 1_795_255_200),
            ("2026-11-21T10:00:00.25Z", TimeUnit::Milli, 1_795_255_200_250),
            ("1969-12-31T23:59:59.999999", TimeUnit::Micro, -1),
            ("1677-09-21T00:12:43.145224193Z", TimeUnit::Nano, i64::MIN + 1),
        ] {
            let found = Timestamp::parse(text, unit).unwrap();
            let offset_seconds = text.ends_with('Z').then_some(0);
            assert_eq!(found, Timestamp { count, unit, offset_seconds }, "{text}");
            assert_eq!(found.to_string(), text);
        }
        for (text, zone, shown) in [
            ("2026-07-01T10:00:00.5Z", "Europe/Berlin", "2026-07-01T12:00:00.5+02:00"),
            ("2026-01-01T10:00:00Z", "America/St_Johns", "2026-01-01T06:30:00-03:30"),
            ("1850-01-01T10:00:00Z", "Europe/Berlin", "1850-01-01T10:00:00Z"),
            ("2026-01-01T10:00:00Z", "+05:30", "2026-01-01T15:30:00+05:30"),
            ("2026-01-01T10:00:00Z", "Nowhere/At_All", "2026-01-01T10:00:00Z"),
            ("2026-01-01T10:00:00Z", "", "2026-01-01T10:00:00"),
        ] {
            let time = Timestamp::parse(text, TimeUnit::Milli).unwrap().shown_in(zone);
            assert_eq!(time.to_string(), shown, "{zone}");
        }
        let east = Timestamp::parse("2026-11-21T11:30:00+01:30", TimeUnit::Second).unwrap();
        assert_eq!(east.to_string(), "2026-11-21T10:00:00Z");
        assert_eq!(
            Timestamp::parse("2026-11-21", TimeUnit::Milli).unwrap().to_string(),
            "2026-11-21T00:00:00"
        );
        for text in
            ["2026-02-29", "2026-11-21T24:00", "2026-11-21T10:00:00.", "noon", "2026-11-21T10:00 CET", ""]
        {
            assert!(Timestamp::parse(text, TimeUnit::Micro).is_err(), "{text}");
        }
        assert!(
            Timestamp::parse("2026-11-21T10:00:00.25", TimeUnit::Second).unwrap_err().contains("more digits")
        );
        for (end, remedy) in [("", "timestamp[ns] holds"), ("Z", "timestamp[ns, UTC] holds")] {
            let fine = format!("2026-11-21T10:00:00.1234567{end}");
            assert!(Timestamp::parse(&fine, TimeUnit::Micro).unwrap_err().contains(remedy), "{fine}");
            let finest = format!("2026-11-21T10:00:00.1234567891{end}");
            assert!(Timestamp::parse(&finest, TimeUnit::Nano).unwrap_err().contains("nine digits"));
        }
        assert!(Timestamp::parse("9999-01-01", TimeUnit::Nano).unwrap_err().contains("64 bits"));
    }

    #[test]
    fn dates_are_written_as_they_are_read() {
        for days in (-800_000..3_000_000).step_by(997) {
            let text = DateText(days).to_string();
            if text.len() == 10 && !text.starts_with('-') {
                assert_eq!(parse_date(&text), Some(days as i32), "{text}");
            }
        }
        assert_eq!(parse_date("1970-01-02"), Some(1));
        assert_eq!(parse_date("1970-01-02T00:00"), None);
        assert!(!DateText(i64::from(i32::MIN)).to_string().is_empty());
        assert!(!DateText(i64::from(i32::MAX)).to_string().is_empty());
    }
}
