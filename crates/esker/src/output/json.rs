//! JSON output: an array of objects, or an object a line. A missing value is null.

use std::io::Write;

use esker_import::export::OutputFile;
use esker_store::ids::ExternalId;
use serde_json::{Map, Value as Json, json};

use super::rows::{AnswerRows, Row, RowFile, StepColumn, StepValue};
use crate::answer::Value;
use crate::error::Result;

/// The rows of answers as objects.
pub(super) struct JsonRows {
    file: OutputFile,
    /// Whether they are the elements of one array.
    is_array: bool,
    has_rows: bool,
}

impl JsonRows {
    pub(super) fn begin(file: OutputFile, is_array: bool) -> Self {
        Self { file, is_array, has_rows: false }
    }
}

impl RowFile for JsonRows {
    fn add(&mut self, rows: &AnswerRows<'_>) -> Result<()> {
        let error = self.file.error();
        let mut out = Vec::new();
        for chunk in rows.chunks() {
            for row in rows.range(chunk)? {
                if self.is_array {
                    out.extend_from_slice(if self.has_rows { b",\n" } else { b"[\n" });
                }
                self.has_rows = true;
                out.extend_from_slice(object(rows, &row)?.to_string().as_bytes());
                if !self.is_array {
                    out.push(b'\n');
                }
            }
            self.file.write_all(&out).map_err(&error)?;
            out.clear();
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<OutputFile> {
        let end: &[u8] = match (self.is_array, self.has_rows) {
            (true, true) => b"\n]\n",
            (true, false) => b"[]\n",
            (false, _) => b"",
        };
        let error = self.file.error();
        self.file.write_all(end).map_err(error)?;
        Ok(self.file)
    }
}

fn object(rows: &AnswerRows<'_>, row: &Row) -> Result<Json> {
    let mut object = Map::new();
    for step in rows.steps {
        object.insert(step.name.to_owned(), step_json(step));
    }
    for (name, &v) in rows.key_names().iter().zip(row.keys()) {
        object.insert((*name).to_owned(), value_json(rows, Value::Vertex(v))?);
    }
    for (name, column) in rows.names().into_iter().zip(rows.columns) {
        object.insert(name.to_owned(), value_json(rows, column.values.get(row.index()))?);
    }
    Ok(Json::Object(object))
}

fn step_json(step: &StepColumn) -> Json {
    match &step.value {
        StepValue::Text(text) | StepValue::Time(_, _, text) => json!(text),
        StepValue::Number(number) => json!(number),
    }
}

fn value_json(rows: &AnswerRows<'_>, value: Value) -> Result<Json> {
    Ok(match value {
        Value::Missing => Json::Null,
        Value::Vertex(v) => match rows.ids.external_of(v)? {
            ExternalId::Int(id) => json!(id),
            text => json!(text.to_string()),
        },
        Value::Edge(u, v) => {
            json!([value_json(rows, Value::Vertex(u))?, value_json(rows, Value::Vertex(v))?])
        }
        Value::Integer(value) => json!(value),
        Value::Count(value) => json!(value),
        Value::Float(value) => json!(value),
    })
}
