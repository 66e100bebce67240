//! CSV output: a header, then one line per vertex or edge. Fields are quoted only if necessary; numbers are
//! written in the shortest form that reads back as the same number.

use std::io::Write;

use esker_graph::VertexId;
use esker_import::export::{OutputFile, push_quoted};
use esker_store::format::value::digits::{push_decimal, push_i64, push_u64};
use esker_store::ids::ExternalId;

use super::rows::{AnswerRows, RowFile};
use crate::answer::Value;
use crate::error::Result;

/// The rows of answers, below one header.
pub(super) struct CsvRows(OutputFile);

impl CsvRows {
    /// Begins a file whose columns are those of these rows.
    pub(super) fn begin(mut file: OutputFile, rows: &AnswerRows<'_>) -> Result<Self> {
        let error = file.error();
        file.write_all(format!("{}\n", rows.header().join(",")).as_bytes()).map_err(error)?;
        Ok(Self(file))
    }
}

impl RowFile for CsvRows {
    fn add(&mut self, rows: &AnswerRows<'_>) -> Result<()> {
        let Self(file) = self;
        let error = file.error();
        let mut steps = Vec::new();
        for step in rows.steps {
            quote(step.text().as_bytes(), &mut steps);
            steps.push(b',');
        }
        let mut out = Vec::new();
        for chunk in rows.chunks() {
            for row in rows.range(chunk)? {
                out.extend_from_slice(&steps);
                for &v in row.keys() {
                    write_id(rows, v, &mut out)?;
                    out.push(b',');
                }
                for column in rows.columns {
                    write_value(rows, column.values.get(row.index()), &mut out)?;
                    out.push(b',');
                }
                // Replaces the last comma.
                out.pop();
                out.push(b'\n');
            }
            file.write_all(&out).map_err(&error)?;
            out.clear();
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<OutputFile> {
        Ok(self.0)
    }
}

fn write_value(rows: &AnswerRows<'_>, value: Value, out: &mut Vec<u8>) -> Result<()> {
    match value {
        Value::Missing => {}
        Value::Vertex(v) => write_id(rows, v, out)?,
        Value::Edge(u, v) => {
            write_id(rows, u, out)?;
            out.push(b' ');
            write_id(rows, v, out)?;
        }
        Value::Integer(value) => push_i64(out, value),
        Value::Count(value) => push_u64(out, value),
        Value::Float(value) => push_float(out, value),
    }
    Ok(())
}

/// Appends a float, with an exponent if it is very small or very large.
fn push_float(out: &mut Vec<u8>, value: f64) {
    if value != 0.0 && !(1e-5..1e16).contains(&value.abs()) {
        write!(out, "{value:e}").expect("writing to a vector does not fail");
    } else {
        push_decimal(out, value);
    }
}

fn write_id(rows: &AnswerRows<'_>, v: VertexId, out: &mut Vec<u8>) -> Result<()> {
    match rows.ids.external_of(v)? {
        ExternalId::Int(id) => push_u64(out, id),
        ExternalId::Text(text) => quote(text, out),
    }
    Ok(())
}

pub(super) fn quote(text: &[u8], out: &mut Vec<u8>) {
    push_quoted(out, text, b',');
}
