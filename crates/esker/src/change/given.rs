//! Properties of vertices that an input of edges gives.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use esker_import::export::push_f64;
use esker_import::read::source::VertexColumn;
use esker_store::format::{ElementType, LogicalType, PropertyType};
use esker_store::ids::ExternalId;
use esker_store::{Batch, Result};

use super::definitions::Definitions;
use super::target::Target;
use super::value::{InputValue, convert_or_widen};

/// The vertex properties that an input gives, those that it adds included.
pub(super) struct GivenProperties<'a> {
    definitions: Definitions<'a>,
    /// Those that are texts because their first values are of several kinds.
    mixed: HashSet<Arc<str>>,
}

impl<'a> GivenProperties<'a> {
    pub(super) fn new(target: &'a Target) -> Self {
        Self { definitions: Definitions::new(target), mixed: HashSet::new() }
    }

    /// Adds a vertex with the values that columns have at `row`. A property that is new has a type that holds
    /// all values of the columns: those of numbers and other kinds are texts, as in an import.
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
            let Ok(place) = column.rows.binary_search(&(row as u32)) else { continue };
            if self.definitions.find(&column.name).is_none() {
                let property_type = united(columns, &column.name);
                if property_type.logical.is_text() {
                    self.mixed.insert(Arc::clone(&column.name));
                }
                self.definitions.define(batch, &column.name, property_type);
            }
            let property = self.definitions.define(batch, &column.name, type_of(column));
            let text = match self.mixed.contains(&column.name) {
                true => text_at(column, place),
                false => None,
            };
            let given = text
                .as_ref()
                .map_or_else(|| value_at(column, place), |text| InputValue::Text(text.as_bytes()));
            batch.set_vertex(vertex, &property.name, Some(convert_or_widen(&property, given)?))?;
        }
        Ok(())
    }
}

/// The type of a new property with the values of all columns of a name.
fn united(columns: &[VertexColumn], name: &str) -> PropertyType {
    let own = columns.iter().filter(|column| *column.name == *name && !column.is_empty());
    let types: Vec<PropertyType> = own.map(type_of).collect();
    let floats = types.iter().find(|own| own.logical.is_number() && own.element == ElementType::F64);
    match types.as_slice() {
        [first, rest @ ..] if rest.iter().all(|own| own == first) => first.clone(),
        // The commit makes a type wider for integers that it does not hold.
        [first, ..] if types.iter().all(|own| own.logical.is_number()) => floats.unwrap_or(first).clone(),
        _ => PropertyType::text(),
    }
}

/// The value at a place as a text, if it is none.
fn text_at(column: &VertexColumn, place: usize) -> Option<String> {
    let values = &column.values;
    if let Some(values) = values.as_boolean_opt() {
        return Some(values.value(place).to_string());
    }
    match InputValue::of(values, place) {
        InputValue::Int(value) => Some(value.to_string()),
        InputValue::Unsigned(value) => Some(value.to_string()),
        InputValue::Float(value) => {
            let mut text = Vec::new();
            push_f64(&mut text, value);
            String::from_utf8(text).ok()
        }
        InputValue::Text(_) | InputValue::Vector(_) | InputValue::Missing => None,
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

/// The value at a place of a column.
fn value_at(column: &VertexColumn, place: usize) -> InputValue<'_> {
    match column.values.as_boolean_opt() {
        Some(values) => InputValue::Int(i64::from(values.value(place))),
        None => InputValue::of(&column.values, place),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, BinaryArray, Float64Array, Int64Array};

    use super::*;

    fn column(name: &str, rows: &[u32], values: ArrayRef) -> VertexColumn {
        VertexColumn { name: name.into(), property_type: None, rows: rows.to_vec(), values }
    }

    #[test]
    fn values_of_several_kinds_have_one_type() {
        let int = || column("x", &[0], Arc::new(Int64Array::from(vec![1])));
        let float = || column("x", &[1], Arc::new(Float64Array::from(vec![1.5])));
        let text = || column("x", &[1], Arc::new(BinaryArray::from_vec(vec![b"a"])));
        let empty = || column("x", &[], Arc::new(Int64Array::from(Vec::<i64>::new())));
        let other = || column("y", &[0, 1], Arc::new(Float64Array::from(vec![2.5, 2.5])));
        let united = |columns: &[VertexColumn]| united(columns, "x");
        assert_eq!(united(&[int(), other()]), ElementType::I64.into());
        assert_eq!(united(&[int(), float()]), ElementType::F64.into());
        assert_eq!(united(&[float(), int()]), ElementType::F64.into());
        assert_eq!(united(&[int(), text()]), PropertyType::text());
        assert_eq!(united(&[text(), empty()]), PropertyType::text());
        assert_eq!(text_at(&int(), 0).as_deref(), Some("1"));
        assert_eq!(text_at(&float(), 0).as_deref(), Some("1.5"));
        assert_eq!(text_at(&text(), 0), None);
    }
}
