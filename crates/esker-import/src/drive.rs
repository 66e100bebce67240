//! Drives any reader over arbitrary bytes, for tests: it must give edges or an error, and keep its word.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use esker_format::Result;

use super::open::open_inputs;
use super::read::format::{Format, ReadOptions};
use super::read::input::Input;
use super::read::source::{EdgeBatch, IdKind, Schema, integer_ids, texts};

/// What a reader gave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Driven {
    /// Edges.
    pub(crate) edges: u64,
    /// Vertices named without an edge.
    pub(crate) vertices: u64,
    /// Lines or rows left out.
    pub(crate) rejected: u64,
    /// A hash of all edges in order, which does not depend on where blocks end.
    pub(crate) hash: u64,
}

/// Reads `bytes` to the end as `format`, or as what the sniffer makes of a file called `name`.
///
/// # Errors
/// What the reader says of bytes that it does not understand.
///
/// # Panics
/// If the reader breaks its contract: columns of unequal length, ids of another kind or outside the range
/// that the schema promises, a NaN, a line rejected without a reason.
pub(crate) fn drive(
    name: &str,
    format: Option<Format>,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<Driven> {
    let options = ReadOptions { format, ..options.clone() };
    let mut opened = open_inputs(&[Input::memory(name, bytes)], &options)?;
    let parser = opened.reader.parser();
    let schema = opened.reader.schema().clone();
    assert!(schema.weight.is_none_or(|weight| weight < schema.properties.len()), "the weight is a property");
    let mut driven = Driven::default();
    while let Some(block) = opened.reader.next_block()? {
        let batch = parser.parse(block)?;
        check(&schema, &batch);
        driven.edges += batch.len() as u64;
        driven.vertices += batch.vertices.as_ref().map_or(0, arrow_array::Array::len) as u64;
        driven.rejected += batch.rejected.len() as u64;
        driven.hash = hash(driven.hash, &batch);
    }
    Ok(driven)
}

fn check(schema: &Schema, batch: &EdgeBatch) {
    let edges = batch.len();
    assert_eq!(batch.target.len(), edges, "as many targets as sources");
    assert_eq!(batch.properties.len(), schema.properties.len(), "as many columns as properties");
    for column in &batch.properties {
        if let Some(values) = column.as_primitive_opt::<Float64Type>() {
            assert!(values.iter().flatten().all(|value| !value.is_nan()), "no NaN");
        }
        assert_eq!(column.len(), edges, "as many values as edges");
    }
    for ids in [&batch.source, &batch.target].into_iter().chain(&batch.vertices) {
        match (integer_ids(ids), schema.ids) {
            (Some(ids), IdKind::Numbered { first, num_vertices }) => {
                assert!(
                    ids.iter().all(|id| *id >= first && id - first < num_vertices),
                    "ids are in their range"
                );
            }
            (Some(_), IdKind::Int) => {}
            (None, IdKind::Text) => assert!(texts(ids).is_some(), "ids are integers or texts"),
            _ => panic!("ids are of another kind than the schema promises"),
        }
    }
    assert!(
        batch.rejected.first().is_none_or(|rejected| !rejected.reason.is_empty()),
        "a reason for each line"
    );
}

fn hash(mut hash: u64, batch: &EdgeBatch) -> u64 {
    let mut mix = |value: u64| hash = (hash ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    let columns: Vec<Vec<u64>> =
        [&batch.source, &batch.target].into_iter().chain(&batch.properties).map(hashable).collect();
    for index in 0..batch.len() {
        columns.iter().for_each(|column| mix(column[index]));
    }
    hash
}

/// A word for each value. Blocks may differ in the type of a number, so integers count as floats.
fn hashable(column: &ArrayRef) -> Vec<u64> {
    if let Some(texts) = texts(column) {
        return texts.map(|text| u64::from(crc32c::crc32c(text)) << 32 | text.len() as u64).collect();
    }
    match column.data_type() {
        DataType::UInt64 => column.as_primitive::<UInt64Type>().values().to_vec(),
        DataType::Int64 => column
            .as_primitive::<Int64Type>()
            .values()
            .iter()
            .map(|&value| (value as f64).to_bits())
            .collect(),
        _ => column.as_primitive::<Float64Type>().values().iter().map(|value| value.to_bits()).collect(),
    }
}

#[cfg(test)]
mod tests;
