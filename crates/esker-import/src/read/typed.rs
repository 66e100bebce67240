//! Converts values of Arrow types and texts to the declared type of a property, and reports values that do
//! not fit.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Schema, TimeUnit as ArrowUnit};
use esker_format::value::decimal::{self, Number};
use esker_format::{EdgeId, ElementType, LogicalType, PropertyType, TimeUnit};
use esker_graph::{Message, Setting, message};
use esker_layers::property::PropertyValue;

use crate::read::source::{Numbers, text_column, with_nulls};

/// Key and value by which the metadata of an Arrow schema says that edges are undirected.
pub(crate) const UNDIRECTED: [&str; 2] = ["esker.directed", "false"];

/// Key by which the metadata of an Arrow schema names the column of the weight, if it is not called `weight`.
pub(crate) const WEIGHT: &str = "esker.weight";

/// The column that the metadata of a schema calls the weight.
pub(crate) fn said_weight(schema: &Schema) -> Option<&str> {
    schema.metadata().get(WEIGHT).map(String::as_str)
}

/// Whether the metadata of a schema says that the edges are undirected.
pub(crate) fn says_undirected(schema: &Schema) -> bool {
    let [key, value] = UNDIRECTED;
    schema.metadata().get(key).is_some_and(|found| found == value)
}

/// The logical type of an Arrow column; `None` for plain numbers and texts.
pub fn logical_of(data_type: &DataType) -> Option<LogicalType> {
    match data_type {
        DataType::Boolean => Some(LogicalType::Boolean),
        DataType::Date32 | DataType::Date64 => Some(LogicalType::Date),
        DataType::Timestamp(unit, zone) => {
            let unit = match unit {
                ArrowUnit::Second => TimeUnit::Second,
                ArrowUnit::Millisecond => TimeUnit::Milli,
                ArrowUnit::Microsecond => TimeUnit::Micro,
                ArrowUnit::Nanosecond => TimeUnit::Nano,
            };
            Some(LogicalType::Timestamp { unit, zone: zone.as_deref().unwrap_or_default().to_owned() })
        }
        DataType::Dictionary(_, values) => logical_of(values),
        DataType::RunEndEncoded(_, values) => logical_of(values.data_type()),
        _ => None,
    }
}

/// The property type that an Arrow column declares: its logical type, or `u64`; `None` for other numbers and
/// for texts.
pub fn type_of(data_type: &DataType) -> Option<PropertyType> {
    match data_type {
        DataType::UInt64 => Some(ElementType::U64.into()),
        other => logical_of(other).map(PropertyType::from),
    }
}

/// The Arrow type of a logical type; `None` for plain numbers and texts.
pub fn arrow_type(logical: &LogicalType) -> Option<DataType> {
    match logical {
        LogicalType::Number | LogicalType::Text | LogicalType::Vector { .. } => None,
        LogicalType::Boolean => Some(DataType::Boolean),
        LogicalType::Date => Some(DataType::Date32),
        LogicalType::EdgeId => Some(DataType::Utf8),
        LogicalType::Timestamp { unit, zone } => {
            let unit = match unit {
                TimeUnit::Second => ArrowUnit::Second,
                TimeUnit::Milli => ArrowUnit::Millisecond,
                TimeUnit::Micro => ArrowUnit::Microsecond,
                TimeUnit::Nano => ArrowUnit::Nanosecond,
            };
            Some(DataType::Timestamp(unit, (!zone.is_empty()).then(|| zone.as_str().into())))
        }
    }
}

