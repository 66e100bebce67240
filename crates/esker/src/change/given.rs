//! Properties of vertices that an input of edges gives.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array};
use esker_import::export::push_f64;
use esker_import::read::source::{EdgeBatch, VertexColumn, text_column};
use esker_import::read::typed::cast;
use esker_store::format::{ElementType, LogicalType, PropertyRecord, PropertyType};
use esker_store::ids::ExternalId;
use esker_store::{Batch, Error, Result};

use super::definitions::Definitions;
use super::target::Target;
use super::value::{InputValue, convert_or_widen};

/// The vertex properties that an input gives, those that it adds included.
pub(super) struct GivenProperties<'a>(Definitions<'a>);

impl<'a> GivenProperties<'a> {
    pub(super) fn new(target: &'a Target) -> Self {
        Self(Definitions::new(target))
    }

    /// Adds the vertex of a batch with this index, and the values that columns have there. A property that is
    /// new has a type that holds all values of the columns: those of numbers and other kinds are texts, as in
    /// an import.
    ///
    /// # Errors
    /// If a value is not of the type of its property.
    pub(super) fn add(
        &mut self,
        batch: &mut Batch,
        vertex: ExternalId<'_>,
        rows: &EdgeBatch,
        index: usize,
    ) -> Result<()> {
        batch.add_vertex(vertex)?;
        self.set(batch, vertex, &rows.vertex_values, index).map_err(|error| at_vertex(rows, index, error))
    }

    fn set(
        &mut self,
        batch: &mut Batch,
        vertex: ExternalId<'_>,
        columns: &[VertexColumn],
        row: usize,
    ) -> Result<()> {
        for column in columns {
            let Ok(place) = column.rows.binary_search(&(row as u32)) else { continue };
            if self.0.find(&column.name).is_none() {
                self.0.define(batch, &column.name, united(columns, &column.name));
            }
            let property = self.0.define(batch, &column.name, type_of(column));
            let given = GivenValue::of(column, place, &property)?;
            batch.set_vertex(vertex, &property.name, Some(convert_or_widen(&property, given.input())?))?;
        }
        Ok(())
    }
}

/// The error for the values of a vertex, with the place where it stands in the input.
fn at_vertex(rows: &EdgeBatch, index: usize, error: Error) -> Error {
    let Some(places) = &rows.vertex_places else { return error };
    Error::Input {
        path: places.path.to_path_buf(),
        line: places.lines.get(index).copied(),
        text: String::new(),
        reason: error.message(),
    }
}

/// A value of a column, as one of a property.
pub(super) enum GivenValue<'c> {
    /// It stands in the column.
    Own(InputValue<'c>),
    /// The only value of this column.
    Converted(ArrayRef),
}

impl<'c> GivenValue<'c> {
    /// The value at a place of a column. Where the column holds something else than the property, such as
    /// dates where it holds times, the value is converted.
    ///
    /// # Errors
    /// If nothing of the property's type stands for it.
    pub(super) fn of(column: &'c VertexColumn, place: usize, property: &PropertyRecord) -> Result<Self> {
        let own = own_logical(column);
        let is_text = column.values.as_binary_opt::<i32>().is_some();
        if is_text || own.as_ref().unwrap_or(&LogicalType::Number) == &property.logical {
            return Ok(Self::Own(value_at(column, place)));
        }
        let value = match value_at(column, place) {
            InputValue::Float(value) if property.is_text() => {
                let mut text = Vec::new();
                push_f64(&mut text, value);
                return Ok(Self::Converted(text_column([text])));
            }
            InputValue::Int(value) => Arc::new(Int64Array::from(vec![value])),
            _ => column.values.slice(place, 1),
        };
        let mut refused = None;
        let converted = cast(&value, own.as_ref(), &property.property_type(), |_, reason, text| {
            refused = Some(format!("property {:?}: {text:?} {reason}", property.name));
        });
        refused.map_or(Ok(Self::Converted(converted)), |reason| Err(Error::invalid(reason)))
    }

    pub(super) fn input(&self) -> InputValue<'_> {
        match self {
            Self::Own(value) => *value,
            Self::Converted(column) => InputValue::of(column, 0),
        }
    }
}

/// What the values of a column are, if more than numbers or texts.
fn own_logical(column: &VertexColumn) -> Option<LogicalType> {
    match &column.property_type {
        Some(own) if own.logical.is_number() || own.logical.is_text() => None,
        Some(own) => Some(own.logical.clone()),
        None => column.values.as_boolean_opt().map(|_| LogicalType::Boolean),
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

/// The type of a new property with the values of a column.
pub(super) fn type_of(column: &VertexColumn) -> PropertyType {
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
    use arrow_array::{BinaryArray, Float64Array};

    use super::*;

    fn column(name: &str, rows: &[u32], values: ArrayRef) -> VertexColumn {
        VertexColumn { name: name.into(), property_type: None, rows: rows.to_vec(), values }
    }

    #[test]
    fn values_are_converted_to_what_a_property_holds_or_refused() {
        let days = VertexColumn {
            property_type: Some(LogicalType::Date.into()),
            ..column("x", &[0], Arc::new(Int64Array::from(vec![1])))
        };
        let of = |column: &VertexColumn, own: PropertyType| {
            let property = PropertyRecord::of_vertices("x", own);
            let given = GivenValue::of(column, 0, &property).map_err(|error| error.to_string())?;
            match given.input() {
                InputValue::Int(value) => Ok(value.to_string()),
                InputValue::Text(text) => Ok(String::from_utf8_lossy(text).into_owned()),
                other => Ok(format!("{other:?}")),
            }
        };
        let unit = esker_store::format::TimeUnit::Second;
        let times = LogicalType::Timestamp { unit, zone: String::new() };
        assert_eq!(of(&days, LogicalType::Date.into()), Ok("1".to_owned()));
        assert_eq!(of(&days, times.clone().into()), Ok("86400".to_owned()));
        assert_eq!(of(&days, PropertyType::text()), Ok("1970-01-02".to_owned()));
        let refused: String = of(&days, ElementType::I64.into()).unwrap_err();
        assert!(refused.contains("\"1970-01-02\" is not of type i64"), "{refused}");
        let plain = column("x", &[0], Arc::new(Int64Array::from(vec![1])));
        assert!(of(&plain, times.into()).is_err());
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
        let named = PropertyRecord::of_vertices("x", PropertyType::text());
        for (column, expected) in [(int(), "1"), (float(), "1.5"), (text(), "a")] {
            let given = GivenValue::of(&column, 0, &named).unwrap();
            assert_eq!(given.input(), InputValue::Text(expected.as_bytes()));
        }
    }
}
