//! Lists of numbers as vectors of a fixed length, in the form that texts of tables have.

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType};
use esker_format::value::decimal::shown;
use esker_format::{ElementType, LogicalType, PropertyType, Result, VECTOR_LEN_MAX};

use super::contain::damaged;
use super::faults::RowFaults;
use super::runs::BatchOrigin;
use super::simple::simplified;

/// The type of the numbers of lists of floats; `None` if a column holds something else.
fn element(data_type: &DataType) -> Option<ElementType> {
    use DataType as T;
    let (T::List(item) | T::LargeList(item) | T::FixedSizeList(item, _)) = data_type else { return None };
    match item.data_type() {
        T::Float16 | T::Float32 => Some(ElementType::F32),
        T::Float64 => Some(ElementType::F64),
        _ => None,
    }
}

/// Whether a column holds lists of floats.
pub(super) fn are_vectors(data_type: &DataType) -> bool {
    element(data_type).is_some()
}

/// The type of vectors that a column of lists says; `None` if its lists may be of any length.
pub(super) fn vector_type(data_type: &DataType) -> Option<PropertyType> {
    match data_type {
        DataType::FixedSizeList(_, len) => typed(element(data_type)?, (*len).try_into().ok()?),
        _ => None,
    }
}

/// The type of the vectors of a column, by its first list; `None` if it has none that can be a vector.
pub(super) fn first_vector(column: &ArrayRef) -> Option<PropertyType> {
    let own = element(column.data_type())?;
    let first = (0..column.len()).find_map(|row| list_at(column, row))?;
    typed(own, first.len().try_into().ok()?)
}

fn typed(element: ElementType, len: u32) -> Option<PropertyType> {
    let logical = LogicalType::Vector { len };
    (1..=VECTOR_LEN_MAX).contains(&len).then_some(PropertyType { element, logical })
}

/// The list of a row; `None` if it has none.
fn list_at(column: &ArrayRef, row: usize) -> Option<ArrayRef> {
    if column.is_null(row) {
        return None;
    }
    Some(match column.data_type() {
        DataType::List(_) => column.as_list::<i32>().value(row),
        DataType::LargeList(_) => column.as_list::<i64>().value(row),
        _ => column.as_fixed_size_list().value(row),
    })
}

/// A row that has no vector of the type, why not, and its list.
struct NoVector {
    row: usize,
    reason: String,
    list: String,
}

/// Lists as texts such as `[0.5,-1]`, and the rows whose list is no vector of a type; `None` if the column
/// holds something else.
///
/// # Errors
/// If the texts exceed 2 GiB.
fn vectors(
    column: &ArrayRef,
    wanted: Option<&PropertyType>,
) -> std::result::Result<Option<(ArrayRef, Vec<NoVector>)>, ArrowError> {
    let Some(element) = element(column.data_type()) else { return Ok(None) };
    let (mut texts, mut faults, mut bytes) = (BinaryBuilder::new(), Vec::new(), 0);
    for row in 0..column.len() {
        let Some(list) = list_at(column, row) else {
            texts.append_null();
            continue;
        };
        let numbers = simplified(&list)?;
        let numbers = numbers.as_primitive::<Float64Type>();
        let shown: Vec<String> = numbers.iter().map(|number| written(number, element)).collect();
        let text = format!("[{}]", shown.join(","));
        bytes += text.len();
        if i32::try_from(bytes).is_err() {
            return Err(ArrowError::OffsetOverflowError(bytes));
        }
        if let Some(reason) = no_vector(numbers.iter(), wanted) {
            faults.push(NoVector { row, reason, list: text.clone() });
        }
        texts.append_value(text);
    }
    Ok(Some((Arc::new(texts.finish()), faults)))
}

/// Writes the lists of columns of properties as vectors, and finds the rows of those that are none.
///
/// # Errors
/// If the texts of a column exceed 2 GiB.
pub(super) fn lists_as_vectors(
    origin: &BatchOrigin<'_>,
    properties: &[String],
    types: &[Option<PropertyType>],
    columns: &mut [ArrayRef],
    faults: &mut RowFaults,
) -> Result<()> {
    for (place, column) in columns.iter_mut().enumerate() {
        let (name, wanted) = (&properties[place], types[place].as_ref());
        let found =
            vectors(column, wanted).map_err(|e| damaged(origin.path, format!("column {name:?}: {e}")))?;
        let Some((texts, wrong)) = found else { continue };
        *column = texts;
        let fault = |one: NoVector| {
            (
                one.row,
                (format!("the column {name:?} {}", one.reason).into(), shown(one.list.as_bytes()).into()),
            )
        };
        faults.extend(wrong.into_iter().map(fault));
    }
    Ok(())
}

/// A number of a vector, as short as it is exact.
fn written(number: Option<f64>, element: ElementType) -> String {
    match number {
        None => "null".to_owned(),
        Some(number) if element == ElementType::F32 => format!("{:?}", number as f32),
        Some(number) => format!("{number:?}"),
    }
}

/// Why a list is no vector of a type.
fn no_vector(
    numbers: impl ExactSizeIterator<Item = Option<f64>>,
    wanted: Option<&PropertyType>,
) -> Option<String> {
    let Some(PropertyType { logical: LogicalType::Vector { len }, .. }) = wanted else { return None };
    let found = numbers.len();
    if found != *len as usize {
        return Some(format!(
            "has a list of {found} here, but vectors of {len} elsewhere: give all the same length"
        ));
    }
    let mut numbers = numbers;
    numbers
        .any(|number| number.is_none_or(|number| !number.is_finite()))
        .then(|| "has a vector here with a number that is missing or not finite".to_owned())
}
