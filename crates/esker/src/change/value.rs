//! Converts input values to the type of a property.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_schema::DataType;
use esker_import::decimal::float;
use esker_import::typed;
use esker_store::format::{ElementType, LogicalType, PropertyRecord, PropertyType};
use esker_store::property::PropertyValue;
use esker_store::{Error, Result};

/// A value from the input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Given<'a> {
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// Text, which can be the text of a number.
    Text(&'a [u8]),
}

impl<'a> Given<'a> {
    /// The value at `index` of a column of an import.
    pub fn of(column: &'a ArrayRef, index: usize) -> Self {
        match column.data_type() {
            DataType::Int64 => Self::Int(column.as_primitive::<Int64Type>().value(index)),
            DataType::Float64 => Self::Float(column.as_primitive::<Float64Type>().value(index)),
            _ => Self::Text(column.as_binary::<i32>().value(index)),
        }
    }
}

/// Converts a value to the type of a property; also returns whether the value was rounded to the precision of that type.
///
/// # Errors
/// [`Error::Invalid`] if the type cannot represent the value.
pub fn convert<'a>(property: &PropertyRecord, given: Given<'a>) -> Result<(PropertyValue<'a>, bool)> {
    let converted = match (&property.logical, given) {
        (LogicalType::Text, Given::Text(text)) => Some((PropertyValue::Text(text), false)),
        (LogicalType::Text, _) => None,
        (LogicalType::Number, Given::Int(value)) => from_int(property.element, value),
        (LogicalType::Number, Given::Float(value)) => from_float(property.element, value),
        (LogicalType::Number, Given::Text(text)) => match number(text) {
            _ if property.element == ElementType::U64 && unsigned(text).is_some() => {
                unsigned(text).map(|value| (PropertyValue::U64(value), false))
            }
            Some(Given::Int(value)) => from_int(property.element, value),
            Some(Given::Float(value)) => from_float(property.element, value),
            _ => None,
        },
        (_, Given::Text(text)) => return logical_of_text(property, text).map(|value| (value, false)),
        (LogicalType::Boolean, Given::Int(value)) if !matches!(value, 0 | 1) => None,
        (logical, Given::Int(value)) => {
            let stored = from_int(property.element, value);
            stored.map(|(stored, rounded)| (stored.as_logical(logical), rounded))
        }
        (_, Given::Float(_)) => None,
    };
    converted.ok_or_else(|| {
        let given = match given {
            Given::Int(value) => value.to_string(),
            Given::Float(value) => value.to_string(),
            Given::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
        };
        let kind = describe(&property.property_type());
        Error::Invalid(format!("property {:?} holds {kind}, but the value is {given}", property.name))
    })
}

/// A truth value, date or time from its text.
fn logical_of_text(property: &PropertyRecord, text: &[u8]) -> Result<PropertyValue<'static>> {
    let text = String::from_utf8_lossy(text);
    PropertyValue::parse_logical(&property.logical, &text)
        .map_err(|reason| Error::Invalid(format!("property {:?}: {text:?} {reason}", property.name)))
}

/// Converts a value for a property, whose type a batch makes wider if it must: only what no type holds exactly is rounded.
///
/// # Errors
/// As [`convert`].
pub fn convert_or_widen<'a>(
    property: &PropertyRecord,
    given: Given<'a>,
) -> Result<(PropertyValue<'a>, bool)> {
    let converted = convert(property, given);
    let number = match given {
        Given::Text(text) => number(text),
        number => Some(number),
    };
    let is_signed = |element| {
        matches!(element, ElementType::I32 | ElementType::I64 | ElementType::F32) && property.is_number()
    };
    match (&converted, number) {
        (Ok((_, false)), _) => converted,
        (_, Some(Given::Int(value))) if is_signed(property.element) => {
            let is_float = property.element == ElementType::F32;
            match is_float && (value as f64) as i128 != i128::from(value) {
                true => converted,
                false => Ok((PropertyValue::I64(value), false)),
            }
        }
        (_, Some(Given::Float(value))) if is_signed(property.element) => {
            Ok((PropertyValue::F64(value), false))
        }
        _ => converted,
    }
}

/// Describes the values of a property, for messages.
pub(super) fn describe(property_type: &PropertyType) -> String {
    use ElementType::{F32, F64, I32, I64, U8, U16, U32, U64};
    let numbers = match property_type.element {
        _ if property_type.logical.is_text() => "text",
        _ if !property_type.logical.is_number() => return property_type.to_string(),
        U8 => "integers from 0 to 255",
        U16 => "integers from 0 to 65 535",
        U32 => "integers from 0 to 2^32 - 1",
        U64 => "integers from 0 to 2^64 - 1",
        I32 => "32-bit integers",
        I64 => "64-bit integers",
        F32 | F64 => "numbers",
    };
    numbers.to_owned()
}

fn from_int(element: ElementType, value: i64) -> Option<(PropertyValue<'static>, bool)> {
    let exact = match element {
        ElementType::U8 => PropertyValue::U8(value.try_into().ok()?),
        ElementType::U16 => PropertyValue::U16(value.try_into().ok()?),
        ElementType::U32 => PropertyValue::U32(value.try_into().ok()?),
        ElementType::U64 => PropertyValue::U64(value.try_into().ok()?),
        ElementType::I32 => PropertyValue::I32(value.try_into().ok()?),
        ElementType::I64 => PropertyValue::I64(value),
        ElementType::F32 => {
            return Some((PropertyValue::F32(value as f32), (value as f32) as i128 != i128::from(value)));
        }
        ElementType::F64 => {
            return Some((PropertyValue::F64(value as f64), (value as f64) as i128 != i128::from(value)));
        }
    };
    Some((exact, false))
}