/// Converts stored numbers that stand for truth values, dates or times to a column of Arrow's type. Leaves
/// others as they are.
pub fn arrow_column(logical: &LogicalType, numbers: &ArrayRef) -> ArrayRef {
    use arrow_array::types::{
        Date32Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
        TimestampSecondType,
    };
    let Some(values) = numbers.as_primitive_opt::<Int64Type>() else { return Arc::clone(numbers) };
    macro_rules! times {
        ($type:ty, $zone:expr) => {{
            let times = values.reinterpret_cast::<$type>();
            if $zone.is_empty() { Arc::new(times) } else { Arc::new(times.with_timezone($zone.as_str())) }
        }};
    }
    match logical {
        LogicalType::Number | LogicalType::Text | LogicalType::Vector { .. } => Arc::clone(numbers),
        LogicalType::Boolean => {
            let values = values.iter().map(|value| value.map(|value| value != 0));
            Arc::new(arrow_array::BooleanArray::from_iter(values))
        }
        LogicalType::Date => Arc::new(values.unary::<_, Date32Type>(|days| days as i32)),
        LogicalType::EdgeId => {
            let ids = values
                .iter()
                .map(|bits| bits.map(|bits| EdgeId::from_bits(bits.cast_unsigned()).to_string()));
            Arc::new(arrow_array::StringArray::from_iter(ids))
        }
        LogicalType::Timestamp { unit, zone } => match unit {
            TimeUnit::Second => times!(TimestampSecondType, zone),
            TimeUnit::Milli => times!(TimestampMillisecondType, zone),
            TimeUnit::Micro => times!(TimestampMicrosecondType, zone),
            TimeUnit::Nano => times!(TimestampNanosecondType, zone),
        },
    }
}

/// The value that a stored number stands for.
pub fn logical_value(logical: &LogicalType, number: i64) -> PropertyValue<'static> {
    let element = logical.element().unwrap_or(ElementType::I64);
    PropertyValue::from_bits(element, number.cast_unsigned()).as_logical(logical)
}

/// A number of a declared type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Typed {
    Int(i64),
    Float(f64),
    /// An integer of the type `u64`.
    Unsigned(u64),
}

/// A number as one of an element type; floats are rounded to their precision.
pub(crate) fn fit(value: Typed, element: ElementType) -> Result<Typed, String> {
    let value = match value {
        Typed::Unsigned(value) if element != ElementType::U64 => {
            i64::try_from(value).map_or(Typed::Float(value as f64), Typed::Int)
        }
        other => other,
    };
    let range: std::ops::RangeInclusive<i64> = match element {
        ElementType::U8 => 0..=u8::MAX.into(),
        ElementType::U16 => 0..=u16::MAX.into(),
        ElementType::U32 => 0..=u32::MAX.into(),
        ElementType::U64 => 0..=i64::MAX,
        ElementType::I32 => i32::MIN.into()..=i32::MAX.into(),
        ElementType::I64 => i64::MIN..=i64::MAX,
        ElementType::F32 | ElementType::F64 => {
            let value = match value {
                Typed::Int(value) => value as f64,
                Typed::Float(value) => value,
                Typed::Unsigned(value) => value as f64,
            };
            let rounded = if element == ElementType::F32 { f64::from(value as f32) } else { value };
            let fits = rounded.is_finite() || !value.is_finite();
            return fits
                .then_some(Typed::Float(rounded))
                .ok_or_else(|| format!("exceeds {}", element.name()));
        }
    };
    let whole = match value {
        Typed::Int(value) => Some(value),
        Typed::Unsigned(_) => return Ok(value),
        Typed::Float(value) => {
            let whole = value as i64;
            (whole as f64 == value && whole.unsigned_abs() <= 1 << 53).then_some(whole)
        }
    };
    match whole.filter(|whole| range.contains(whole)) {
        Some(whole) if element == ElementType::U64 => Ok(Typed::Unsigned(whole.cast_unsigned())),
        Some(whole) => Ok(Typed::Int(whole)),
        None if element == ElementType::U64 => Err(format!("is not an integer from 0 to {}", u64::MAX)),
        None => Err(format!("is not an integer from {} to {}", range.start(), range.end())),
    }
}

