//! What the tests of all readers share: read an input in memory to its end, as words.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_schema::DataType;
use esker_format::Result;

use crate::open::open_inputs;
use crate::read::format::ReadOptions;
use crate::read::input::Input;
use crate::read::source::{EdgeBatch, Schema, texts};

/// Everything that a reader gave.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReadResult {
    pub(crate) schema: Schema,
    /// Source, target, property values.
    pub(crate) edges: Vec<Vec<String>>,
    pub(crate) vertices: Vec<String>,
    /// `line: text: reason`.
    pub(crate) rejected: Vec<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) input_bytes: u64,
    pub(crate) blocks: usize,
}

impl ReadResult {
    /// Edges as `source target properties`, one a string.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.edges.iter().map(|edge| edge.join(" ")).collect()
    }
}

pub(crate) fn read(inputs: &[Input], options: &ReadOptions) -> Result<ReadResult> {
    let mut opened = open_inputs(inputs, options)?;
    let parser = opened.reader.parser();
    let mut read = ReadResult {
        schema: opened.reader.schema().clone(),
        edges: Vec::new(),
        vertices: Vec::new(),
        rejected: Vec::new(),
        notes: opened.notes.iter().map(ToString::to_string).collect(),
        input_bytes: 0,
        blocks: 0,
    };
    while let Some(block) = opened.reader.next_block()? {
        let expected = block.input_bytes;
        let batch = parser.parse(block)?;
        assert_eq!(batch.input_bytes, expected);
        read.blocks += 1;
        take(&mut read, &batch);
    }
    Ok(read)
}

/// One input, by name and text.
pub(crate) fn read_text(name: &str, text: &str, options: &ReadOptions) -> Result<ReadResult> {
    read(&[Input::memory(name, text.as_bytes())], options)
}

fn take(read: &mut ReadResult, batch: &EdgeBatch) {
    let (sources, targets) = (shown(&batch.source), shown(&batch.target));
    assert_eq!(sources.len(), targets.len());
    assert_eq!(batch.properties.len(), read.schema.properties.len());
    let columns: Vec<_> = batch.properties.iter().map(shown).collect();
    assert!(columns.iter().all(|column| column.len() == sources.len()));
    for (index, (source, target)) in sources.into_iter().zip(targets).enumerate() {
        let mut edge = vec![source, target];
        edge.extend(columns.iter().map(|column| column[index].clone()));
        read.edges.push(edge);
    }
    read.vertices.extend(batch.vertices.iter().flat_map(shown));
    for rejected in &batch.rejected {
        read.rejected.push(format!(
            "{}: {:?}: {}",
            rejected.line,
            rejected.text.to_string(),
            rejected.reason
        ));
    }
    read.input_bytes += batch.input_bytes;
}

/// The ids or values of a column as users write them.
pub(crate) fn shown(column: &ArrayRef) -> Vec<String> {
    match column.data_type() {
        DataType::UInt64 => column.as_primitive::<UInt64Type>().values().iter().map(u64::to_string).collect(),
        DataType::Int64 => column.as_primitive::<Int64Type>().values().iter().map(i64::to_string).collect(),
        DataType::Float64 => {
            column.as_primitive::<Float64Type>().values().iter().map(f64::to_string).collect()
        }
        _ => texts(column).unwrap().map(|text| String::from_utf8_lossy(text).into_owned()).collect(),
    }
}
