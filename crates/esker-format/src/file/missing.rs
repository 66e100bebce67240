//! The numbers that stand for missing ones.

use super::header::ElementType;

/// The bits, widened to 64, that stand for a missing number of a type; `None` if it has none: narrow
/// integers.
pub(crate) fn missing_number(element: ElementType) -> Option<u64> {
    match element {
        ElementType::F32 => Some(u64::from(f32::NAN.to_bits())),
        ElementType::F64 => Some(f64::NAN.to_bits()),
        ElementType::I64 => Some(i64::MIN.cast_unsigned()),
        ElementType::U64 => Some(u64::MAX),
        ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::I32 => None,
    }
}