/// A text as a value of a declared type that is not text.
pub(crate) fn parse(text: &[u8], wanted: &PropertyType) -> Result<Typed, String> {
    if text.is_empty() {
        return Err(format!("is empty where a value of type {wanted} belongs"));
    }
    if !wanted.logical.is_number() {
        let text = std::str::from_utf8(text).map_err(|_| "is not UTF-8".to_owned())?;
        let value = PropertyValue::parse_logical(&wanted.logical, text).map_err(str::to_owned)?;
        return Ok(Typed::Int(match value {
            PropertyValue::Boolean(value) => value.into(),
            PropertyValue::Date(days) => days.into(),
            other => other.bits().unwrap_or(0).cast_signed(),
        }));
    }
    let unsigned = if wanted.element == ElementType::U64 { decimal::unsigned(text) } else { None };
    let value = match (unsigned, decimal::number(text)) {
        (Some(value), _) => Typed::Unsigned(value),
        (None, Ok(Number::Int(value))) => Typed::Int(value),
        (None, Ok(Number::Float(value))) => Typed::Float(value),
        (None, Err(why)) => return Err(why.reason().to_owned()),
    };
    fit(value, wanted.element)
}

const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

/// Checks that a weight can have a type.
pub fn weight_fits(declared: &PropertyType) -> Result<(), Message> {
    use ElementType::{F32, F64, I32, I64};
    let is_weight = declared.logical.is_number() && matches!(declared.element, I32 | I64 | F32 | F64);
    is_weight.then_some(()).ok_or_else(|| {
        let wrong = format!(
            "a weight has the type i32, i64, f32 or f64, not {declared}; take it as a property, with "
        );
        message![wrong, Setting::Weight.to(false)]
    })
}

/// The type of a column that is named as the time: a date is the beginning of its day.
pub(crate) fn as_time(found: PropertyType) -> PropertyType {
    match found.logical {
        LogicalType::Date => LogicalType::Timestamp { unit: TimeUnit::Second, zone: String::new() }.into(),
        _ => found,
    }
}

/// Guesses the logical type of a sample of texts: one that all of them fit, other than plain numbers and
/// texts.
pub fn sniff<'v>(values: impl Iterator<Item = &'v [u8]> + Clone) -> Option<LogicalType> {
    let mut given = values.filter(|value| !value.is_empty()).map(std::str::from_utf8).peekable();
    given.peek()?;
    std::iter::once(LogicalType::Boolean)
        .chain(times())
        .find(|logical| given.clone().all(|text| text.is_ok_and(|text| fits(logical, text))))
}

/// The type of a new property with these values. Empty values are ignored. Of numbers, also if some of them
/// are refused.
pub fn sniff_type<'v>(values: impl Iterator<Item = &'v [u8]> + Clone) -> PropertyType {
    if !decimal::are_numbers(values.clone()) {
        return sniff(values).map_or_else(PropertyType::text, PropertyType::from);
    }
    let mut given = values.filter(|value| !value.is_empty());
    match given.all(|value| matches!(decimal::number(value), Ok(Number::Int(_)))) {
        true => ElementType::I64.into(),
        false => ElementType::F64.into(),
    }
}

/// Guesses the logical type of a sample of times: the one that most of them fit, unless more of them are
/// numbers.
pub(crate) fn sniff_most<'v>(values: &(impl Iterator<Item = &'v [u8]> + Clone)) -> Option<LogicalType> {
    let given = || values.clone().filter(|value| !value.is_empty()).map(std::str::from_utf8);
    let count =
        |logical: &LogicalType| given().filter(|text| text.is_ok_and(|text| fits(logical, text))).count();
    // Of two that fit as many, the first.
    let counts = times().map(|logical| (count(&logical), logical)).rev();
    let (count, logical) = counts.max_by_key(|(count, _)| *count)?;
    let numbers = given().filter(|text| text.is_ok_and(|text| decimal::is_numeral(text.as_bytes()))).count();
    (count > numbers).then_some(logical)
}

