//! Answers as Arrow streams; columns are not copied.

use std::sync::Arc;

use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchReader, StringArray, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use esker::answer::{Answer, Value, Values};
use esker::graph::{NONE, VertexId, vertex};
use esker::store::Version;
use esker::store::format::value::decimal::TEXT_BYTES_MAX;
use esker::store::ids::ExternalId;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::failure::{PyFailure, PyOutcome};
use crate::input::array::{Array, ArrayItem, ItemType};
use crate::input::capsule;
use crate::output::row_order::VersionRows;
use crate::watch::reading;

/// Number of rows per batch. External ids are generated for one batch at a time.
pub(crate) const BATCH_ROWS: usize = 1 << 14;

// A column of a batch has less than 2^31 bytes, which its offsets count.
const _: () = assert!(BATCH_ROWS * TEXT_BYTES_MAX < 1 << 31);

/// An answer as a stream of Arrow record batches; every call starts a new stream.
#[pyclass(frozen, name = "Stream", module = "esker._esker")]
pub(crate) struct PyAnswerStream {
    /// In rows.
    answer: Arc<Answer>,
    rows: VersionRows,
}

impl PyAnswerStream {
    /// Of an answer whose rows are vertices of a version, in any order.
    pub(crate) fn of_vertices(answer: Answer, version: &Version) -> Self {
        Self { answer: Arc::new(answer), rows: VersionRows::of_vertices(&version.view()) }
    }
}

#[pymethods]
impl PyAnswerStream {
    #[new]
    fn new(py: Python<'_>, answer: &crate::output::answer::PyAnswer) -> PyOutcome<Self> {
        Ok(Self {
            answer: reading(py, answer.rows.view().version().path(), || answer.in_rows())?,
            rows: answer.rows.clone(),
        })
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows a producer with a single form to ignore the requested schema.
        drop(requested_schema);
        let batches =
            reading(py, self.rows.view().version().path(), || Batches::new(&self.answer, &self.rows))?;
        capsule::stream(py, Box::new(batches))
    }
}

struct Batches {
    answer: Arc<Answer>,
    rows: VersionRows,
    schema: SchemaRef,
    signed: bool,
    /// The columns that are passed on without a copy; `None` for columns of vertices.
    columns: Vec<Option<ArrayRef>>,
    next: usize,
    num_rows: usize,
}

impl Batches {
    fn new(answer: &Arc<Answer>, rows: &VersionRows) -> PyOutcome<Self> {
        let view = rows.view();
        let signed = ids_are_signed(view.version())?;
        let num_rows = num_rows(answer);
        let id = id_type(view.version(), signed);
        let keys: &[&str] = if answer.edges.is_some() { &["source", "target"] } else { &["vertex"] };
        let mut fields: Vec<Field> = keys.iter().map(|&key| Field::new(key, id.clone(), false)).collect();
        let mut columns = Vec::new();
        for (index, column) in answer.columns.iter().enumerate() {
            let whole = whole(answer, index)?;
            let data_type = whole.as_ref().map_or_else(|| id.clone(), |whole| whole.data_type().clone());
            fields.push(Field::new(column.name, data_type, true));
            columns.push(whole);
        }
        let schema = Arc::new(Schema::new(fields));
        let (answer, rows) = (Arc::clone(answer), rows.clone());
        Ok(Self { answer, rows, schema, signed, columns, next: 0, num_rows })
    }

    fn batch(&mut self) -> PyOutcome<RecordBatch> {
        let range = self.next..self.num_rows.min(self.next + BATCH_ROWS);
        self.next = range.end;
        let order = self.rows.order()?;
        let ids = |rows: &mut dyn Iterator<Item = Option<VertexId>>| {
            let vertex_of = |row| order.map_or(row, |order| order.vertex(row));
            ids_array(self.rows.view().version(), self.signed, &mut rows.map(|row| row.map(vertex_of)))
        };
        let mut arrays = Vec::with_capacity(self.schema.fields().len());
        if let Some(edges) = &self.answer.edges {
            arrays.push(ids(&mut edges[range.clone()].iter().map(|edge| Some(edge.0)))?);
            arrays.push(ids(&mut edges[range.clone()].iter().map(|edge| Some(edge.1)))?);
        } else if let Some(rows) = &self.answer.vertices {
            arrays.push(ids(&mut rows[range.clone()].iter().copied().map(Some))?);
        } else {
            arrays.push(ids(&mut range.clone().map(|row| Some(vertex(row))))?);
        }
        for (column, whole) in self.answer.columns.iter().zip(&self.columns) {
            arrays.push(match whole {
                Some(whole) => whole.slice(range.start, range.len()),
                None => ids(&mut range.clone().map(|row| match column.values.get(row) {
                    Value::Vertex(v) => Some(v),
                    _ => None,
                }))?,
            });
        }
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), arrays)?)
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let left = self.next < self.num_rows;
        let path = self.rows.view().version().path().to_owned();
        let batch = left.then(|| esker::guarded(&path, || self.batch()));
        batch.map(|batch| batch.map_err(|failure| ArrowError::ExternalError(PyErr::from(failure).into())))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Number of rows of an answer.