fn from_float(element: ElementType, value: f64) -> Option<(PropertyValue<'static>, bool)> {
    match element {
        ElementType::F64 => Some((PropertyValue::F64(value), false)),
        ElementType::F32 => {
            let near = value as f32;
            // A finite value must not become infinite.
            let fits = near.is_finite() || !value.is_finite();
            fits.then_some((PropertyValue::F32(near), f64::from(near) != value))
        }
        _ => {
            let whole = value as i64;
            let exact = whole as f64 == value && whole.unsigned_abs() <= 1 << 53;
            exact.then(|| from_int(element, whole)).flatten()
        }
    }
}

/// Parses text as an integer from 0 to 2^64 - 1.
fn unsigned(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// Parses text as a number. Text with leading zeros is not a number, because the zeros would be lost.
pub(super) fn number(text: &[u8]) -> Option<Given<'static>> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let padded = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    if padded || !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if let Ok(value) = text.parse() {
        return Some(Given::Int(value));
    }
    float(text).ok().map(Given::Float)
}

/// The type of a new property with these values. Empty values are ignored.
pub(super) fn sniff<'v>(values: impl Iterator<Item = &'v [u8]> + Clone) -> PropertyType {
    let mut element = None;
    for value in values.clone().filter(|value| !value.is_empty()) {
        element = match number(value) {
            Some(Given::Int(_)) => element.or(Some(ElementType::I64)),
            Some(_) => Some(ElementType::F64),
            None => return typed::sniff(values).map_or_else(PropertyType::text, PropertyType::from),
        };
    }
    element.into()
}

#[cfg(test)]
mod tests {
    use esker_store::format::Owner;

    use super::*;

    fn property(element: ElementType, texts: bool) -> PropertyRecord {
        let logical = if texts { LogicalType::Text } else { LogicalType::Number };
        PropertyRecord {
            number: 0,
            owner: Owner::Edges,
            name: "p".to_owned(),
            element,
            logical,
            weight: false,
        }
    }

    #[test]
    fn values_take_the_type_of_their_property_or_are_refused() {
        use ElementType::{F32, F64, I32, I64, U8, U64};
        let check = |element, given, expected: Option<(PropertyValue<'static>, bool)>| {
            assert_eq!(convert(&property(element, false), given).ok(), expected, "{element:?} {given:?}");
        };
        check(I32, Given::Int(7), Some((PropertyValue::I32(7), false)));
        check(I32, Given::Int(1 << 31), None);
        check(I32, Given::Float(7.0), Some((PropertyValue::I32(7), false)));
        check(I32, Given::Float(7.5), None);
        check(I64, Given::Float(1e300), None);
        check(U8, Given::Int(-1), None);
        check(U64, Given::Text(b"12"), Some((PropertyValue::U64(12), false)));
        check(F32, Given::Float(0.5), Some((PropertyValue::F32(0.5), false)));
        check(F32, Given::Float(0.1), Some((PropertyValue::F32(0.1), true)));
        check(F32, Given::Float(1e300), None);
        check(F32, Given::Int((1 << 24) + 1), Some((PropertyValue::F32(16_777_216.0), true)));
        check(F64, Given::Int(i64::MAX), Some((PropertyValue::F64(9.223_372_036_854_776e18), true)));
        check(F64, Given::Text(b"many"), None);
        check(F64, Given::Text(b"12345678901234567890123"), None);
        check(U64, Given::Text(b"18446744073709551615"), Some((PropertyValue::U64(u64::MAX), false)));
        let told = convert(&property(I32, false), Given::Float(2.5)).unwrap_err().to_string();
        assert_eq!(told, "property \"p\" holds 32-bit integers, but the value is 2.5");
        let text = convert(&property(U8, true), Given::Text(b"x")).unwrap();
        assert_eq!(text, (PropertyValue::Text(b"x"), false));
        assert!(convert(&property(U8, true), Given::Int(3)).is_err());
    }

    #[test]
    fn types_of_new_properties() {
        let sniff = |values: &[&str]| sniff(values.iter().map(|value| value.as_bytes())).to_string();
        assert_eq!(sniff(&["1", "", "-5"]), "i64");
        assert_eq!(sniff(&["1", "0.5"]), "f64");
        assert_eq!(sniff(&["0.5", "1"]), "f64");
        assert_eq!(sniff(&["1", "one"]), "text");
        assert_eq!(sniff(&["007", "1"]), "text");
        assert_eq!(sniff(&["inf"]), "text");
        assert_eq!(sniff(&["18446744073709551616"]), "f64");
        assert_eq!(sniff(&["99999999999999999999"]), "text", "no number type holds it");
        assert_eq!(sniff(&["1e400"]), "text");
        assert_eq!(sniff(&[]), "text");
        assert_eq!(sniff(&["true", "", "false"]), "bool");
        assert_eq!(sniff(&["2026-11-21"]), "date");
        assert_eq!(sniff(&["2026-11-21 10:00:00Z"]), "timestamp[us, UTC]");
    }
}
