//! Arrow columns of any type of numbers or texts as the few types that an import takes.

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, DecimalType, Float16Type, Float64Type,
    Int16Type, Int32Type, Int64Type, RunEndIndexType, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BinaryArray, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::take;

/// The same values as one of the types that an import takes: `Int64`, `UInt64`, `Float64` or `Binary`. Times
/// become the integers that they are stored as.
///
/// # Errors
/// If the column holds neither numbers nor texts, or its texts exceed 2 GiB.
pub fn simplified(array: &ArrayRef) -> std::result::Result<ArrayRef, ArrowError> {
    use DataType as T;
    Ok(match array.data_type() {
        T::Int64 | T::UInt64 | T::Float64 | T::Binary => Arc::clone(array),
        T::Int8 => mapped::<i8, Int64Type>(array, i64::from),
        T::Int16 => mapped::<i16, Int64Type>(array, i64::from),
        T::Int32 | T::Date32 | T::Time32(_) => mapped::<i32, Int64Type>(array, i64::from),
        T::UInt8 => mapped::<u8, Int64Type>(array, i64::from),
        T::UInt16 => mapped::<u16, Int64Type>(array, i64::from),
        T::UInt32 => mapped::<u32, Int64Type>(array, i64::from),
        T::Date64 => mapped::<i64, Int64Type>(array, |ms| ms.div_euclid(86_400_000)),
        T::Time64(_) | T::Timestamp(..) | T::Duration(_) => same_bits::<Int64Type>(array),
        T::Float16 => mapped::<Half, Float64Type>(array, Half::to_f64),
        T::Float32 => mapped::<f32, Float64Type>(array, f64::from),
        T::Decimal32(_, scale) => decimals::<Decimal32Type>(array, *scale, f64::from),
        T::Decimal64(_, scale) => decimals::<Decimal64Type>(array, *scale, |v| v as f64),
        T::Decimal128(_, scale) => decimals::<Decimal128Type>(array, *scale, |v| v as f64),
        T::Boolean => {
            let values = array.as_boolean().values().iter().map(i64::from).collect::<Vec<_>>();
            Arc::new(PrimitiveArray::<Int64Type>::new(values.into(), array.nulls().cloned()))
        }
        T::Utf8 => Arc::new(BinaryArray::from(array.as_string::<i32>().clone())),
        T::LargeUtf8 => texts(array, array.as_string::<i64>().iter().map(|text| text.map(str::as_bytes)))?,
        T::Utf8View => texts(array, array.as_string_view().iter().map(|text| text.map(str::as_bytes)))?,
        T::LargeBinary => texts(array, array.as_binary::<i64>().iter())?,
        T::BinaryView => texts(array, array.as_binary_view().iter())?,
        T::FixedSizeBinary(_) => texts(array, array.as_fixed_size_binary().iter())?,
        T::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            simplified(&take(&simplified(dictionary.values())?, dictionary.keys(), None)?)?
        }
        T::RunEndEncoded(ends, _) => match ends.data_type() {
            T::Int16 => run_values::<Int16Type>(array)?,
            T::Int32 => run_values::<Int32Type>(array)?,
            _ => run_values::<Int64Type>(array)?,
        },
        other => return Err(ArrowError::NotYetImplemented(format!("{other} is no type of a property"))),
    })
}

fn run_values<E: RunEndIndexType>(array: &ArrayRef) -> std::result::Result<ArrayRef, ArrowError> {
    let runs = array.as_run::<E>();
    let places = (0..runs.len()).map(|row| runs.get_physical_index(row) as u64);
    take(&simplified(runs.values())?, &PrimitiveArray::<UInt64Type>::from_iter_values(places), None)
}

/// The values of a primitive array as they lie in memory.
fn native<T: ArrowNativeType>(array: &ArrayRef) -> ScalarBuffer<T> {
    let data = array.to_data();
    ScalarBuffer::new(data.buffers()[0].clone(), data.offset(), data.len())
}

pub(super) fn same_bits<To: ArrowPrimitiveType>(array: &ArrayRef) -> ArrayRef {
    Arc::new(PrimitiveArray::<To>::new(native(array), array.nulls().cloned()))
}

pub(super) fn mapped<T: ArrowNativeType, To: ArrowPrimitiveType>(
    array: &ArrayRef,
    value: impl Fn(T) -> To::Native,
) -> ArrayRef {
    let values: Vec<To::Native> = native(array).iter().map(|&v| value(v)).collect();
    Arc::new(PrimitiveArray::<To>::new(values.into(), array.nulls().cloned()))
}

/// Decimals of scale 0 as integers if they fit, others as the nearest floats.
fn decimals<T: DecimalType>(array: &ArrayRef, scale: i8, float: impl Fn(T::Native) -> f64) -> ArrayRef {
    if scale == 0 {
        let integers = native::<T::Native>(array);
        let integers: Option<Vec<i64>> = integers.iter().map(|v| v.to_i64()).collect();
        if let Some(integers) = integers {
            return Arc::new(PrimitiveArray::<Int64Type>::new(integers.into(), array.nulls().cloned()));
        }
    }
    let divisor = 10_f64.powi(scale.into());
    mapped::<T::Native, Float64Type>(array, |v| float(v) / divisor)
}

fn texts<'a>(
    array: &ArrayRef,
    texts: impl Iterator<Item = Option<&'a [u8]>> + Clone,
) -> std::result::Result<ArrayRef, ArrowError> {
    let bytes: usize = texts.clone().map(|text| text.map_or(0, <[u8]>::len)).sum();
    if i32::try_from(bytes).is_err() {
        return Err(ArrowError::OffsetOverflowError(bytes));
    }
    let mut column = BinaryBuilder::with_capacity(array.len(), bytes);
    texts.for_each(|text| column.append_option(text));
    Ok(Arc::new(column.finish()))
}

type Half = <Float16Type as ArrowPrimitiveType>::Native;
