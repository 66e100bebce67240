//! Edges and vertices as Arrow streams. A batch is made when it is asked for, so a stream takes the memory of
//! a batch, whatever the graph.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, Float64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{
    ArrayRef, Float64Array, Int64Array, LargeStringArray, RecordBatch, RecordBatchReader, StringArray,
    UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use esker::export::{BlockBuilder, ExportBlock, ExportGraph, StoredExport};
use esker::graph::{Run, VertexId, vertex};
use esker::import::read::typed::{arrow_column, arrow_type};
use esker::store::format::{ElementType, LogicalType, PropertyRecord};
use esker::store::property::PropertyValue;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::failure::{PyOutcome, invalid};
use crate::graph::PyGraph;
use crate::input::capsule;
use crate::output::edges::RowLists;
use crate::output::row_order::VersionRows;
use crate::output::stream::{BATCH_ROWS, id_type, ids_are_signed, ids_array};
use crate::settings::brief;
use crate::watch::reading;

/// The edges or the vertices of a version as a stream of Arrow record batches; every call starts a new
/// stream.
#[pyclass(frozen, module = "esker._esker")]
pub(crate) struct TableStream {
    rows: VersionRows,
    of_edges: bool,
    with_properties: bool,
}

#[pymethods]
impl TableStream {
    /// `what` is `edges` or `vertices`.
    #[new]
    fn new(graph: &PyGraph, what: &str, with_properties: bool) -> PyOutcome<Self> {
        let of_edges = match what {
            "edges" => true,
            "vertices" => false,
            _ => return invalid(format!("a table has edges or vertices, not {what:?}")),
        };
        Ok(Self { rows: graph.rows.clone(), of_edges, with_properties })
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows a producer with a single form to ignore the requested schema.
        drop(requested_schema);
        let batches = reading(py, self.rows.view().version().path(), || TableBatches::new(self))?;
        capsule::stream(py, Box::new(batches))
    }
}

struct TableBatches {
    rows: VersionRows,
    run: Arc<Run>,
    schema: SchemaRef,
    signed: bool,
    of_edges: bool,
    properties: Vec<PropertyRecord>,
    /// The texts of each edge property of texts.
    texts: Vec<Option<LargeStringArray>>,
    /// The next row.
    next: usize,
    num_rows: usize,
    /// Edges that were read, and how many of them were handed over.
    read: Option<(ExportBlock, usize)>,
}

impl TableBatches {
    fn new(stream: &TableStream) -> PyOutcome<Self> {
        let (rows, run) = (stream.rows.clone(), brief()?);
        let view = rows.view();
        let signed = ids_are_signed(view.version())?;
        let graph = StoredExport::new(view, &run)?;
        let num_rows = graph.num_vertices() as usize;
        let all: Vec<PropertyRecord> = match (stream.with_properties, stream.of_edges) {
            (false, _) => Vec::new(),
            (true, true) => view.version().edge_properties().cloned().collect(),
            (true, false) => view.version().vertex_properties().cloned().collect(),
        };
        let mut texts = Vec::new();
        for (number, property) in all.iter().enumerate().filter(|_| stream.of_edges) {
            texts.push(property.is_text().then(|| strings(&graph, number)).transpose()?);
        }
        let keys: &[&str] = if stream.of_edges { &["source", "target"] } else { &["vertex"] };
        let id = id_type(view.version(), signed);
        let ids = keys.iter().map(|&key| Field::new(key, id.clone(), false));
        // As in the command: each column can be told by its name.
        let named = |one: &PropertyRecord| match keys.contains(&one.name.as_str()) {
            true => format!("property.{}", one.name),
            false => one.name.clone(),
        };
        let values =
            all.iter().map(|one| Field::new(named(one), data_type(one), one.optional || !stream.of_edges));
        let schema = Arc::new(Schema::new(ids.chain(values).collect::<Vec<_>>()));
        drop(graph);
        let of_edges = stream.of_edges;
        Ok(Self {
            rows,
            run,
            schema,
            signed,
            of_edges,
            properties: all,
            texts,
            next: 0,
            num_rows,
            read: None,
        })
    }

    /// The batch of the next vertices or of their edges; `None` at the end.
    fn batch(&mut self) -> PyOutcome<Option<RecordBatch>> {
        while self.next < self.num_rows || self.read.is_some() {
            let columns = if self.of_edges { self.edges()? } else { self.vertices()? };
            if !columns[0].is_empty() {
                return Ok(Some(RecordBatch::try_new(Arc::clone(&self.schema), columns)?));
            }
        }
        Ok(None)
    }

    /// The next rows, at most `count`.
    fn take(&mut self, count: usize) -> Range<usize> {
        let first = self.next;
        self.next = self.num_rows.min(first + count);
        first..self.next
    }

    /// The vertices of rows.
    fn vertices_of(&self, rows: impl Iterator<Item = usize>) -> PyOutcome<Vec<VertexId>> {
        let order = self.rows.order()?;
        Ok(rows.map(|row| order.map_or(vertex(row), |order| order.vertex(vertex(row)))).collect())
    }

    fn ids(&self, vertices: &[VertexId]) -> PyOutcome<ArrayRef> {
        ids_array(self.rows.view().version(), self.signed, &mut vertices.iter().copied().map(Some))
    }

