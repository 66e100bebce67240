//! Converts input values to the type of a property.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BinaryArray};
use arrow_schema::DataType;
use esker_store::format::value::decimal::{self, NotNumber, Number};
use esker_store::format::{ElementType, LogicalType, PropertyRecord, PropertyType, Widening};
use esker_store::property::{PropertyValue, VectorValue};
use esker_store::{Error, Result};

/// A value from the input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InputValue<'a> {
    /// An integer.
    Int(i64),
    /// An integer that may exceed 2^63 - 1.
    Unsigned(u64),
    /// A number.
    Float(f64),
    /// Text, which can be the text of a number or a vector.
    Text(&'a [u8]),
    /// A vector.
    Vector(VectorValue<'a>),
    /// None.
    Missing,
}

impl<'a> InputValue<'a> {
    /// The value at `index` of a column of an import.
    pub fn of(column: &'a ArrayRef, index: usize) -> Self {
        let values = GivenColumn::of(column);
        values.get(index)
    }

    /// The values of a range of a column of an import.
    pub(super) fn all(column: &'a ArrayRef, range: Range<usize>) -> impl Iterator<Item = Self> {
        let values = GivenColumn::of(column);
        range.map(move |index| values.get(index))
    }
}

/// A column of an import, by the type of its values.
struct GivenColumn<'a> {
    values: GivenValues<'a>,
    /// The column, if it has nulls.
    nulls: Option<&'a ArrayRef>,
}

enum GivenValues<'a> {
    Unsigned(&'a [u64]),
    Int(&'a [i64]),
    Float(&'a [f64]),
    Text(&'a BinaryArray),
}

impl<'a> GivenColumn<'a> {
    fn of(column: &'a ArrayRef) -> Self {
        let values = match column.data_type() {
            DataType::UInt64 => GivenValues::Unsigned(column.as_primitive::<UInt64Type>().values()),
            DataType::Int64 => GivenValues::Int(column.as_primitive::<Int64Type>().values()),
            DataType::Float64 => GivenValues::Float(column.as_primitive::<Float64Type>().values()),
            _ => GivenValues::Text(column.as_binary::<i32>()),
        };
        Self { values, nulls: (column.null_count() > 0).then_some(column) }
    }

    fn get(&self, index: usize) -> InputValue<'a> {
        if self.nulls.is_some_and(|column| column.is_null(index)) {
            return InputValue::Missing;
        }
        match self.values {
            GivenValues::Unsigned(values) => InputValue::Unsigned(values[index]),
            GivenValues::Int(values) => InputValue::Int(values[index]),
            GivenValues::Float(values) => InputValue::Float(values[index]),
            GivenValues::Text(values) => InputValue::Text(values.value(index)),
        }
    }
}

/// Converts a value to the type of a property.
///
/// # Errors
/// [`Error::Invalid`] if the type does not hold the value exactly.
fn convert<'a>(property: &PropertyRecord, given: InputValue<'a>) -> Result<PropertyValue<'a>> {
    let converted = match (&property.logical, given) {
        (_, InputValue::Missing) => Some(PropertyValue::Missing),
        (LogicalType::Text, InputValue::Text(text)) if decimal::is_too_long(text) => {
            let (name, text) = (&property.name, decimal::shown(text));
            return Err(Error::invalid(format!(
                "the property {name:?}: the text {text:?} {}",
                decimal::TOO_LONG
            )));
        }
        (LogicalType::Text, InputValue::Text(text)) => Some(PropertyValue::Text(text)),
        (LogicalType::Text, _) => None,
        (LogicalType::Vector { .. }, InputValue::Text(text)) => {
            let (name, shown) = (&property.name, decimal::shown(text));
            VectorValue::parse(property, text)
                .map_err(|reason| Error::invalid(format!("property {name:?}: {shown:?} {reason}")))?;
            // The batch reads it again.
            Some(PropertyValue::Text(text))
        }
        (LogicalType::Vector { .. }, InputValue::Vector(vector)) => Some(PropertyValue::Vector(vector)),
        (LogicalType::Vector { .. }, _) | (_, InputValue::Vector(_)) => None,
        (LogicalType::Number, InputValue::Int(value)) => from_int(property.element, value),
        (LogicalType::Number, InputValue::Unsigned(value)) => from_unsigned(property.element, value),
        (LogicalType::Number, InputValue::Float(value)) if value.is_finite() => {
            from_float(property.element, value)
        }
        (LogicalType::Number, InputValue::Text(text)) => match decimal::number(text) {
            _ if property.element == ElementType::U64 && decimal::unsigned(text).is_some() => {
                decimal::unsigned(text).map(PropertyValue::U64)
            }
            Ok(Number::Int(value)) => from_int(property.element, value),
            Ok(Number::Float(value)) => from_float(property.element, value),
            Err(_) => None,
        },
        (logical, InputValue::Unsigned(value)) if *logical != LogicalType::Boolean || value <= 1 => {
            i64::try_from(value)
                .ok()
                .and_then(|value| from_int(property.element, value))
                .map(|stored| stored.as_logical(logical))
        }
        (_, InputValue::Unsigned(_)) => None,
        (_, InputValue::Text(text)) => return logical_of_text(property, text),
        (LogicalType::Boolean, InputValue::Int(value)) if !matches!(value, 0 | 1) => None,
        (logical, InputValue::Int(value)) => {
            from_int(property.element, value).map(|stored| stored.as_logical(logical))
        }
        (_, InputValue::Float(_)) => None,
    };
    converted.ok_or_else(|| not_held(property, given))
}

