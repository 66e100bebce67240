//! Values of two databases, compared.

use esker_store::property::PropertyValue;

/// A value whatever the width of its type: an input may hold numbers that need a wider one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Comparable<'a> {
    Missing,
    Whole(i128),
    /// The bits of a number with a fraction, or of one that no integer of 128 bits holds.
    Fraction(u64),
    Text(&'a [u8]),
}

impl<'a> Comparable<'a> {
    pub(super) fn of(value: PropertyValue<'a>) -> Self {
        if value.is_missing() {
            return Self::Missing;
        }
        match value {
            PropertyValue::U8(number) => Self::Whole(number.into()),
            PropertyValue::U16(number) => Self::Whole(number.into()),
            PropertyValue::U32(number) => Self::Whole(number.into()),
            PropertyValue::U64(number) => Self::Whole(number.into()),
            PropertyValue::I32(number) => Self::Whole(number.into()),
            PropertyValue::I64(number) => Self::Whole(number.into()),
            PropertyValue::F32(number) => Self::of_float(number.into()),
            PropertyValue::F64(number) => Self::of_float(number),
            PropertyValue::Text(text) => Self::Text(text),
            PropertyValue::Vector(vector) => Self::Text(vector.bytes()),
            PropertyValue::Boolean(value) => Self::Whole(value.into()),
            PropertyValue::Date(days) => Self::Whole(days.into()),
            PropertyValue::Timestamp(time) => Self::Whole(time.count.into()),
            PropertyValue::EdgeId(id) => Self::Whole(id.bits().into()),
            PropertyValue::Missing => Self::Missing,
        }
    }

    fn of_float(number: f64) -> Self {
        // Below, all integers among floats are integers of 128 bits.
        let is_whole = number.fract() == 0.0 && number.abs() < 2_f64.powi(126);
        if is_whole { Self::Whole(number as i128) } else { Self::Fraction(number.to_bits()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_of_different_types_are_equal() {
        let of = |value: PropertyValue<'static>| Comparable::of(value);
        assert_eq!(of(PropertyValue::I32(5)), of(PropertyValue::F64(5.0)));
        assert_eq!(of(PropertyValue::F32(0.5)), of(PropertyValue::F64(0.5)));
        assert_eq!(of(PropertyValue::F64(-0.0)), of(PropertyValue::U8(0)));
        assert_eq!(of(PropertyValue::F64(f64::NAN)), Comparable::Missing);
        assert_ne!(of(PropertyValue::F32(0.1)), of(PropertyValue::F64(0.1)));
        assert_ne!(of(PropertyValue::F64(f64::INFINITY)), of(PropertyValue::F64(f64::NEG_INFINITY)));
        assert_ne!(of(PropertyValue::Text(b"1")), of(PropertyValue::U8(1)));
    }
}
