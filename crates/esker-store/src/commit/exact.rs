//! Numbers in other types, without a change of their values.

use esker_format::{ElementType, PropertyRecord, Widening};
use esker_layers::property::PropertyValue;

/// The narrowest type to which a type can be widened so that it holds a number.
pub(crate) fn wider_for(property: &PropertyRecord, value: PropertyValue<'_>) -> Option<ElementType> {
    [ElementType::I64, ElementType::F64].into_iter().find(|&to| {
        let fits = || value.is_number() && exact_number(to, value).is_some();
        property.is_number() && Widening::is_possible(property.element, to) && fits()
    })
}

/// The bits of a value that is no text in a property, if the type of the property represents it exactly.
pub(crate) fn exact_bits(property: &PropertyRecord, value: PropertyValue<'_>) -> Option<u64> {
    if property.is_number() && value.is_number() {
        return exact_number(property.element, value).filter(|&bits| !property.is_missing(bits));
    }
    let bits = value.bits().filter(|_| value.element() == Some(property.element))?;
    (value.is_number() || PropertyValue::from_stored(property, bits) == value).then_some(bits)
}

/// The bits of a number converted to a type, if the type represents it exactly.
pub(crate) fn exact_number(element: ElementType, value: PropertyValue<'_>) -> Option<u64> {
    if value.element() == Some(element) {
        return value.bits();
    }
    // The shortest text of a float of 32 bits is another one of 64.
    if let (ElementType::F64, PropertyValue::F32(x)) = (element, value) {
        return Some(f64::from(x).to_bits());
    }
    PropertyValue::parse(element, &value.to_string())
        .filter(|_| !matches!(value, PropertyValue::Text(_)))
        .filter(|converted| {
            // A float must keep its value: 0.1 as f32 is another number than 0.1 as f64.
            let wide = |value: &PropertyValue<'_>| match value {
                PropertyValue::F32(x) => Some(f64::from(*x)),
                PropertyValue::F64(x) => Some(*x),
                other => other.to_string().parse::<f64>().ok(),
            };
            let is_float = |element| matches!(element, ElementType::F32 | ElementType::F64);
            !is_float(element) || wide(converted) == wide(&value) && exact_integer(&value)
        })
        .and_then(|converted| converted.bits())
}

/// Whether a float represents the integer exactly.
fn exact_integer(value: &PropertyValue<'_>) -> bool {
    match value {
        PropertyValue::I64(x) => x.unsigned_abs() <= 1 << 53,
        PropertyValue::U64(x) => *x <= 1 << 53,
        _ => true,
    }
}