/// The types that times may have, beside numbers.
fn times() -> impl DoubleEndedIterator<Item = LogicalType> {
    let timestamps = [TimeUnit::Micro, TimeUnit::Nano]
        .into_iter()
        .flat_map(|unit| ["", "UTC"].map(|zone| LogicalType::Timestamp { unit, zone: zone.to_owned() }));
    std::iter::once(LogicalType::Date).chain(timestamps)
}

/// Whether a text is a value of a type, and no number.
fn fits(logical: &LogicalType, text: &str) -> bool {
    !decimal::is_numeral(text.as_bytes()) && PropertyValue::parse_logical(logical, text).is_ok()
}

/// Whether values are integers from 0 to 2^64 - 1, which no other type of a property holds.
pub fn is_unsigned(wanted: &PropertyType) -> bool {
    wanted.logical.is_number() && wanted.element == ElementType::U64
}

/// Casts a column of `Int64`, `UInt64`, `Float64` or `Binary` to a declared type; nulls stay. `given` says
/// what its numbers stand for. Calls `fault` with the row of each value that does not fit, why, and it.
pub fn cast(
    column: &ArrayRef,
    given: Option<&LogicalType>,
    wanted: &PropertyType,
    mut fault: impl FnMut(usize, String, String),
) -> ArrayRef {
    let shown = |row: usize| shown(column, row, given);
    if wanted.logical.is_text() {
        return match column.data_type() {
            DataType::Binary => Arc::clone(column),
            _ => with_nulls(&text_column((0..column.len()).map(shown)), column.nulls().cloned()),
        };
    }
    let mut values = match is_unsigned(wanted) {
        true => Numbers::Unsigned(Vec::with_capacity(column.len())),
        false => Numbers::Int(Vec::with_capacity(column.len())),
    };
    for row in 0..column.len() {
        let value = if column.is_valid(row) { value(column, row, given, wanted) } else { Ok(Typed::Int(0)) };
        let value = value.unwrap_or_else(|reason| {
            fault(row, reason, shown(row));
            Typed::Int(0)
        });
        push(&mut values, value);
    }
    with_nulls(&values.finish(), column.nulls().cloned())
}

/// Appends a number; the first float makes the column one of floats.
pub(crate) fn push(values: &mut Numbers, value: Typed) {
    match (&mut *values, value) {
        (Numbers::Unsigned(all), Typed::Unsigned(value)) => all.push(value),
        // A value that does not fit leaves a 0.
        (Numbers::Unsigned(all), _) => all.push(0),
        (Numbers::Int(all), Typed::Unsigned(value)) => all.push(value.cast_signed()),
        (Numbers::Float(all), Typed::Unsigned(value)) => all.push(value as f64),
        (Numbers::Int(all), Typed::Int(value)) => all.push(value),
        (Numbers::Float(all), Typed::Int(value)) => all.push(value as f64),
        (Numbers::Float(all), Typed::Float(value)) => all.push(value),
        (Numbers::Int(all), Typed::Float(value)) => {
            let mut floats: Vec<f64> = Vec::with_capacity(all.capacity());
            floats.extend(all.iter().map(|&value| value as f64));
            floats.push(value);
            *values = Numbers::Float(floats);
        }
    }
}

