//! NumPy output: `.npy` version 1.0, little-endian.
//!
//! If ids are the integers `base..base + n`, `base` is 0 or 1, and the answer has one column, the array is
//! that column: element `i` is the value of the vertex with id `base + i`. Otherwise it is a structured
//! array: the field `vertex` if ids are others, or the fields `source` and `target` if rows are edges, then
//! one field per column. Fields are int64 (vertices by their ids; -1 is missing) or float64 (NaN is missing).
//! Text ids are not supported.

use std::io::Write;

use esker_import::export::OutputFile;

use super::rows::AnswerRows;
use crate::answer::{Value, Values};
use crate::error::{Error, Result};

/// Length of magic, version and header length.
const PREFIX_BYTES: usize = 10;
/// Alignment of the array in the file.
const ALIGNMENT: usize = 64;

/// # Errors
/// If ids are text.
pub(super) fn check(rows: &AnswerRows<'_>) -> Result<()> {
    if rows.ids.is_text() {
        return Err(Error::usage(
            "a NumPy array cannot store the text ids of this graph; write .csv, .parquet or .arrow"
                .to_owned(),
        ));
    }
    Ok(())
}

pub(super) fn write(rows: &AnswerRows<'_>, mut file: OutputFile) -> Result<OutputFile> {
    // An array without ids is understood only if they begin where numbers usually do.
    let with_ids = rows.dense_base().is_none_or(|base| base > 1);
    let error = file.error();
    let mut out = header(rows, with_ids);
    for chunk in rows.chunks() {
        for row in rows.range(chunk)? {
            for &v in row.keys().iter().filter(|_| with_ids) {
                out.extend_from_slice(&integer(rows.int_id(v)?)?.to_le_bytes());
            }
            for column in rows.columns {
                let bytes = match column.values.get(row.index()) {
                    Value::Missing if matches!(column.values, Values::Float(_)) => f64::NAN.to_le_bytes(),
                    // No column holds edges.
                    Value::Missing | Value::Edge(..) => (-1_i64).to_le_bytes(),
                    Value::Vertex(v) => integer(rows.int_id(v)?)?.to_le_bytes(),
                    Value::Integer(value) => value.to_le_bytes(),
                    Value::Count(value) => integer(value)?.to_le_bytes(),
                    Value::Float(value) => value.to_le_bytes(),
                };
                out.extend_from_slice(&bytes);
            }
        }
        file.write_all(&out).map_err(&error)?;
        out.clear();
    }
    file.write_all(&out).map_err(&error)?;
    Ok(file)
}

fn integer(value: u64) -> Result<i64> {
    i64::try_from(value).map_err(|_| {
        Error::usage(format!(
            "{value} is too large for a NumPy array of 64-bit integers (maximum {}); write .csv",
            i64::MAX
        ))
    })
}

fn header(rows: &AnswerRows<'_>, with_ids: bool) -> Vec<u8> {
    let kind = |values: &Values| if matches!(values, Values::Float(_)) { "<f8" } else { "<i8" };
    let description = match rows.columns {
        [column] if !with_ids => format!("'{}'", kind(&column.values)),
        columns => {
            let keys = rows.key_names().iter().filter(|_| with_ids);
            let keys = keys.map(|name| format!("('{name}', '<i8')"));
            let fields = rows.names().into_iter().zip(columns);
            let fields = fields.map(|(name, column)| format!("('{name}', '{}')", kind(&column.values)));
            let fields: Vec<_> = keys.chain(fields).collect();
            format!("[{}]", fields.join(", "))
        }
    };
    let mut text =
        format!("{{'descr': {description}, 'fortran_order': False, 'shape': ({},), }}", rows.len());
    let bytes = (PREFIX_BYTES + text.len() + 1).next_multiple_of(ALIGNMENT);
    text.push_str(&" ".repeat(bytes - PREFIX_BYTES - text.len() - 1));
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    // There are few columns, with short names from the catalogue, so the length fits 16 bits.
    header.extend_from_slice(&(text.len() as u16).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header
}
