//! Stores columns of an answer as vertex properties.

use esker_graph::Bitmap;
use esker_store::format::{ElementType, PropertyType};
use esker_store::ids::ExternalId;
use esker_store::{CommitOptions, Error, Result, Version};

use super::setter::{ROWS_PER_LOOK, SetReport, Setter};
use crate::answer::{Answer, AnswerColumn, Value, Values};
use crate::change::destination::Destination;
use crate::change::room::Room;
use crate::change::target::Target;
use crate::change::value::{InputValue, convert_or_widen};

/// A column of an answer, and the vertex property that becomes the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredColumn<'a> {
    /// The name of the column; `None`: the first.
    pub column: Option<&'a str>,
    /// The name of the property, which is made if there is none.
    pub property: &'a str,
}

/// Makes vertex properties what columns of an answer hold, as one version. Vertices without a value in the
/// answer, such as those outside a window, lose the one that an earlier answer gave them. Values of vertices
/// that the newest version does not have are counted as rejected. Labels that are vertices become their ids.
/// Memory: the batch, and a bit a vertex. `version` is that of the answer.
///
/// # Errors
/// [`Error::Usage`] if the rows of the answer are edges, or there is no such column; [`Error::Invalid`] for a
/// value that the property, which exists, does not hold. Nothing is committed then.
pub fn store_answer<'a>(
    database: impl Into<Destination<'a>>,
    target: &Target,
    version: &Version,
    answer: &Answer,
    columns: &[StoredColumn<'_>],
    commit: &CommitOptions,
) -> Result<SetReport> {
    let database = database.into();
    target.expect_event_time(commit)?;
    let mut setter = Setter::new(database, target, false)?;
    setter.clears_empty = true;
    let mut room = Room::default();
    for stored in columns {
        let column = column_of(answer, stored.column)?;
        store_column(&mut setter, &mut room, version, answer, column, stored.property)?;
    }
    room.finish(database, &mut setter.batch, 0)?;
    setter.report.vertices = setter.report.set + setter.report.unset;
    setter.commit(commit)
}

fn store_column(
    setter: &mut Setter<'_>,
    room: &mut Room,
    version: &Version,
    answer: &Answer,
    column: &AnswerColumn,
    property: &str,
) -> Result<()> {
    let target = setter.target;
    let is_known = target.vertex_property(property).is_some();
    let record = setter.define(property, type_of(&column.values, target.text_ids));
    let newest = &target.newest;
    let has_value = Bitmap::new(newest.num_vertices());
    for row in 0..column.values.len() {
        if row % ROWS_PER_LOOK == 0 {
            room.make(setter.database, &mut setter.batch)?;
        }
        let (Value::Vertex(vertex), value) = (answer.key(row), column.values.get(row)) else { continue };
        if value == Value::Missing {
            continue;
        }
        let id = version.ids().external_of(vertex)?;
        // Compaction may number the vertices anew between the run and the commit.
        let Some(now) = target.vertex_of(id)? else {
            setter.report.rejected += 1;
            continue;
        };
        let label = match value {
            Value::Vertex(label) => Some(version.ids().external_of(label)?),
            _ => None,
        };
        let value = convert_or_widen(&record, given(value, label))?;
        setter.set_value(id, property, Some(value))?;
        has_value.insert_alone(now);
    }
    if !is_known {
        return Ok(());
    }
    let values = newest.vertex_property(property)?;
    for v in (0..newest.num_vertices()).map(esker_graph::vertex).filter(|&v| !has_value.get(v)) {
        if values.get(v)?.is_some_and(|value| !value.is_missing()) {
            setter.set_value(newest.ids().external_of(v)?, property, None)?;
        }
    }
    Ok(())
}

/// The column of this name, or the first.
fn column_of<'a>(answer: &'a Answer, name: Option<&str>) -> Result<&'a AnswerColumn> {
    let names = || answer.columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ");
    if answer.edges.is_some() || answer.columns.is_empty() {
        return Err(Error::usage(
            "the answer has no value for each vertex, so it cannot be a vertex property".to_owned(),
        ));
    }
    match name {
        None => Ok(&answer.columns[0]),
        Some(name) => answer.columns.iter().find(|column| column.name == name).ok_or_else(|| {
            Error::usage(format!("the answer has no column {name:?}; its columns are {}", names()))
        }),
    }
}

fn type_of(values: &Values, text_ids: bool) -> PropertyType {
    match values {
        Values::Vertex(_) if text_ids => None.into(),
        Values::Vertex(_) | Values::Index(_) | Values::Integer(_) | Values::Count(_) => {
            ElementType::I64.into()
        }
        Values::Float(_) => ElementType::F64.into(),
    }
}

fn given<'a>(value: Value, label: Option<ExternalId<'a>>) -> InputValue<'a> {
    match (value, label) {
        (_, Some(ExternalId::Int(id))) => InputValue::Unsigned(id),
        (_, Some(ExternalId::Text(id))) => InputValue::Text(id),
        (Value::Integer(value), _) => InputValue::Int(value),
        (Value::Count(value), _) => InputValue::Unsigned(value),
        (Value::Float(value), _) => InputValue::Float(value),
        (Value::Missing | Value::Vertex(_) | Value::Edge(..), None) => InputValue::Missing,
    }
}