/// The error for a value that no type of the property's kind holds.
fn not_held(property: &PropertyRecord, given: InputValue<'_>) -> Error {
    let (name, kind) = (&property.name, describe(&property.property_type()));
    let is_float = matches!(property.element, ElementType::F32 | ElementType::F64) && property.is_number();
    let integer = match given {
        InputValue::Int(value) => Some(value),
        InputValue::Text(text) => match decimal::number(text) {
            Ok(Number::Int(value)) => Some(value),
            _ => None,
        },
        InputValue::Float(_) | InputValue::Unsigned(_) | InputValue::Vector(_) | InputValue::Missing => None,
    };
    if let Some(value) = integer.filter(|_| is_float) {
        return Error::invalid(format!(
            "property {name:?} holds {kind} of 64 bits, which the integer {value} is not exactly: if it may be rounded, give \
             it with an exponent, like {value:e}, or as a float"
        ));
    }
    let is_infinite = matches!(given, InputValue::Float(value) if !value.is_finite());
    let refused = match given {
        InputValue::Text(text) if property.is_number() => decimal::number(text).err(),
        _ => is_infinite.then_some(NotNumber::NotFinite),
    };
    let given = match given {
        InputValue::Int(value) => value.to_string(),
        InputValue::Unsigned(value) => value.to_string(),
        InputValue::Float(value) => value.to_string(),
        InputValue::Text(text) => format!("{:?}", decimal::shown(text)),
        InputValue::Vector(vector) => {
            format!("a vector of {} numbers of {} bits", vector.len(), if vector.is_wide() { 64 } else { 32 })
        }
        InputValue::Missing => "missing".to_owned(),
    };
    Error::invalid(match refused {
        Some(why) => format!("property {name:?} holds {kind}, but the value {given} {}", why.reason()),
        None => format!("property {name:?} holds {kind}, but the value is {given}"),
    })
}

/// A truth value, date or time from its text.
fn logical_of_text(property: &PropertyRecord, text: &[u8]) -> Result<PropertyValue<'static>> {
    let (shown, text) = (decimal::shown(text), String::from_utf8_lossy(text));
    PropertyValue::parse_logical(&property.logical, &text)
        .map_err(|reason| Error::invalid(format!("property {:?}: {shown:?} {reason}", property.name)))
}

/// Converts a value for a property, whose type the commit makes wider if it must. No value is rounded.
///
/// # Errors
/// [`Error::Invalid`] if no type of the property's kind holds the value exactly.
pub fn convert_or_widen<'a>(property: &PropertyRecord, given: InputValue<'a>) -> Result<PropertyValue<'a>> {
    let converted = convert(property, given);
    if converted.is_ok() || !property.is_number() {
        return converted;
    }
    let number = match given {
        InputValue::Text(text) => decimal::number(text).ok(),
        InputValue::Unsigned(value) => i64::try_from(value).ok().map(Number::Int),
        InputValue::Int(value) => Some(Number::Int(value)),
        InputValue::Float(value) => Some(Number::Float(value)).filter(|_| value.is_finite()),
        InputValue::Vector(_) | InputValue::Missing => None,
    };
    let number = match number {
        Some(Number::Float(value)) => from_float(ElementType::F64, value),
        Some(Number::Int(value)) => [ElementType::I64, ElementType::F64]
            .into_iter()
            .filter(|&wider| Widening::is_possible(property.element, wider))
            .find_map(|wider| from_int(wider, value)),
        _ => None,
    };
    let can_hold = |number: &PropertyValue<'_>| {
        number.element().is_some_and(|wider| Widening::is_possible(property.element, wider))
    };
    number.filter(can_hold).map_or(converted, Ok)
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

fn from_int(element: ElementType, value: i64) -> Option<PropertyValue<'static>> {
    let is_exact = |float: f64| float as i128 == i128::from(value);
    Some(match element {
        ElementType::U8 => PropertyValue::U8(value.try_into().ok()?),
        ElementType::U16 => PropertyValue::U16(value.try_into().ok()?),
        ElementType::U32 => PropertyValue::U32(value.try_into().ok()?),
        ElementType::U64 => PropertyValue::U64(value.try_into().ok()?),
        ElementType::I32 => PropertyValue::I32(value.try_into().ok()?),
        ElementType::I64 => PropertyValue::I64(value),
        ElementType::F32 => PropertyValue::F32(Some(value as f32).filter(|&near| is_exact(near.into()))?),
        ElementType::F64 => PropertyValue::F64(Some(value as f64).filter(|&near| is_exact(near))?),
    })
}

