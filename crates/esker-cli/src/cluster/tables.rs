//! Answers of a cluster as Arrow: ids are 64-bit integers or texts, counts unsigned 64-bit integers, and what
//! has no value is null.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use esker::graph::{Operation, message};
use esker::store::ErrorKind;
use esker_cluster::model::answer::{Cell, ColumnKind, OwnedId, VertexRow};

use crate::failure::{Failure, Outcome};
use crate::interrupt;

/// Rows of a batch.
const BATCH_LEN: usize = 1 << 16;
/// The key of the metadata that says what the answer is, as JSON.
const ABOUT: &str = "esker";

/// The columns of a table: `vertex`, and those of the answer.
pub(super) struct ArrowTable {
    schema: Arc<Schema>,
    kinds: Vec<ColumnKind>,
    text_ids: bool,
}

impl ArrowTable {
    pub(super) fn new(columns: &[(String, ColumnKind)], text_ids: bool, about: &str) -> Self {
        let id = if text_ids { DataType::Utf8 } else { DataType::Int64 };
        let of_column = |(name, kind): &(String, ColumnKind)| {
            let kind = match kind {
                ColumnKind::Count => DataType::UInt64,
                ColumnKind::Float => DataType::Float64,
                ColumnKind::Id => id.clone(),
            };
            Field::new(name, kind, true)
        };
        let vertex = Field::new("vertex", id.clone(), false);
        let fields: Vec<Field> = std::iter::once(vertex).chain(columns.iter().map(of_column)).collect();
        let metadata = HashMap::from([(ABOUT.to_owned(), about.to_owned())]);
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        Self { schema, kinds: columns.iter().map(|(_, kind)| *kind).collect(), text_ids }
    }

    fn batch(&self, rows: &[&VertexRow]) -> Result<RecordBatch, Failure> {
        let mut arrays = vec![ids(self.text_ids, rows.iter().map(|(id, _)| Some(id)))?];
        for (place, kind) in self.kinds.iter().enumerate() {
            let cells = rows.iter().map(|(_, cells)| &cells[place]);
            arrays.push(match kind {
                ColumnKind::Count => Arc::new(cells.map(count_of).collect::<UInt64Array>()) as ArrayRef,
                ColumnKind::Float => Arc::new(cells.map(float_of).collect::<Float64Array>()),
                ColumnKind::Id => ids(self.text_ids, cells.map(id_of))?,
            });
        }
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(failed)
    }

    /// Writes rows as an Arrow file.
    pub(super) fn write(&self, out: &mut dyn Write, rows: &[&VertexRow]) -> Outcome {
        let mut writer = FileWriter::try_new(&mut *out, &self.schema).map_err(failed)?;
        for chunk in rows.chunks(BATCH_LEN) {
            interrupt::check()?;
            writer.write(&self.batch(chunk)?).map_err(failed)?;
        }
        writer.finish().map_err(failed)?;
        drop(writer);
        Ok(out.flush()?)
    }
}

/// An Arrow stream on standard output, with a batch for each version.
pub(super) struct ArrowStream {
    table: ArrowTable,
    writer: StreamWriter<std::io::Stdout>,
}

impl ArrowStream {
    pub(super) fn begin(table: ArrowTable) -> Result<Self, Failure> {
        let writer = StreamWriter::try_new(std::io::stdout(), &table.schema).map_err(failed)?;
        Ok(Self { table, writer })
    }

    /// Writes the rows of a version at once.
    pub(super) fn write(&mut self, rows: &[VertexRow]) -> Outcome {
        let rows: Vec<&VertexRow> = rows.iter().collect();
        self.writer.write(&self.table.batch(&rows)?).map_err(failed)?;
        self.writer.flush().map_err(failed)
    }

    pub(super) fn finish(&mut self) -> Outcome {
        self.writer.finish().map_err(failed)
    }
}

fn count_of(cell: &Cell) -> Option<u64> {
    if let Cell::Count(count) = cell { Some(*count) } else { None }
}

fn float_of(cell: &Cell) -> Option<f64> {
    if let Cell::Float(number) = cell { Some(*number) } else { None }
}

fn id_of(cell: &Cell) -> Option<&OwnedId> {
    if let Cell::Id(id) = cell { Some(id) } else { None }
}

fn ids<'a>(text_ids: bool, ids: impl Iterator<Item = Option<&'a OwnedId>>) -> Result<ArrayRef, Failure> {
    let refused = |id: String, why: String| {
        let elsewhere = "; CSV holds all ids, and so does the answer of a database that ";
        let made =
            message![format!("the vertex id {id} {why}{elsewhere}"), Operation::ClusterMerge, " makes"];
        Failure::of(ErrorKind::Unsuitable, made)
    };
    if text_ids {
        let text = |id: Option<&'a OwnedId>| match id {
            Some(OwnedId::Text(text)) => std::str::from_utf8(text).map(Some).map_err(|_| {
                let why = "is not UTF-8, as texts of Arrow have to be".to_owned();
                refused(format!("{:?}", String::from_utf8_lossy(text)), why)
            }),
            _ => Ok(None),
        };
        return Ok(Arc::new(ids.map(text).collect::<Result<StringArray, Failure>>()?));
    }
    let integer = |id: Option<&OwnedId>| match id {
        Some(OwnedId::Int(id)) => i64::try_from(*id).map(Some).map_err(|_| {
            refused(id.to_string(), format!("exceeds {}, the greatest integer of the column", i64::MAX))
        }),
        _ => Ok(None),
    };
    Ok(Arc::new(ids.map(integer).collect::<Result<Int64Array, Failure>>()?))
}

fn failed(error: ArrowError) -> Failure {
    match error {
        ArrowError::IoError(_, error) => error.into(),
        other => Failure::Failed(format!("cannot write the answer as Arrow: {other}")),
    }
}
