//! Rows of columns that are left out, kept as lines of a CSV file.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_schema::ArrowError;
use arrow_select::filter::filter;
use esker_format::LogicalType;
use esker_layers::ids::ExternalId;

use super::faults::RowFaults;
use super::simple::simplified;
use crate::read::source::{VertexColumn, id_at, push_field};
use crate::read::typed::{logical_of, logical_value};

/// Keeps all of the rows with faults, as lines of a CSV file.
fn keep_rows(given: &[ArrayRef], faults: &mut RowFaults) -> std::result::Result<(), ArrowError> {
    let rows = given.first().map_or(0, Array::len);
    let wanted: BooleanArray = (0..rows).map(|row| Some(faults.contains_key(&row))).collect();
    let mut lines = vec![Vec::new(); faults.len()];
    for (place, column) in given.iter().enumerate() {
        let (logical, column) = (logical_of(column.data_type()), simplified(&filter(column, &wanted)?)?);
        for (row, line) in lines.iter_mut().enumerate() {
            if place > 0 {
                line.push(b',');
            }
            push_value(line, &column, logical.as_ref(), row);
        }
    }
    for ((_, text), line) in faults.values_mut().zip(lines) {
        *text = line.into();
    }
    Ok(())
}

/// Appends a value of a simplified column; nothing for a missing one.
fn push_value(line: &mut Vec<u8>, column: &ArrayRef, logical: Option<&LogicalType>, row: usize) {
    if column.is_null(row) {
        return;
    }
    if let Some(values) = column.as_primitive_opt::<Int64Type>() {
        let value = values.value(row);
        match logical {
            Some(logical) => line.extend(logical_value(logical, value).to_string().bytes()),
            None => line.extend(value.to_string().bytes()),
        }
    } else if let Some(values) = column.as_primitive_opt::<UInt64Type>() {
        line.extend(values.value(row).to_string().bytes());
    } else if let Some(values) = column.as_primitive_opt::<Float64Type>() {
        line.extend(values.value(row).to_string().bytes());
    } else if let Some(texts) = column.as_binary_opt::<i32>() {
        push_field(line, texts.value(row));
    }
}

/// A row of vertices as a line of a CSV file: the id, then the values.
pub fn vertex_row(vertices: &ArrayRef, columns: &[VertexColumn], row: usize) -> Vec<u8> {
    let mut line = Vec::new();
    match id_at(vertices, row) {
        ExternalId::Int(id) => line.extend(id.to_string().bytes()),
        ExternalId::Text(text) => push_field(&mut line, text),
    }
    for column in columns {
        line.push(b',');
        let Ok(place) = column.rows.binary_search(&(row as u32)) else { continue };
        let logical = column.property_type.as_ref().map(|own| &own.logical);
        match column.values.as_boolean_opt() {
            Some(values) => line.extend(values.value(place).to_string().bytes()),
            None => push_value(&mut line, &column.values, logical.filter(|own| !own.is_number()), place),
        }
    }
    line
}

/// Takes the rows with faults out of columns, and keeps all that was given of them, if it is to be kept.
pub(super) fn leave_out(
    faults: &mut RowFaults,
    columns: &mut [ArrayRef],
    given: Option<Vec<ArrayRef>>,
) -> std::result::Result<(), ArrowError> {
    if faults.is_empty() {
        return Ok(());
    }
    given.map_or(Ok(()), |given| keep_rows(&given, faults))?;
    let rows = columns.first().map_or(0, arrow_array::Array::len);
    let keep: BooleanArray = (0..rows).map(|row| Some(!faults.contains_key(&row))).collect();
    for column in columns {
        *column = filter(column, &keep)?;
    }
    Ok(())
}
