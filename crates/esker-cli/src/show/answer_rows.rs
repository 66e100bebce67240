//! The rows of an answer, with external ids.

use esker::answer::{Answer, AnswerColumn, Fact, Value};
use esker::store::Version;
use esker::store::ids::ExternalId;
use esker::top::{TopVertex, top};
use serde_json::json;

use crate::failure::Failure;
use crate::interrupt;
use crate::show::rows::{RowFormat, RowTable};

/// The first `count` rows of an answer by rank, or its largest groups; without a count, all of its rows in
/// order. The figures are the row of an answer that has no others.
pub(crate) fn answer_rows(
    version: &Version,
    answer: &Answer,
    count: Option<usize>,
    format: RowFormat,
) -> Result<RowTable, Failure> {
    match (answer.columns.first(), count) {
        (None, _) if answer.edges.is_none() => Ok(figures(answer, format)),
        (Some(_), Some(count)) => {
            ranked_rows(version, answer, &top(answer, count, interrupt::token())?, format)
        }
        (column, count) => {
            let edges = answer.edges.as_ref().map(Vec::len);
            let length = edges.or(column.map(|column| column.values.len())).unwrap_or(0);
            rows(version, answer, 0..length.min(count.unwrap_or(length)), format)
        }
    }
}

/// What readers see of a figure that has no value on this graph; programs get null.
pub(crate) const UNDEFINED: &str = "undefined";

/// A figure as the cell of a table.
pub(crate) fn figure_cell(fact: &Fact, format: RowFormat) -> serde_json::Value {
    match fact {
        Fact::Float(value) if value.is_nan() && format == RowFormat::Table => json!(UNDEFINED),
        fact => fact_json(fact),
    }
}

fn figures(answer: &Answer, format: RowFormat) -> RowTable {
    let mut rows = RowTable::of(answer.facts.iter().map(|(name, _)| *name));
    rows.push(answer.facts.iter().map(|(_, fact)| figure_cell(fact, format)).collect());
    rows
}

/// Rows that were ranked, or groups.
pub(crate) fn ranked_rows(
    version: &Version,
    answer: &Answer,
    ranked: &[TopVertex],
    format: RowFormat,
) -> Result<RowTable, Failure> {
    match answer.columns.first() {
        Some(column) if column.ranking.is_of_groups() && answer.edges.is_none() => {
            groups(version, column, ranked)
        }
        _ => rows(version, answer, ranked.iter().filter_map(|ranked| ranked.row), format),
    }
}

fn groups(version: &Version, column: &AnswerColumn, ranked: &[TopVertex]) -> Result<RowTable, Failure> {
    let mut rows = RowTable::of([column.name, "vertices"]);
    for ranked in ranked {
        interrupt::check()?;
        rows.push(vec![value_json(version, ranked.key)?, value_json(version, ranked.value)?]);
    }
    Ok(rows)
}

/// Some rows. In forms for programs a single column is called `value`, as in files.
fn rows(
    version: &Version,
    answer: &Answer,
    numbers: impl Iterator<Item = usize>,
    format: RowFormat,
) -> Result<RowTable, Failure> {
    let keys: &[&str] = if answer.edges.is_some() { &["source", "target"] } else { &["vertex"] };
    let is_single = format != RowFormat::Table && answer.edges.is_none() && answer.columns.len() == 1;
    let name = |column: &AnswerColumn| if is_single { "value" } else { column.name };
    let mut rows = RowTable::of(keys.iter().copied().chain(answer.columns.iter().map(name)));
    for number in numbers {
        interrupt::check()?;
        let mut values = match answer.key(number) {
            Value::Edge(u, v) => {
                vec![value_json(version, Value::Vertex(u))?, value_json(version, Value::Vertex(v))?]
            }
            key => vec![value_json(version, key)?],
        };
        for column in &answer.columns {
            values.push(value_json(version, column.values.get(number))?);
        }
        rows.push(values);
    }
    Ok(rows)
}

/// A fact as JSON.
pub(crate) fn fact_json(fact: &Fact) -> serde_json::Value {
    match fact {
        Fact::Count(value) => json!(value),
        Fact::Float(value) => json!(value),
        Fact::Flag(value) => json!(value),
    }
}

/// A value as JSON, with external ids.
pub(crate) fn value_json(version: &Version, value: Value) -> Result<serde_json::Value, Failure> {
    Ok(match value {
        Value::Missing => serde_json::Value::Null,
        Value::Vertex(v) => match version.ids().external_of(v)? {
            ExternalId::Int(id) => json!(id),
            text => json!(text.to_string()),
        },
        Value::Edge(u, v) => {
            json!([value_json(version, Value::Vertex(u))?, value_json(version, Value::Vertex(v))?])
        }
        Value::Integer(value) => json!(value),
        Value::Count(value) => json!(value),
        Value::Float(value) => json!(value),
    })
}
