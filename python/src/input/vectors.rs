//! Vectors of fixed length from Python: the rows of a two-dimensional array of numbers.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::DataType;
use esker::graph::counted;
use esker::store::format::{ElementType, LogicalType, PropertyType, VECTOR_LEN_MAX};
use esker::store::property::VectorValue;

use crate::failure::{PyOutcome, invalid, mistyped};
use crate::input::column::InputColumn;

/// The rows of an array.
pub(crate) struct InputVectors {
    what: String,
    numbers: ArrayRef,
    len: usize,
}

impl InputVectors {
    /// `count` rows of `len` numbers each, one after another.
    pub(crate) fn of(numbers: &InputColumn, len: usize, count: usize) -> PyOutcome<Self> {
        let what = numbers.what().to_owned();
        let is_plain = |chunk: &ArrayRef| {
            matches!(chunk.data_type(), DataType::Float32 | DataType::Float64) && chunk.null_count() == 0
        };
        let chunk = match numbers.chunks.as_slice() {
            [one] if is_plain(one) => one,
            _ => return mistyped(format!("{what}: expected a contiguous array of floats")),
        };
        if !(1..=VECTOR_LEN_MAX as usize).contains(&len) {
            return invalid(format!("{what}: a vector has 1 to {VECTOR_LEN_MAX} numbers, not {len}"));
        }
        if len.checked_mul(count) != Some(chunk.len()) {
            let rows = counted(count, "vertex", "vertices");
            return invalid(format!("{what} has {} numbers, not {len} for each of {rows}", chunk.len()));
        }
        Ok(Self { what, numbers: chunk.clone(), len })
    }

    /// Whether the numbers are of 64 bits.
    pub(crate) fn is_wide(&self) -> bool {
        self.numbers.as_primitive_opt::<Float64Type>().is_some()
    }

    /// The type of a property that holds them.
    pub(crate) fn property_type(&self) -> PropertyType {
        let element = if self.is_wide() { ElementType::F64 } else { ElementType::F32 };
        PropertyType { element, logical: LogicalType::Vector { len: self.len as u32 } }
    }

    /// A row; `None` if all of its numbers are NaN.
    pub(crate) fn get(&self, row: usize) -> PyOutcome<Option<VectorValue<'_>>> {
        let range = row * self.len..(row + 1) * self.len;
        let is_wide = self.is_wide();
        let bytes = match is_wide {
            true => self.numbers.as_primitive::<Float64Type>().values().inner().as_slice(),
            false => self.numbers.as_primitive::<Float32Type>().values().inner().as_slice(),
        };
        let width = if is_wide { 8 } else { 4 };
        let vector = VectorValue::new(&bytes[width * range.start..width * range.end], is_wide);
        if vector.numbers().all(f64::is_finite) {
            return Ok(Some(vector));
        }
        if vector.numbers().all(f64::is_nan) {
            return Ok(None);
        }
        invalid(format!("{}[{row}] has a number that is not finite", self.what))
    }
}
