//! Chunks of columns: what they hold, and how long their texts are.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::DataType;
use esker::import::binary::{LongText, simplified, without_long_texts};
use esker::store::format::value::decimal::TOO_LONG;

use crate::failure::{PyOutcome, invalid};

/// Bytes of the texts of a column that are copied at a time.
pub(crate) const BLOCK_BYTES: usize = 1 << 21;

/// The type of the elements of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnType {
    Integers,
    Floats,
    Texts,
}

/// Decimals as integers if they have no digits behind the point, else as the nearest floats; other values as
/// they are.
pub(crate) fn without_decimals(chunk: ArrayRef, what: &str) -> PyOutcome<ArrayRef> {
    use DataType::{Decimal32, Decimal64, Decimal128};
    let (Decimal32(_, scale) | Decimal64(_, scale) | Decimal128(_, scale)) = *chunk.data_type() else {
        return Ok(chunk);
    };
    let numbers = simplified(&chunk)?;
    if scale == 0 && *numbers.data_type() != DataType::Int64 {
        return invalid(format!(
            "{what}: a decimal without digits behind the point exceeds 64 bits; convert the column to floats if it may be rounded"
        ));
    }
    Ok(numbers)
}

/// Whether an element exceeds 2^63 - 1.
pub(crate) fn is_wide(piece: &ArrayRef) -> bool {
    let unsigned = piece.as_primitive_opt::<UInt64Type>();
    unsigned.is_some_and(|values| values.iter().flatten().any(|value| value > i64::MAX as u64))
}

/// What the values of an Arrow type are; `None` for those that no column holds.
pub(crate) fn column_type(data_type: &DataType) -> Option<ColumnType> {
    use DataType::{
        Boolean, Date32, Date64, Dictionary, Float16, Float32, Float64, LargeUtf8, Null, RunEndEncoded,
        Timestamp, Utf8, Utf8View,
    };
    match data_type {
        _ if data_type.is_integer() => Some(ColumnType::Integers),
        // A column of nulls has no type: it is empty, or all values are missing.
        Boolean | Null | Date32 | Date64 | Timestamp(..) => Some(ColumnType::Integers),
        Float16 | Float32 | Float64 => Some(ColumnType::Floats),
        Utf8 | LargeUtf8 | Utf8View => Some(ColumnType::Texts),
        Dictionary(_, values) => column_type(values),
        RunEndEncoded(_, values) => column_type(values.data_type()),
        _ => None,
    }
}

/// Fails if a text of a chunk, which begins with the element `start`, is longer than an id or a value may be.
pub(crate) fn expect_short(what: &str, start: usize, chunk: &ArrayRef) -> PyOutcome<()> {
    let long = without_long_texts(chunk)?.and_then(|(_, long)| long.into_iter().next());
    match long {
        Some(LongText { row, .. }) => invalid(format!("{what}[{}] {TOO_LONG}", start + row)),
        None => Ok(()),
    }
}
