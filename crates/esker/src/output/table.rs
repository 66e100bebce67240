//! Parquet and Arrow IPC output: the columns of the step, if there are several, the column `vertex` with ids,
//! or the columns `source` and `target` if rows are edges, then the columns of the answer.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};
use esker_graph::VertexId;
use esker_import::export::OutputFile;
use esker_import::read::typed::arrow_column;
use esker_store::format::LogicalType;
use esker_store::ids::ExternalId;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::rows::{AnswerRows, Row, RowFile, StepColumn, StepValue};
use crate::answer::{Value, Values};
use crate::error::{Error, Result};

/// What writes batches to a file.
trait BatchWriter: Send {
    fn put(&mut self, batch: &RecordBatch) -> Result<()>;

    fn end(self) -> Result<OutputFile>;
}

impl BatchWriter for ArrowWriter<OutputFile> {
    fn put(&mut self, batch: &RecordBatch) -> Result<()> {
        self.write(batch).map_err(|e| failed(&e))
    }

    fn end(self) -> Result<OutputFile> {
        self.into_inner().map_err(|e| failed(&e))
    }
}

impl BatchWriter for FileWriter<OutputFile> {
    fn put(&mut self, batch: &RecordBatch) -> Result<()> {
        self.write(batch).map_err(|e| failed(&e))
    }

    fn end(self) -> Result<OutputFile> {
        self.into_inner().map_err(|e| failed(&e))
    }
}

/// Rows in batches.
struct TableRows<B> {
    batches: B,
    schema: Arc<Schema>,
}

impl<B: BatchWriter> RowFile for TableRows<B> {
    fn add(&mut self, rows: &AnswerRows<'_>) -> Result<()> {
        for chunk in rows.chunks() {
            self.batches.put(&batch(rows, &self.schema, &rows.range(chunk)?)?)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<OutputFile> {
        self.batches.end()
    }
}

/// Begins a file of Apache Parquet whose columns are those of these rows.
pub(super) fn parquet(file: OutputFile, rows: &AnswerRows<'_>) -> Result<Box<dyn RowFile>> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap_or_default()))
        .build();
    let schema = schema(rows);
    let batches =
        ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties)).map_err(|e| failed(&e))?;
    Ok(Box::new(TableRows { batches, schema }))
}

/// Begins an Arrow IPC file whose columns are those of these rows.
pub(super) fn arrow(file: OutputFile, rows: &AnswerRows<'_>) -> Result<Box<dyn RowFile>> {
    let schema = schema(rows);
    let batches = FileWriter::try_new(file, &schema).map_err(|e| failed(&e))?;
    Ok(Box::new(TableRows { batches, schema }))
}

fn failed(error: &impl std::fmt::Display) -> Error {
    Error::usage(format!("cannot write the answer: {error}"))
}

fn schema(rows: &AnswerRows<'_>) -> Arc<Schema> {
    let id = if rows.ids.is_text() { DataType::Utf8 } else { DataType::Int64 };
    let steps =
        rows.steps.iter().map(|step| Field::new(step.name, step_values(step, 0).data_type().clone(), false));
    let keys = rows.key_names().iter().map(|&name| Field::new(name, id.clone(), false));
    let mut fields: Vec<_> = steps.chain(keys).collect();
    for (name, column) in rows.names().into_iter().zip(rows.columns) {
        let kind = match column.values {
            Values::Vertex(_) => id.clone(),
            Values::Index(_) | Values::Integer(_) => DataType::Int64,
            Values::Count(_) => DataType::UInt64,
            Values::Float(_) => DataType::Float64,
        };
        fields.push(Field::new(name, kind, true));
    }
    Arc::new(Schema::new(fields))
}

fn batch(rows: &AnswerRows<'_>, schema: &Arc<Schema>, chunk: &[Row]) -> Result<RecordBatch> {
    let mut arrays: Vec<ArrayRef> = rows.steps.iter().map(|step| step_values(step, chunk.len())).collect();
    for key in 0..rows.key_names().len() {
        arrays.push(ids(rows, &mut chunk.iter().map(|row| Some(row.keys()[key])))?);
    }
    for column in rows.columns {
        let mut values = chunk.iter().map(|row| column.values.get(row.index()));
        arrays.push(match column.values {
            Values::Vertex(_) => ids(
                rows,
                &mut values.map(|value| match value {
                    Value::Vertex(v) => Some(v),
                    _ => None,
                }),
            )?,
            Values::Index(_) | Values::Integer(_) => Arc::new(
                values
                    .map(|value| match value {
                        Value::Integer(value) => Some(value),
                        Value::Count(value) => i64::try_from(value).ok(),
                        _ => None,
                    })
                    .collect::<Int64Array>(),
            ),
            Values::Count(_) => Arc::new(
                values
                    .map(|value| match value {
                        Value::Count(value) => Some(value),
                        _ => None,
                    })
                    .collect::<UInt64Array>(),
            ),
            Values::Float(_) => Arc::new(
                values
                    .by_ref()
                    .map(|value| match value {
                        Value::Float(value) => Some(value),
                        _ => None,
                    })
                    .collect::<Float64Array>(),
            ) as ArrayRef,
        });
    }
    RecordBatch::try_new(Arc::clone(schema), arrays).map_err(|e| failed(&e))
}

/// The value of a step, once for each of some rows.
fn step_values(step: &StepColumn, len: usize) -> ArrayRef {
    match &step.value {
        StepValue::Text(text) => Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, len))),
        StepValue::Number(number) => Arc::new(UInt64Array::from(vec![*number; len])),
        StepValue::Time(time, unit, _) => {
            let times: ArrayRef = Arc::new(Int64Array::from(vec![*time; len]));
            arrow_column(&LogicalType::Timestamp { unit: *unit, zone: "UTC".to_owned() }, &times)
        }
    }
}

/// An array of vertex ids, with null for `None`.
fn ids(rows: &AnswerRows<'_>, vertices: &mut dyn Iterator<Item = Option<VertexId>>) -> Result<ArrayRef> {
    if rows.ids.is_text() {
        let text = |v: Option<VertexId>| -> Result<Option<&str>> {
            match v.map(|v| rows.ids.external_of(v)).transpose()? {
                Some(ExternalId::Text(text)) => std::str::from_utf8(text).map(Some).map_err(|_| {
                    Error::usage(format!(
                        "the vertex id {:?} is not UTF-8, which Parquet and Arrow require; write .csv",
                        String::from_utf8_lossy(text)
                    ))
                }),
                _ => Ok(None),
            }
        };
        return Ok(Arc::new(vertices.map(text).collect::<Result<StringArray>>()?));
    }
    let integer = |v: Option<VertexId>| -> Result<Option<i64>> {
        let id = v.map(|v| rows.int_id(v)).transpose()?;
        id.map(|id| {
            i64::try_from(id)
                .map_err(|_| Error::usage(format!("the vertex id {id} exceeds {}; write .csv", i64::MAX)))
        })
        .transpose()
    };
    Ok(Arc::new(vertices.map(integer).collect::<Result<Int64Array>>()?))
}