fn value(
    column: &ArrayRef,
    row: usize,
    given: Option<&LogicalType>,
    wanted: &PropertyType,
) -> Result<Typed, String> {
    let number = match column.data_type() {
        DataType::Int64 => Typed::Int(column.as_primitive::<Int64Type>().value(row)),
        DataType::UInt64 => {
            let value = column.as_primitive::<UInt64Type>().value(row);
            i64::try_from(value).map_or(Typed::Unsigned(value), Typed::Int)
        }
        DataType::Float64 => Typed::Float(column.as_primitive::<Float64Type>().value(row)),
        _ => return parse(column.as_binary::<i32>().value(row), wanted),
    };
    let refused = || Err(format!("is not of type {wanted}"));
    match (&wanted.logical, given, number) {
        (LogicalType::Number, None | Some(LogicalType::Boolean), number) => fit(number, wanted.element),
        (_, _, Typed::Float(_) | Typed::Unsigned(_)) => refused(),
        (LogicalType::Boolean, None | Some(LogicalType::Boolean), Typed::Int(0 | 1)) => Ok(number),
        (LogicalType::Date, Some(LogicalType::Date), number) => fit(number, ElementType::I32),
        (LogicalType::Timestamp { unit, zone }, Some(LogicalType::Date), Typed::Int(days))
            if zone.is_empty() =>
        {
            let count =
                days.checked_mul(SECONDS_PER_DAY).and_then(|seconds| seconds.checked_mul(unit.per_second()));
            count.map(Typed::Int).ok_or_else(|| format!("is a day that {wanted} does not reach"))
        }
        (
            LogicalType::Timestamp { unit, zone },
            Some(LogicalType::Timestamp { unit: own, zone: own_zone }),
            Typed::Int(count),
        ) if zone.is_empty() == own_zone.is_empty() => {
            let (from, to) = (own.per_second(), unit.per_second());
            let scaled = i128::from(count) * i128::from(to);
            let exact = (scaled % i128::from(from) == 0).then(|| i64::try_from(scaled / i128::from(from)));
            match exact {
                Some(Ok(count)) => Ok(Typed::Int(count)),
                _ => Err(format!("is a time that {wanted} does not hold exactly")),
            }
        }
        _ => refused(),
    }
}

