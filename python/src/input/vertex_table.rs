//! Tables of vertices from Python: as the import reads those of files.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, PrimitiveBuilder};
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, new_empty_array};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat;
use esker::graph::Message;
use esker::import::binary::{simplified, table_in_memory};
use esker::import::open::before_edges;
use esker::import::read::source::Reader;
use esker::import::read::typed::arrow_column;
use pyo3::prelude::*;

use crate::failure::PyOutcome;
use crate::input::column::{InputColumn, same_length};
use crate::input::vectors::InputVectors;
use crate::settings::VertexTable;

/// Rows that are copied at a time.
const BATCH_ROWS: usize = 1 << 16;

/// Makes a table of vertices of a column of ids and of named columns of values: a column with a length has
/// the numbers of vectors of this length.
#[pyfunction]
pub(crate) fn vertex_table(
    py: Python<'_>,
    ids: &InputColumn,
    values: Vec<(String, Bound<'_, InputColumn>, Option<usize>)>,
) -> PyOutcome<VertexTable> {
    let mut columns = vec![(ids.what().to_owned(), Values::Scalars(ids.clone()))];
    for (name, column, len) in values {
        let column = column.get().clone();
        let values = match len {
            Some(len) => Values::Vectors(InputVectors::of(&column, len, ids.len())?, len),
            None => {
                same_length(ids, &column)?;
                Values::Scalars(column)
            }
        };
        columns.push((name, values));
    }
    let rows = ids.len();
    py.detach(|| {
        let starts = (0..rows.max(1)).step_by(BATCH_ROWS);
        let batch = |start| batch(&columns, start..rows.min(start + BATCH_ROWS));
        let batches = starts.map(batch).collect::<PyOutcome<Vec<_>>>()?;
        Ok(VertexTable { input: table_in_memory("vertices", &batches)? })
    })
}

enum Values {
    Scalars(InputColumn),
    Vectors(InputVectors, usize),
}

/// Some rows of the columns.
fn batch(columns: &[(String, Values)], rows: Range<usize>) -> PyOutcome<RecordBatch> {
    let arrays = columns
        .iter()
        .map(|(_, values)| match values {
            Values::Scalars(column) => scalars(column, rows.clone()),
            Values::Vectors(vectors, len) => vector_rows(vectors, *len, rows.clone()),
        })
        .collect::<PyOutcome<Vec<_>>>()?;
    let fields = columns.iter().zip(&arrays);
    let fields: Vec<Field> =
        fields.map(|((name, _), array)| Field::new(name, array.data_type().clone(), true)).collect();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

/// Some rows of a column, of the type that its values stand for.
fn scalars(column: &InputColumn, rows: Range<usize>) -> PyOutcome<ArrayRef> {
    let pieces =
        column.pieces(rows).map(|(_, piece)| typed(column, &piece)).collect::<PyOutcome<Vec<_>>>()?;
    let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
    match pieces.as_slice() {
        [] => match column.chunks.first() {
            Some(chunk) => typed(column, &chunk.slice(0, 0)),
            None => Ok(new_empty_array(&DataType::Int64)),
        },
        several => Ok(concat(several)?),
    }
}

/// Integers that stand for something else as an array of that type; other arrays as they are.
fn typed(column: &InputColumn, piece: &ArrayRef) -> PyOutcome<ArrayRef> {
    match column.logical().filter(|_| piece.data_type().is_integer()) {
        Some(logical) => Ok(arrow_column(logical, &simplified(piece)?)),
        None => Ok(Arc::clone(piece)),
    }
}

/// Some rows of vectors; one of NaN alone is missing.
fn vector_rows(vectors: &InputVectors, len: usize, rows: Range<usize>) -> PyOutcome<ArrayRef> {
    macro_rules! built {
        ($arrow:ty, $float:ty) => {{
            let numbers = PrimitiveBuilder::<$arrow>::new();
            let mut lists = FixedSizeListBuilder::new(numbers, len as i32);
            for row in rows {
                let vector = vectors.get(row)?;
                match &vector {
                    Some(vector) => {
                        vector.numbers().for_each(|one| lists.values().append_value(one as $float))
                    }
                    None => (0..len).for_each(|_| lists.values().append_null()),
                }
                lists.append(vector.is_some());
            }
            Arc::new(lists.finish()) as ArrayRef
        }};
    }
    Ok(if vectors.is_wide() { built!(Float64Type, f64) } else { built!(Float32Type, f32) })
}

/// Puts the vertices of a table, if there is one, before edges, and tells what is not read of it.
/// `of_database`: the edges are those of a database, whose integer ids can become texts.
pub(crate) fn beside(
    table: Option<&VertexTable>,
    edges: Box<dyn Reader>,
    of_database: bool,
) -> PyOutcome<(Box<dyn Reader>, Vec<Message>)> {
    match table {
        Some(table) => Ok(before_edges(&table.input, edges, of_database)?),
        None => Ok((edges, Vec::new())),
    }
}