    /// The edges that come next, and how many of them were handed over.
    fn read_edges(&mut self) -> PyOutcome<(ExportBlock, usize)> {
        if let Some(read) = self.read.take() {
            return Ok(read);
        }
        let (rows, run) = (self.rows.clone(), Arc::clone(&self.run));
        let lists = RowLists::new(&rows, &run)?;
        let mut block = BlockBuilder::new(lists.graph().properties());
        while self.next < self.num_rows && block.targets.len() < BATCH_ROWS {
            lists.append(self.take(1).start, &mut block)?;
        }
        Ok((lists.finish(&mut block)?, 0))
    }

    fn edges(&mut self) -> PyOutcome<Vec<ArrayRef>> {
        let (found, first) = self.read_edges()?;
        // A list may have more edges than a batch.
        let end = found.targets.len().min(first + BATCH_ROWS);
        let mut columns = Vec::with_capacity(2 + self.properties.len());
        for all in [&found.sources, &found.targets] {
            columns.push(self.ids(&self.vertices_of(all[first..end].iter().map(|&row| row as usize))?)?);
        }
        let properties = self.properties.iter().zip(&found.properties);
        for ((property, values), texts) in properties.zip(&self.texts) {
            let values = values.slice(first, end - first);
            columns.push(match texts {
                Some(texts) => {
                    let codes = values.as_primitive::<UInt32Type>().iter();
                    let text = |code: Option<u32>| code.map(|code| texts.value(code as usize));
                    Arc::new(codes.map(text).collect::<StringArray>())
                }
                None => arrow_column(&property.logical, &values),
            });
        }
        if end < found.targets.len() {
            self.read = Some((found, end));
        }
        Ok(columns)
    }

    fn vertices(&mut self) -> PyOutcome<Vec<ArrayRef>> {
        let rows = self.take(BATCH_ROWS);
        let vertices = self.vertices_of(rows)?;
        let mut columns = vec![self.ids(&vertices)?];
        for record in &self.properties {
            let property = self.rows.view().version().vertex_property(&record.name)?;
            let values = vertices.iter().map(|&v| Ok(property.get(v)?)).collect::<PyOutcome<Vec<_>>>()?;
            columns.push(column_of(record, &values));
        }
        Ok(columns)
    }
}

impl Iterator for TableBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let path = self.rows.view().version().path().to_owned();
        let batch = esker::guarded(&path, || self.batch());
        batch.map_err(|failure| ArrowError::ExternalError(PyErr::from(failure).into())).transpose()
    }
}

impl RecordBatchReader for TableBatches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// The texts of an edge property, in the order of their codes.
fn strings(graph: &StoredExport<'_>, number: usize) -> PyOutcome<LargeStringArray> {
    let texts = graph.dictionary(number)?;
    Ok(LargeStringArray::from_iter_values(texts.iter().flatten().map(String::from_utf8_lossy)))
}

/// Arrow's type of a column of a property: numbers in 64 bits.
pub(crate) fn data_type(property: &PropertyRecord) -> DataType {
    if let LogicalType::Vector { len } = property.logical {
        let element =
            if property.element == ElementType::F64 { DataType::Float64 } else { DataType::Float32 };
        return DataType::FixedSizeList(Arc::new(Field::new("item", element, true)), len.cast_signed());
    }
    arrow_type(&property.logical).unwrap_or(match property.element {
        _ if property.is_text() => DataType::Utf8,
        ElementType::F32 | ElementType::F64 => DataType::Float64,
        ElementType::U64 => DataType::UInt64,
        _ => DataType::Int64,
    })
}

/// Vectors of `len` numbers, null where there is none.
fn vectors_of(values: &[Option<PropertyValue<'_>>], len: i32, is_wide: bool) -> ArrayRef {
    macro_rules! lists {
        ($builder:ty, $number:expr) => {{
            let mut lists = FixedSizeListBuilder::new(<$builder>::new(), len);
            for value in values {
                let vector = match value {
                    Some(PropertyValue::Vector(vector)) => Some(vector),
                    _ => None,
                };
                match vector {
                    Some(vector) => vector.numbers().for_each(|x| lists.values().append_value($number(x))),
                    None => (0..len).for_each(|_| lists.values().append_null()),
                }
                lists.append(vector.is_some());
            }
            Arc::new(lists.finish())
        }};
    }
    if is_wide { lists!(Float64Builder, |x| x) } else { lists!(Float32Builder, |x: f64| x as f32) }
}

/// The values of a property, null where there is none.
pub(crate) fn column_of(property: &PropertyRecord, values: &[Option<PropertyValue<'_>>]) -> ArrayRef {
    let signed = |value: &PropertyValue<'_>| match *value {
        PropertyValue::I32(value) => i64::from(value),
        PropertyValue::Date(days) => i64::from(days),
        ref other => other.bits().unwrap_or(0).cast_signed(),
    };
    let float = |value: &PropertyValue<'_>| match *value {
        PropertyValue::F32(value) => f64::from(value),
        ref other => f64::from_bits(other.bits().unwrap_or(0)),
    };
    let all = values.iter().map(Option::as_ref);
    match data_type(property) {
        DataType::FixedSizeList(_, len) => vectors_of(values, len, property.element == ElementType::F64),
        DataType::Utf8 => Arc::new(all.map(|value| value.map(ToString::to_string)).collect::<StringArray>()),
        DataType::Float64 => Arc::new(all.map(|value| value.map(float)).collect::<Float64Array>()),
        DataType::UInt64 => {
            Arc::new(all.map(|value| value.and_then(PropertyValue::bits)).collect::<UInt64Array>())
        }
        _ => {
            let numbers: ArrayRef = Arc::new(all.map(|value| value.map(signed)).collect::<Int64Array>());
            arrow_column(&property.logical, &numbers)
        }
    }
}