/// A value as text.
fn shown(column: &ArrayRef, row: usize, given: Option<&LogicalType>) -> String {
    if column.is_null(row) {
        return String::new();
    }
    match column.data_type() {
        DataType::Int64 => {
            let value = column.as_primitive::<Int64Type>().value(row);
            given.map_or_else(|| value.to_string(), |logical| logical_value(logical, value).to_string())
        }
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).to_string(),
        _ => String::from_utf8_lossy(column.as_binary::<i32>().value(row)).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Int64Array;

    use super::*;

    #[track_caller]
    fn check(column: &ArrayRef, given: Option<&LogicalType>, wanted: &str, expected: Result<&[i64], &str>) {
        let mut faults = Vec::new();
        let wanted: PropertyType = wanted.parse().unwrap();
        let cast =
            cast(column, given, &wanted, |row, reason, text| faults.push(format!("{row} {text} {reason}")));
        match expected {
            Ok(expected) => {
                assert_eq!(faults, Vec::<String>::new());
                assert_eq!(cast.as_primitive::<Int64Type>().values(), expected);
            }
            Err(expected) => assert_eq!(faults, [expected]),
        }
    }

    fn texts(texts: &[&str]) -> ArrayRef {
        text_column(texts)
    }

    fn integers(values: &[i64]) -> ArrayRef {
        Arc::new(Int64Array::from(values.to_vec()))
    }

    #[test]
    fn values_become_those_of_the_declared_type_or_are_named() {
        check(&texts(&["true", "0", "False"]), None, "bool", Ok(&[1, 0, 0]));
        check(&texts(&["true", "yes"]), None, "bool", Err("1 yes is neither true nor false"));
        check(&integers(&[1, 2]), None, "bool", Err("1 2 is not of type bool"));
        check(&texts(&["1970-01-03"]), None, "date", Ok(&[2]));
        // Numbers are no times, nor times numbers: nobody says since when, or in which unit.
        check(&integers(&[7]), None, "date", Err("0 7 is not of type date"));
        check(&integers(&[7]), None, "timestamp[s]", Err("0 7 is not of type timestamp[s]"));
        check(&integers(&[7]), Some(&LogicalType::Date), "i32", Err("0 1970-01-08 is not of type i32"));
        check(&integers(&[1]), Some(&LogicalType::Boolean), "i32", Ok(&[1]));
        check(&texts(&["1970-01-01T00:00:01Z"]), None, "timestamp[ms, UTC]", Ok(&[1000]));
        let seconds = LogicalType::Timestamp { unit: TimeUnit::Second, zone: String::new() };
        check(&integers(&[7]), Some(&seconds), "timestamp[us]", Ok(&[7_000_000]));
        check(
            &integers(&[7]),
            Some(&seconds),
            "timestamp[us, UTC]",
            Err("0 1970-01-01T00:00:07 is not of type timestamp[us, UTC]"),
        );
        check(&texts(&["12", "-3"]), None, "i32", Ok(&[12, -3]));
        let unsigned =
            cast(&texts(&["18446744073709551615", "7"]), None, &"u64".parse().unwrap(), |_, why, _| {
                panic!("{why}")
            });
        assert_eq!(unsigned.as_primitive::<UInt64Type>().values(), &[u64::MAX, 7]);
        let unsigned: ArrayRef = Arc::new(arrow_array::UInt64Array::from(vec![u64::MAX]));
        check(
            &unsigned,
            None,
            "i64",
            Err("0 18446744073709551615 is not an integer from -9223372036854775808 to 9223372036854775807"),
        );
        check(&texts(&["-1"]), None, "u64", Err("0 -1 is not an integer from 0 to 18446744073709551615"));
        check(&texts(&["1.5"]), None, "i32", Err("0 1.5 is not an integer from -2147483648 to 2147483647"));
        let text = cast(&integers(&[1]), Some(&LogicalType::Boolean), &PropertyType::text(), |_, _, _| {});
        assert_eq!(text.as_binary::<i32>().value(0), b"true");
    }

    #[test]
    fn a_sample_tells_truth_values_dates_and_times() {
        let sniff = |values: &[&str]| sniff(values.iter().map(|value| value.as_bytes()));
        let named = |values: &[&str]| sniff(values).map(|logical| PropertyType::from(logical).to_string());
        assert_eq!(named(&["true", "", "false"]).as_deref(), Some("bool"));
        assert_eq!(named(&["2026-11-21", "1999-01-01"]).as_deref(), Some("date"));
        assert_eq!(named(&["2026-11-21", "1999-01-01 10:00"]).as_deref(), Some("timestamp[us]"));
        assert_eq!(named(&["2026-11-21T10:00:00Z"]).as_deref(), Some("timestamp[us, UTC]"));
        let fine = ["2026-11-21 10:00:00", "2026-11-21 10:00:00.123456789"];
        assert_eq!(named(&fine).as_deref(), Some("timestamp[ns]"));
        assert_eq!(named(&["2026-11-21T10:00:00.123456789+01:00"]).as_deref(), Some("timestamp[ns, UTC]"));
        for values in
            [&["1", "0"][..], &["true", "x"], &["2026-11-21T10:00:00Z", "2026-11-21"], &["", ""], &[]]
        {
            assert_eq!(named(values), None, "{values:?}");
        }
    }

    #[test]
    fn types_of_new_properties() {
        let sniff = |values: &[&str]| sniff_type(values.iter().map(|value| value.as_bytes())).to_string();
        assert_eq!(sniff(&["1", "", "-5"]), "i64");
        assert_eq!(sniff(&["1", "0.5"]), "f64");
        assert_eq!(sniff(&["0.5", "1"]), "f64");
        assert_eq!(sniff(&["1", "one"]), "text");
        assert_eq!(sniff(&["007", "1"]), "text");
        assert_eq!(sniff(&["inf"]), "f64", "refused, not kept as a text");
        assert_eq!(sniff(&["18446744073709551616"]), "f64");
        assert_eq!(sniff(&["99999999999999999999"]), "f64", "refused: no number type holds it");
        assert_eq!(sniff(&["1e400"]), "f64", "refused: no float is so large");
        assert_eq!(sniff(&[]), "text");
        assert_eq!(sniff(&["true", "", "false"]), "bool");
        assert_eq!(sniff(&["2026-11-21"]), "date");
        assert_eq!(sniff(&["2026-11-21 10:00:00Z"]), "timestamp[us, UTC]");
    }
}
