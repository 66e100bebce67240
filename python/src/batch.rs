//! Batches of changes, each committed as one version.

use parking_lot::Mutex;

use arrow_array::ArrayRef;
use esker::change::{InputValue, convert_or_widen};
use esker::graph::{Cancel, counted};
use esker::import::read::source::id_at;
use esker::store::EdgeMatch;
use esker::store::database::GraphSchema;
use esker::store::format::{ElementType, LogicalType, PropertyRecord, PropertyType};
use esker::store::property::PropertyValue;
use pyo3::prelude::*;

use crate::failure::{PyFailure, PyOutcome, invalid, mistyped};
use crate::input::column::{ColumnType, InputColumn, same_length};
use crate::input::source::block_rows;
use crate::input::vectors::InputVectors;
use crate::watch::watched;

/// Number of changes between two checks for cancellation.
const BLOCK: usize = 1 << 16;

/// A batch of changes. A failed call closes the batch, so that a partly applied call is never committed.
#[pyclass(frozen, name = "Batch", module = "esker._esker")]
pub(crate) struct PyBatch {
    state: Mutex<Option<BatchState>>,
    text_ids: bool,
}

struct BatchState {
    batch: esker::store::Batch,
    /// The vertex properties of the database and those that the batch adds.
    properties: Vec<PropertyRecord>,
}

impl PyBatch {
    pub(crate) fn new(batch: esker::store::Batch, schema: GraphSchema) -> Self {
        let state = BatchState { batch, properties: schema.vertex_properties };
        Self { state: Mutex::new(Some(state)), text_ids: schema.text_ids }
    }

    /// Takes the changes out of the batch, which closes it.
    pub(crate) fn take(&self) -> PyOutcome<esker::store::Batch> {
        let mut state = self.state.lock();
        state.take().map(|state| state.batch).ok_or_else(ended)
    }

    /// Applies a change for each row of columns, block by block. A failure or an interrupt closes the batch.
    fn change(
        &self,
        py: Python<'_>,
        columns: &[&InputColumn],
        work: impl Fn(&mut BatchState, std::ops::Range<usize>) -> PyOutcome<()> + Send + Sync,
    ) -> PyOutcome<()> {
        let cancel = Cancel::default();
        watched(py, &cancel, None, || {
            let mut kept = self.state.lock();
            let mut state = kept.take().ok_or_else(ended)?;
            let (mut start, count) = (0, columns.first().map_or(0, |column| column.len()));
            while start < count {
                cancel.check()?;
                let rows = block_rows(columns.iter().copied(), start, BLOCK);
                work(&mut state, start..start + rows)?;
                start += rows;
            }
            *kept = Some(state);
            Ok(())
        })
    }
}

fn ended() -> PyFailure {
    PyFailure::Named(
        "ClosedError",
        "the batch is closed: it was committed or dropped, or a call on it failed; begin a new batch"
            .to_owned(),
    )
}

#[pymethods]
impl PyBatch {
    fn __len__(&self) -> usize {
        self.state.lock().as_ref().map_or(0, |state| state.batch.len())
    }

