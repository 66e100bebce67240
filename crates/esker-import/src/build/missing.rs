//! Edges without a value of a property, on their way through an import.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BinaryArray, PrimitiveArray};
use arrow_buffer::NullBuffer;
use esker_format::{Error, MISSING_TEXT, Result};

/// The places of missing values in a block: a bit each.
pub(crate) fn missing_places(nulls: &NullBuffer) -> Vec<u64> {
    let mut bits = vec![0_u64; nulls.len().div_ceil(64)];
    (0..nulls.len()).filter(|&row| nulls.is_null(row)).for_each(|row| bits[row / 64] |= 1 << (row % 64));
    bits
}

/// Whether a text is the one that stands for a missing one.
pub(crate) fn has_reserved(texts: &BinaryArray) -> bool {
    // One look at all bytes finds that none is, as is usual.
    let may_have = memchr::memchr(MISSING_TEXT[0], texts.value_data()).is_some();
    may_have && texts.iter().flatten().any(|text| text == MISSING_TEXT)
}

/// A column of numbers with zeros in place of nulls: what lies beneath a null says nothing, and 0 is a number
/// of every type.
pub(crate) fn with_zeros(column: &ArrayRef) -> Result<ArrayRef> {
    fn all<T: ArrowPrimitiveType>(values: &PrimitiveArray<T>) -> ArrayRef {
        let zeros = values.iter().map(Option::unwrap_or_default);
        Arc::new(PrimitiveArray::<T>::from_iter_values(zeros))
    }
    if let Some(values) = column.as_primitive_opt::<Int64Type>() {
        return Ok(all(values));
    }
    if let Some(values) = column.as_primitive_opt::<UInt64Type>() {
        return Ok(all(values));
    }
    match column.as_primitive_opt::<Float64Type>() {
        Some(values) => Ok(all(values)),
        None => Err(Error::invalid(format!("a reader gave values of type {}", column.data_type()))),
    }
}
