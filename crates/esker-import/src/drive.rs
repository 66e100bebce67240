//! Drives any reader over arbitrary bytes, for fuzzers and tests: it must give edges or an error, and keep its word.

use esker_format::Result;

use super::format::{Format, ReadOptions};
use super::input::Input;
use super::open::open_inputs;
use super::source::{Batch, IdColumn, IdKind, Schema, ValueColumn};

/// What a reader gave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Driven {
    /// Edges.
    pub edges: u64,
    /// Vertices named without an edge.
    pub vertices: u64,
    /// Lines or rows left out.
    pub rejected: u64,
    /// A hash of all edges in order, which does not depend on where blocks end.
    pub hash: u64,
}

/// Reads `bytes` to the end as `format`, or as what the sniffer makes of a file called `name`.
///
/// # Errors
/// What the reader says of bytes that it does not understand.
///
/// # Panics
/// If the reader breaks its contract: columns of unequal length, ids of another kind or outside the range that the
/// schema promises, a NaN, a line rejected without a reason. A fuzzer takes that for a find.
pub fn drive(name: &str, format: Option<Format>, bytes: &[u8], options: &ReadOptions) -> Result<Driven> {
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
        driven.vertices += batch.vertices.as_ref().map_or(0, length) as u64;
        driven.rejected += batch.rejected.len() as u64;
        driven.hash = hash(driven.hash, &batch);
    }
    Ok(driven)
}

fn length(ids: &IdColumn) -> usize {
    match ids {
        IdColumn::Int(ids) => ids.len(),
        IdColumn::Text(ids) => ids.len(),
    }
}

fn check(schema: &Schema, batch: &Batch) {
    let edges = batch.len();
    assert_eq!(length(&batch.target), edges, "as many targets as sources");
    assert_eq!(batch.properties.len(), schema.properties.len(), "as many columns as properties");
    for column in &batch.properties {
        let values = match column {
            ValueColumn::Int(values) => values.len(),
            ValueColumn::Float(values) => {
                assert!(values.iter().all(|value| !value.is_nan()), "no NaN");
                values.len()
            }
            ValueColumn::Text(texts) => texts.len(),
        };
        assert_eq!(values, edges, "as many values as edges");
    }
    for ids in [&batch.source, &batch.target].into_iter().chain(&batch.vertices) {
        match (ids, schema.ids) {
            (IdColumn::Int(ids), IdKind::Numbered { first, num_vertices }) => {
                assert!(
                    ids.iter().all(|id| *id >= first && id - first < num_vertices),
                    "ids are in their range"
                );
            }
            (IdColumn::Int(_), IdKind::Int) | (IdColumn::Text(_), IdKind::Text) => {}
            _ => panic!("ids are of another kind than the schema promises"),
        }
    }
    assert!(
        batch.rejected.first().is_none_or(|rejected| !rejected.reason.is_empty()),
        "a reason for each line"
    );
}

fn hash(mut hash: u64, batch: &Batch) -> u64 {
    let mut mix = |value: u64| hash = (hash ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    let text = |text: &[u8]| u64::from(crc32c::crc32c(text)) << 32 | text.len() as u64;
    for index in 0..batch.len() {
        for ids in [&batch.source, &batch.target] {
            mix(match ids {
                IdColumn::Int(ids) => ids[index],
                IdColumn::Text(ids) => text(ids.get(index)),
            });
        }
        for column in &batch.properties {
            mix(match column {
                // Blocks may differ in the type of a number, so integers count as floats.
                ValueColumn::Int(values) => (values[index] as f64).to_bits(),
                ValueColumn::Float(values) => values[index].to_bits(),
                ValueColumn::Text(texts) => text(texts.get(index)),
            });
        }
    }
    hash
}

#[cfg(test)]
mod tests;