fn from_unsigned(element: ElementType, value: u64) -> Option<PropertyValue<'static>> {
    match (element, i64::try_from(value)) {
        (ElementType::U64, _) => Some(PropertyValue::U64(value)),
        (_, Ok(value)) => from_int(element, value),
        (ElementType::F64, _) if (value as f64) as u128 == u128::from(value) => {
            Some(PropertyValue::F64(value as f64))
        }
        _ => None,
    }
}

fn from_float(element: ElementType, value: f64) -> Option<PropertyValue<'static>> {
    match element {
        ElementType::F64 => Some(PropertyValue::F64(value)),
        ElementType::F32 => {
            let near = value as f32;
            (f64::from(near) == value).then_some(PropertyValue::F32(near))
        }
        _ => {
            let whole = value as i64;
            let exact = whole as f64 == value && whole.unsigned_abs() <= 1 << 53;
            exact.then(|| from_int(element, whole)).flatten()
        }
    }
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
            kind: false,
            optional: false,
        }
    }

    #[test]
    fn values_take_the_type_of_their_property_or_are_refused() {
        use ElementType::{F32, F64, I32, I64, U8, U64};
        let check = |element, given, expected: Option<PropertyValue<'static>>| {
            assert_eq!(convert(&property(element, false), given).ok(), expected, "{element:?} {given:?}");
        };
        check(I32, InputValue::Int(7), Some(PropertyValue::I32(7)));
        check(I32, InputValue::Int(1 << 31), None);
        check(I32, InputValue::Float(7.0), Some(PropertyValue::I32(7)));
        check(I32, InputValue::Float(7.5), None);
        check(I64, InputValue::Float(1e300), None);
        check(U8, InputValue::Int(-1), None);
        check(U64, InputValue::Unsigned(u64::MAX), Some(PropertyValue::U64(u64::MAX)));
        check(I64, InputValue::Unsigned(7), Some(PropertyValue::I64(7)));
        check(I64, InputValue::Unsigned(1 << 63), None);
        check(F64, InputValue::Unsigned(u64::MAX), None);
        check(U64, InputValue::Text(b"12"), Some(PropertyValue::U64(12)));
        check(F32, InputValue::Float(0.5), Some(PropertyValue::F32(0.5)));
        check(F32, InputValue::Float(0.1), None);
        check(F32, InputValue::Float(1e300), None);
        check(F32, InputValue::Int((1 << 24) + 1), None);
        check(F64, InputValue::Int(i64::MAX), None);
        check(F64, InputValue::Int(1 << 60), Some(PropertyValue::F64(1_152_921_504_606_846_976.0)));
        check(F64, InputValue::Text(b"many"), None);
        check(F64, InputValue::Text(b"12345678901234567890123"), None);
        check(U64, InputValue::Text(b"18446744073709551615"), Some(PropertyValue::U64(u64::MAX)));
        let told = convert(&property(I32, false), InputValue::Float(2.5)).unwrap_err().to_string();
        assert_eq!(told, "property \"p\" holds 32-bit integers, but the value is 2.5");
        let text = convert(&property(U8, true), InputValue::Text(b"x")).unwrap();
        assert_eq!(text, PropertyValue::Text(b"x"));
        assert!(convert(&property(U8, true), InputValue::Int(3)).is_err());
    }

    #[test]
    fn a_wider_type_is_asked_for_only_if_it_holds_the_value() {
        use ElementType::{F32, F64, I32, I64, U8, U16, U32, U64};
        let check = |element, given, expected: Option<PropertyValue<'static>>| {
            let found = convert_or_widen(&property(element, false), given);
            assert_eq!(found.ok(), expected, "{element:?} {given:?}");
        };
        for element in [U8, U16, I32] {
            check(element, InputValue::Int(1 << 40), Some(PropertyValue::I64(1 << 40)));
            check(element, InputValue::Text(b"0.1"), Some(PropertyValue::F64(0.1)));
        }
        check(U32, InputValue::Int(-1), Some(PropertyValue::I64(-1)));
        check(U64, InputValue::Float(0.5), Some(PropertyValue::F64(0.5)));
        check(U64, InputValue::Int(-1), Some(PropertyValue::F64(-1.0)));
        check(I64, InputValue::Float(0.5), Some(PropertyValue::F64(0.5)));
        check(F32, InputValue::Int((1 << 24) + 1), Some(PropertyValue::F64(16_777_217.0)));
        check(F32, InputValue::Int((1 << 53) + 1), None);
        check(F64, InputValue::Int((1 << 53) + 1), None);
        check(F64, InputValue::Text(b"9007199254740993"), None);
        check(
            F64,
            InputValue::Text(b"9007199254740993e0"),
            Some(PropertyValue::F64(9_007_199_254_740_992.0)),
        );
        let told =
            convert_or_widen(&property(F64, false), InputValue::Int((1 << 53) + 1)).unwrap_err().to_string();
        assert!(told.contains("the integer 9007199254740993 is not exactly"), "{told}");
        assert!(told.contains("like 9.007199254740993e15"), "{told}");
    }
}