    /// Adds edges, with one column per edge property.
    fn add_edges(
        &self,
        py: Python<'_>,
        source: &InputColumn,
        target: &InputColumn,
        properties: Vec<(String, Bound<'_, InputColumn>)>,
    ) -> PyOutcome<()> {
        self.check_ends(source, target)?;
        let columns: Vec<(String, InputColumn)> =
            properties.into_iter().map(|(name, column)| (name, column.get().clone())).collect();
        let indices = self.column_indices(&columns, source.len())?;
        let own: Vec<&InputColumn> =
            [source, target].into_iter().chain(columns.iter().map(|(_, column)| column)).collect();
        self.change(py, &own, |state, range| {
            let (sources, targets) =
                (source.ids(range.clone(), self.text_ids)?, target.ids(range.clone(), self.text_ids)?);
            let records: Vec<PropertyRecord> = state.batch.given_properties().cloned().collect();
            let values: Vec<ArrayRef> = indices
                .iter()
                .zip(&records)
                .map(|(&index, record)| columns[index].1.values_for(range.clone(), record))
                .collect::<PyOutcome<_>>()?;
            let mut row = Vec::with_capacity(values.len());
            for at in 0..range.len() {
                row.clear();
                for (record, column) in records.iter().zip(&values) {
                    row.push(convert_or_widen(record, InputValue::of(column, at))?);
                }
                state.batch.add_edge(id_at(&sources, at), id_at(&targets, at), &row)?;
            }
            Ok(())
        })
    }

    /// Removes edges: all between two vertices, or those that have the values of the columns.
    fn remove_edges(
        &self,
        py: Python<'_>,
        source: &InputColumn,
        target: &InputColumn,
        properties: Vec<(String, Bound<'_, InputColumn>)>,
    ) -> PyOutcome<()> {
        self.check_ends(source, target)?;
        let columns: Vec<(String, InputColumn)> =
            properties.into_iter().map(|(name, column)| (name, column.get().clone())).collect();
        let wanted = self.wanted(&columns, source.len())?;
        let own: Vec<&InputColumn> =
            [source, target].into_iter().chain(columns.iter().map(|(_, column)| column)).collect();
        self.change(py, &own, |state, range| {
            let (sources, targets) =
                (source.ids(range.clone(), self.text_ids)?, target.ids(range.clone(), self.text_ids)?);
            let values = wanted.iter().zip(&columns);
            let values: Vec<ArrayRef> = values
                .map(|(record, (_, column))| column.values_for(range.clone(), record))
                .collect::<PyOutcome<_>>()?;
            state.batch.count_removed();
            let mut row = Vec::with_capacity(values.len());
            for at in 0..range.len() {
                let (source, target) = (id_at(&sources, at), id_at(&targets, at));
                row.clear();
                for (record, column) in wanted.iter().zip(&values) {
                    row.push((record.number, convert_or_widen(record, InputValue::of(column, at))?));
                }
                match row.is_empty() {
                    true => state.batch.remove_edge(source, target)?,
                    false => {
                        let wanted = EdgeMatch { values: &row, ..EdgeMatch::default() };
                        state.batch.remove_edges(source, target, &wanted)?;
                    }
                }
            }
            Ok(())
        })
    }

    /// Adds vertices.
    fn add_vertices(&self, py: Python<'_>, ids: &InputColumn) -> PyOutcome<()> {
        ids.expect_ids(self.text_ids)?;
        self.change(py, &[ids], |state, range| {
            let ids = ids.ids(range.clone(), self.text_ids)?;
            (0..range.len()).try_for_each(|at| Ok(state.batch.add_vertex(id_at(&ids, at))?))
        })
    }

    /// Removes vertices with their edges.
    fn remove_vertices(&self, py: Python<'_>, ids: &InputColumn) -> PyOutcome<()> {
        ids.expect_ids(self.text_ids)?;
        self.change(py, &[ids], |state, range| {
            let ids = ids.ids(range.clone(), self.text_ids)?;
            (0..range.len()).try_for_each(|at| Ok(state.batch.remove_vertex(id_at(&ids, at))?))
        })
    }

    /// Sets a property of vertices; a missing value removes the property's value. A new property gets the
    /// type of the values.
    fn set_vertices(
        &self,
        py: Python<'_>,
        ids: &InputColumn,
        name: &str,
        values: &InputColumn,
    ) -> PyOutcome<()> {
        ids.expect_ids(self.text_ids)?;
        same_length(ids, values)?;
        let record = self.define(name, values)?;
        let present = values.present(0..values.len());
        // The values that are present, and the number of them before each element.
        let only = values.only(&present)?;
        let mut before = Vec::with_capacity(present.len() + 1);
        before.push(0);
        present.iter().for_each(|&is| before.push(before.last().copied().unwrap_or(0) + usize::from(is)));
        self.change(py, &[ids, values], |state, range| {
            let ids = ids.ids(range.clone(), self.text_ids)?;
            let values = only.values_for(before[range.start]..before[range.end], &record)?;
            for at in range.clone() {
                let id = id_at(&ids, at - range.start);
                if !present[at] {
                    state.batch.set_vertex(id, name, None)?;
                    continue;
                }
                let value =
                    convert_or_widen(&record, InputValue::of(&values, before[at] - before[range.start]))?;
                state.batch.set_vertex(id, name, Some(value))?;
            }
            Ok(())
        })
    }

    /// Sets a property of vertices to vectors of `len` numbers; a row of NaN removes the property's value. A
    /// new property gets the type of the vectors.
    fn set_vectors(
        &self,
        py: Python<'_>,
        ids: &InputColumn,
        name: &str,
        numbers: &InputColumn,
        len: usize,
    ) -> PyOutcome<()> {
        ids.expect_ids(self.text_ids)?;
        let vectors = InputVectors::of(numbers, len, ids.len())?;
        let record = self.define_as(name, vectors.property_type())?;
        if record.property_type() != vectors.property_type() {
            let (what, wanted, found) = (numbers.what(), record.type_name(), vectors.property_type());
            return mistyped(format!(
                "{what}: the property {name:?} is of type {wanted}, not {found}; convert the array"
            ));
        }
        self.change(py, &[ids], |state, range| {
            let ids = ids.ids(range.clone(), self.text_ids)?;
            range.clone().try_for_each(|at| {
                let value = vectors.get(at)?.map(PropertyValue::Vector);
                Ok(state.batch.set_vertex(id_at(&ids, at - range.start), name, value)?)
            })
        })
    }
}

impl PyBatch {
    fn check_ends(&self, source: &InputColumn, target: &InputColumn) -> PyOutcome<()> {
        source.expect_ids(self.text_ids)?;
        target.expect_ids(self.text_ids)?;
        same_length(source, target)
    }

    /// The edge properties that columns name.
    fn wanted(&self, columns: &[(String, InputColumn)], len: usize) -> PyOutcome<Vec<PropertyRecord>> {
        let state = self.state.lock();
        let records = state.as_ref().ok_or_else(ended)?.batch.edge_properties();
        let find = |(name, column): &(String, InputColumn)| {
            let Some(record) = records.iter().find(|record| record.name == *name) else {
                return invalid(format!("edges have no property {name:?}, so none can be deleted by it"));
            };
            if column.len() != len {
                let elements = counted(column.len(), "element", "elements");
                return invalid(format!("{} has {elements}, but there are {len} edges", column.what()));
            }
            Ok(record.clone())
        };
        columns.iter().map(find).collect()
    }

    /// For each edge property, the index of its column.
    fn column_indices(&self, columns: &[(String, InputColumn)], len: usize) -> PyOutcome<Vec<usize>> {
        let state = self.state.lock();
        let batch = &state.as_ref().ok_or_else(ended)?.batch;
        let names: Vec<&str> = batch.given_properties().map(|record| record.name.as_str()).collect();
        let mut ids = batch.edge_properties().iter().filter(|one| one.logical == LogicalType::EdgeId);
        if let Some(ids) = ids.find(|ids| columns.iter().any(|(name, _)| *name == ids.name)) {
            return invalid(format!("the database gives edges their ids: leave {:?} out", ids.name));
        }
        let known = || if names.is_empty() { "no properties".to_owned() } else { names.join(", ") };
        if let Some((name, _)) = columns.iter().find(|(name, _)| !names.contains(&name.as_str())) {
            return invalid(format!(
                "edges have no property {name:?}: they have {}; use define_edge_property to add a property",
                known()
            ));
        }
        let mut indices = Vec::with_capacity(names.len());
        for name in &names {
            let Some(index) = columns.iter().position(|(given, _)| given == name) else {
                return invalid(format!(
                    "no values for {name}: the edges need a column, which may have missing values, for each property of the database: {}",
                    known()
                ));
            };
            if columns[index].1.len() != len {
                return invalid(format!(
                    "{} has {}, but there are {len} edges",
                    columns[index].1.what(),
                    counted(columns[index].1.len(), "element", "elements")
                ));
            }
            indices.push(index);
        }
        Ok(indices)
    }

    /// The vertex property called `name`; adds it with the type of the values if it does not exist.
    fn define(&self, name: &str, values: &InputColumn) -> PyOutcome<PropertyRecord> {
        let property_type = match (values.logical(), values.column_type()) {
            (Some(logical), _) => logical.clone().into(),
            (None, ColumnType::Integers) if values.is_wide() => ElementType::U64.into(),
            (None, ColumnType::Integers) => ElementType::I64.into(),
            (None, ColumnType::Floats) => ElementType::F64.into(),
            (None, ColumnType::Texts) => PropertyType::text(),
        };
        self.define_as(name, property_type)
    }

    /// The vertex property called `name`; adds it with this type if it does not exist.
    fn define_as(&self, name: &str, property_type: PropertyType) -> PyOutcome<PropertyRecord> {
        let mut state = self.state.lock();
        let state = state.as_mut().ok_or_else(ended)?;
        if let Some(known) = state.properties.iter().find(|property| property.name == name) {
            return Ok(known.clone());
        }
        state.batch.define_vertex_property(name, property_type.clone());
        let record = PropertyRecord::of_vertices(name, property_type);
        state.properties.push(record.clone());
        Ok(record)
    }
}
