//! Differences between two versions as Arrow streams.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use esker::graph::{Cancel, Run, RunOptions, VertexId};
use esker::store::Version;
use esker::store::database::OwnedValue;
use esker::store::diff::{DiffEdge, Difference, diff};
use esker::store::format::PropertyRecord;
use esker::store::property::PropertyValue;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::failure::PyOutcome;
use crate::input::capsule;
use crate::output::stream::{BATCH_ROWS, id_type, ids_are_signed, ids_array};
use crate::tables::{column_of, data_type};
use crate::watch::watched;

/// Differences of a list of JSON. Python reads a list in a call that handles no signals.
const LIST_LEN: usize = 1 << 13;

/// Differences as lists of JSON, none of them long. The writer of differences writes each at once, after the
/// first with a comma before it.
#[derive(Default)]
pub(crate) struct JsonLists {
    lists: Vec<Vec<u8>>,
    /// Number of differences in the last list.
    len: usize,
}

impl JsonLists {
    pub(crate) fn finish(self) -> Vec<String> {
        let close = |list: Vec<u8>| format!("[{}]", String::from_utf8_lossy(&list));
        self.lists.into_iter().map(close).collect()
    }
}

impl Write for JsonLists {
    fn write(&mut self, difference: &[u8]) -> io::Result<usize> {
        match self.lists.last_mut().filter(|_| self.len < LIST_LEN) {
            Some(list) => list.extend_from_slice(difference),
            None => {
                self.lists.push(difference.strip_prefix(b",").unwrap_or(difference).to_vec());
                self.len = 0;
            }
        }
        self.len += 1;
        Ok(difference.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The changes of edges or of vertices between two versions as a stream of Arrow record batches; every call
/// compares the versions anew.
#[pyclass(frozen, module = "esker._esker")]
pub(crate) struct DifferenceStream {
    pub(crate) a: Version,
    pub(crate) b: Version,
    pub(crate) of_edges: bool,
}

#[pymethods]
impl DifferenceStream {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows a producer with a single form to ignore the requested schema.
        drop(requested_schema);
        let cancel = Cancel::default();
        let changes = watched(py, &cancel, None, || {
            ChangedRows::read(
                self,
                &Run::new(RunOptions { cancel: cancel.clone(), ..RunOptions::default() })?,
            )
        })?;
        capsule::stream(py, Box::new(changes))
    }
}

/// The values of a property: those of the first version and those of the second, by row.
#[derive(Default)]
struct ChangedProperty {
    old: Vec<Option<OwnedValue>>,
    new: Vec<Option<OwnedValue>>,
}

/// All changes of one kind. Memory: three words a row, and two values of 24 bytes or more a row and property.
struct ChangedRows {
    /// The version with more vertices: it knows the ids of both.
    larger: Version,
    signed: bool,
    schema: SchemaRef,
    properties: Vec<PropertyRecord>,
    of_edges: bool,
    changes: Vec<&'static str>,
    /// Sources, or the vertices themselves.
    sources: Vec<VertexId>,
    targets: Vec<VertexId>,
    values: Vec<ChangedProperty>,
    next: usize,
}

impl ChangedRows {
    fn read(stream: &DifferenceStream, run: &Run) -> PyOutcome<Self> {
        let DifferenceStream { a, b, of_edges } = stream;
        let mut changes = Self::none(a, b, *of_edges)?;
        diff(a, b, run, |difference| {
            match (difference, *of_edges) {
                (Difference::EdgeAdded(edge), true) => changes.edge("added", None, Some(edge))?,
                (Difference::EdgeRemoved(edge), true) => changes.edge("removed", Some(edge), None)?,
                (Difference::EdgeChanged(old, new), true) => changes.edge("changed", Some(old), Some(new))?,
                (Difference::VertexAdded(v), false) => changes.vertex("added", v),
                (Difference::VertexRemoved(v), false) => changes.vertex("removed", v),
                (Difference::ValueChanged(v, property, old, new), false) => {
                    if changes.sources.last() != Some(&v) {
                        changes.vertex("changed", v);
                    }
                    changes.value(property, old, new);
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(changes)
    }

    fn none(a: &Version, b: &Version, of_edges: bool) -> PyOutcome<Self> {
        let larger = if a.num_vertices() > b.num_vertices() { a } else { b };
        let signed = ids_are_signed(larger)?;
        let mut properties: Vec<PropertyRecord> = Vec::new();
        for version in [a, b] {
            let known: Vec<_> = match of_edges {
                true => version.edge_properties().cloned().collect(),
                false => version.vertex_properties().cloned().collect(),
            };
            properties.extend(known.into_iter().skip(properties.len()));
        }
        let id = id_type(larger, signed);
        let keys: &[&str] = if of_edges { &["source", "target"] } else { &["vertex"] };
        let mut fields = vec![Field::new("change", DataType::Utf8, false)];
        fields.extend(keys.iter().map(|&key| Field::new(key, id.clone(), false)));
        for property in &properties {
            let field = |when| Field::new(format!("{when}_{}", property.name), data_type(property), true);
            fields.extend([field("old"), field("new")]);
        }
        Ok(Self {
            larger: larger.clone(),
            signed,
            schema: Arc::new(Schema::new(fields)),
            values: properties.iter().map(|_| ChangedProperty::default()).collect(),
            properties,
            of_edges,
            changes: Vec::new(),
            sources: Vec::new(),
            targets: Vec::new(),
            next: 0,
        })
    }

    fn edge(
        &mut self,
        change: &'static str,
        old: Option<DiffEdge<'_>>,
        new: Option<DiffEdge<'_>>,
    ) -> esker::store::Result<()> {
        let Some(edge) = new.or(old) else { return Ok(()) };
        self.changes.push(change);
        self.sources.push(edge.source);
        self.targets.push(edge.target);
        for (property, values) in self.properties.iter().zip(&mut self.values) {
            for (edge, values) in [(&old, &mut values.old), (&new, &mut values.new)] {
                values.push(edge.as_ref().map(|edge| edge.value(property)).transpose()?.map(OwnedValue::of));
            }
        }
        Ok(())
    }

    fn vertex(&mut self, change: &'static str, v: VertexId) {
        self.changes.push(change);
        self.sources.push(v);
        self.values
            .iter_mut()
            .flat_map(|values| [&mut values.old, &mut values.new])
            .for_each(|one| one.push(None));
    }

    /// Sets the values of a property in the last row.
    fn value(
        &mut self,
        property: &PropertyRecord,
        old: Option<PropertyValue<'_>>,
        new: Option<PropertyValue<'_>>,
    ) {
        let place = self.properties.iter().position(|known| known.number == property.number);
        if let Some(values) = place.and_then(|place| self.values.get_mut(place)) {
            for (value, values) in [(old, &mut values.old), (new, &mut values.new)] {
                if let Some(last) = values.last_mut() {
                    *last = value.map(OwnedValue::of);
                }
            }
        }
    }

    fn batch(&mut self) -> PyOutcome<RecordBatch> {
        let range = self.next..self.changes.len().min(self.next + BATCH_ROWS);
        self.next = range.end;
        let changes = StringArray::from_iter_values(&self.changes[range.clone()]);
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(changes)];
        let ends = if self.of_edges { &[&self.sources, &self.targets][..] } else { &[&self.sources] };
        for end in ends {
            let mut vertices = end[range.clone()].iter().copied().map(Some);
            arrays.push(ids_array(&self.larger, self.signed, &mut vertices)?);
        }
        for (property, values) in self.properties.iter().zip(&self.values) {
            for kept in [&values.old, &values.new] {
                let values: Vec<_> =
                    kept[range.clone()].iter().map(|kept| kept.as_ref().map(OwnedValue::value)).collect();
                arrays.push(column_of(property, &values));
            }
        }
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), arrays)?)
    }
}

impl Iterator for ChangedRows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let left = self.next < self.changes.len();
        let path = self.larger.path().to_owned();
        let batch = left.then(|| esker::guarded(&path, || self.batch()));
        batch.map(|batch| batch.map_err(|failure| ArrowError::ExternalError(PyErr::from(failure).into())))
    }
}

impl RecordBatchReader for ChangedRows {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
