//! Properties of vertices that an input of edges gives.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use esker_import::read::source::VertexColumn;
use esker_store::format::{ElementType, LogicalType, PropertyType};
use esker_store::ids::ExternalId;
use esker_store::{Batch, Result};

use super::definitions::Definitions;
use super::target::Target;
use super::value::{InputValue, convert_or_widen};

/// The vertex properties that an input gives, those that it adds included.
pub(super) struct GivenProperties<'a>(Definitions<'a>);

impl<'a> GivenProperties<'a> {
    pub(super) fn new(target: &'a Target) -> Self {
        Self(Definitions::new(target))
    }

    /// Adds a vertex with the values that columns have at `row`.
    ///
    /// # Errors
    /// If a value is not of the type of its property.
    pub(super) fn add(
        &mut self,
        batch: &mut Batch,
        vertex: ExternalId<'_>,
        columns: &[VertexColumn],
        row: usize,
    ) -> Result<()> {
        batch.add_vertex(vertex)?;
        for column in columns {
            if column.values.is_null(row) {
                continue;
            }
            let property = self.0.define(batch, &column.name, type_of(column));
            let value = convert_or_widen(&property, value_at(column, row))?;
            batch.set_vertex(vertex, &property.name, Some(value))?;
        }
        Ok(())
    }
}

/// The type of a new property with the values of a column.
fn type_of(column: &VertexColumn) -> PropertyType {
    let values = &column.values;
    match &column.property_type {
        Some(given) => given.clone(),
        None if values.as_primitive_opt::<Int64Type>().is_some() => ElementType::I64.into(),
        None if values.as_primitive_opt::<UInt64Type>().is_some() => ElementType::U64.into(),
        None if values.as_primitive_opt::<Float64Type>().is_some() => ElementType::F64.into(),
        None if values.as_boolean_opt().is_some() => LogicalType::Boolean.into(),
        None => PropertyType::text(),
    }
}

/// The value at `row` of a column, which is not null.
fn value_at(column: &VertexColumn, row: usize) -> InputValue<'_> {
    match column.values.as_boolean_opt() {
        Some(values) => InputValue::Int(i64::from(values.value(row))),
        None => InputValue::of(&column.values, row),
    }
}