fn num_rows(answer: &Answer) -> usize {
    match (&answer.edges, answer.columns.first()) {
        (Some(edges), _) => edges.len(),
        (None, column) => column.map_or(0, |column| column.values.len()),
    }
}

/// A column without a copy; `None` for a column of vertices, whose ids must be looked up.
fn whole(answer: &Arc<Answer>, index: usize) -> PyOutcome<Option<ArrayRef>> {
    macro_rules! shown {
        ($kind:ident) => {
            Array::within(Arc::clone(answer), |answer| match &answer.columns[index].values {
                Values::$kind(values) => Ok(&values[..]),
                _ => Err(PyFailure::Named("Error", "the type of a column changed; this is a bug".to_owned())),
            })?
        };
    }
    Ok(match &answer.columns[index].values {
        Values::Vertex(_) => None,
        Values::Index(values) => {
            let nulls = missing(values, |value| *value == NONE);
            let array = shown!(Index);
            Some(match VertexId::TYPE {
                ItemType::U32 => array.arrow::<UInt32Type>(nulls),
                _ => array.arrow::<UInt64Type>(nulls),
            })
        }
        Values::Integer(values) => {
            let nulls = missing(values, |value| *value == Values::NO_INTEGER);
            Some(shown!(Integer).arrow::<Int64Type>(nulls))
        }
        Values::Count(values) => {
            let nulls = missing(values, |value| *value == u64::MAX);
            Some(shown!(Count).arrow::<UInt64Type>(nulls))
        }
        Values::Float(values) => {
            let nulls = missing(values, |value| !value.is_finite());
            Some(shown!(Float).arrow::<Float64Type>(nulls))
        }
    })
}

/// A validity bitmap; `None` if no value is missing.
fn missing<T>(values: &[T], is_missing: impl Fn(&T) -> bool) -> Option<NullBuffer> {
    let any = values.iter().any(&is_missing);
    any.then(|| values.iter().map(|value| !is_missing(value)).collect())
}

/// Whether all ids are text or integers below 2^63. Time: O(n) for sparse integers.
pub(crate) fn ids_are_signed(version: &Version) -> PyOutcome<bool> {
    let ids = version.ids();
    if ids.is_text() {
        return Ok(true);
    }
    if let Some(base) = ids.dense_base() {
        return Ok(base.checked_add(ids.num_vertices() as u64).is_some_and(|end| i64::try_from(end).is_ok()));
    }
    let mut are_signed = true;
    ids.each_external(0..ids.num_vertices(), |id| {
        are_signed &= !matches!(id, ExternalId::Int(id) if i64::try_from(id).is_err());
        Ok(())
    })?;
    Ok(are_signed)
}

pub(crate) fn id_type(version: &Version, signed: bool) -> DataType {
    match (version.ids().is_text(), signed) {
        (true, _) => DataType::Utf8,
        (false, true) => DataType::Int64,
        (false, false) => DataType::UInt64,
    }
}

/// An array of vertex ids, with null for `None`.
pub(crate) fn ids_array(
    version: &Version,
    signed: bool,
    vertices: &mut dyn Iterator<Item = Option<VertexId>>,
) -> PyOutcome<ArrayRef> {
    let ids = version.ids();
    if ids.is_text() {
        let text = |v: Option<VertexId>| -> PyOutcome<Option<String>> {
            Ok(v.map(|v| ids.external_of(v).map(|id| id.to_string())).transpose()?)
        };
        return Ok(Arc::new(vertices.map(text).collect::<PyOutcome<StringArray>>()?));
    }
    let integer = |v: Option<VertexId>| -> PyOutcome<Option<u64>> {
        Ok(match v.map(|v| ids.external_of(v)).transpose()? {
            Some(ExternalId::Int(id)) => Some(id),
            _ => None,
        })
    };
    Ok(if signed {
        let integer = |v| Ok(integer(v)?.map(|id| id as i64));
        Arc::new(vertices.map(integer).collect::<PyOutcome<Int64Array>>()?)
    } else {
        Arc::new(vertices.map(integer).collect::<PyOutcome<UInt64Array>>()?)
    })
}
