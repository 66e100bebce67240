//! Rows of answers on standard output: as a table for people, or in a form for programs.

use std::borrow::Cow;

use clap::ValueEnum;
use serde_json::{Map, Value};

use crate::failure::Outcome;
use crate::text;

/// `--format`: the form of rows on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum RowFormat {
    /// Aligned columns, for people.
    #[default]
    Table,
    /// Comma-separated values with a header.
    Csv,
    /// One array of objects.
    Json,
    /// An object a line.
    Jsonl,
}

/// Columns of equal length.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    header: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Rows {
    /// No rows yet, of columns with these names.
    pub(crate) fn of<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row with a value for each column.
    pub(crate) fn push(&mut self, row: Vec<Value>) {
        debug_assert_eq!(row.len(), self.header.len());
        self.rows.push(row);
    }

    /// Prints all rows on standard output.
    pub(crate) fn print(&self, format: RowFormat) -> Outcome {
        match format {
            RowFormat::Table => self.print_table(),
            RowFormat::Csv => {
                text::print(&fields(self.header.iter().map(|name| Cow::Borrowed(name.as_str()))))?;
                self.rows.iter().try_for_each(|row| text::print(&fields(row.iter().map(field))))
            }
            RowFormat::Json => {
                text::json(&self.rows.iter().map(|row| self.object(row)).collect::<Vec<_>>().into())
            }
            RowFormat::Jsonl => {
                self.rows.iter().try_for_each(|row| text::print(&self.object(row).to_string()))
            }
        }
    }

    fn object(&self, row: &[Value]) -> Value {
        self.header.iter().cloned().zip(row.iter().cloned()).collect::<Map<_, _>>().into()
    }

    fn print_table(&self) -> Outcome {
        let shown =
            |row: &Vec<Value>| row.iter().map(|value| text::cell(&field(value)).into_owned()).collect();
        let lines: Vec<Vec<String>> =
            std::iter::once(self.header.clone()).chain(self.rows.iter().map(shown)).collect();
        let is_number =
            |column: usize| self.rows.iter().all(|row| row[column].is_number() || row[column].is_null());
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let columns: Vec<(usize, bool)> = (0..self.header.len()).map(|i| (width(i), is_number(i))).collect();
        for line in &lines {
            let cells = line.iter().zip(&columns).map(|(cell, &(width, is_number))| {
                if is_number { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
            });
            text::print(cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// A value as text; nothing for a missing one.
fn field(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Joins fields with commas, quoted where they need it.
fn fields<'a>(fields: impl Iterator<Item = Cow<'a, str>>) -> String {
    let quoted = |field: Cow<'a, str>| match field.contains([',', '"', '\n', '\r']) {
        true => Cow::Owned(format!("\"{}\"", field.replace('"', "\"\""))),
        false => field,
    };
    fields.map(quoted).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_csv_are_quoted_where_they_need_it() {
        let row = ["a", "b,c", "say \"x\"", "", "1.5"];
        assert_eq!(fields(row.into_iter().map(Cow::Borrowed)), "a,\"b,c\",\"say \"\"x\"\"\",,1.5");
    }
}
