//! Columns of values as columns of a batch.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BinaryArray};
use arrow_schema::DataType;

use super::simple::{mapped, same_bits};
use crate::read::source::IdKind;

/// The values as ids, which they were found fit to be.
pub(super) fn as_ids(column: &ArrayRef, ids: IdKind) -> ArrayRef {
    match column.data_type() {
        DataType::Binary => Arc::clone(column),
        _ if ids == IdKind::Text => Arc::new(written(column)),
        DataType::Float64 => mapped::<f64, UInt64Type>(column, |id| id as u64),
        _ => same_bits::<UInt64Type>(column),
    }
}

/// The values as those of a property.
pub(super) fn as_values(column: &ArrayRef, is_wide: bool) -> ArrayRef {
    match column.data_type() {
        DataType::UInt64 if !is_wide => same_bits::<Int64Type>(column),
        _ => Arc::clone(column),
    }
}

/// Numbers as decimal texts.
fn written(column: &ArrayRef) -> BinaryArray {
    fn all<T: ArrowPrimitiveType<Native: ToString>>(column: &ArrayRef) -> BinaryArray {
        let values = column.as_primitive::<T>().values().iter();
        BinaryArray::from_iter_values(values.map(|value| value.to_string().into_bytes()))
    }
    match column.data_type() {
        DataType::UInt64 => all::<UInt64Type>(column),
        // Without the sign of a zero.
        DataType::Float64 => all::<Float64Type>(&mapped::<f64, Float64Type>(column, |value| value + 0.0)),
        _ => all::<Int64Type>(column),
    }
}
