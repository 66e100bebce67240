//! The columns of the rows that alerts are about, and their types.

use esker_store::ids::{ExternalId, IdMap};
use serde_json::json;

use crate::answer::{Fact, Value};
use crate::catalogue::Entry;
use crate::error::Result;
use crate::selection::{CellType, RowColumn};

/// The column with the number of vertices of a group, and its other name.
pub(super) const SIZE: &str = "vertices";
pub(super) const SIZE_ALIAS: &str = "size";
/// The other name of a key, and of the only column.
const ID_ALIAS: &str = "id";
const VALUE_ALIAS: &str = "value";

/// Columns whose values are vertices: parents, mates, and groups that a vertex names.
const VERTEX_COLUMNS: [&str; 7] = ["parent", "mate", "owner", "component", "community", "cluster", "block"];
/// Columns whose values are integers, whatever the weights are.
const INTEGER_COLUMNS: [&str; 8] =
    ["depth", "degree", "coreness", "trussness", "colour", "member", "source_side", "articulation_point"];

/// Columns whose values are labels of groups.
const GROUP_COLUMNS: [&str; 5] = ["component", "community", "cluster", "block", "colour"];

/// Whether the values of an algorithm are labels of groups.
pub(super) fn is_of_groups(entry: &Entry) -> bool {
    entry.columns.first().is_some_and(|name| GROUP_COLUMNS.contains(name))
}

/// What a column of an answer holds. `ids`: what ids are.
pub(super) fn cells_of(column: &str, ids: CellType) -> CellType {
    if VERTEX_COLUMNS.contains(&column) {
        ids
    } else if INTEGER_COLUMNS.contains(&column) {
        CellType::Integer
    } else {
        CellType::Number
    }
}

/// What ids are.
pub(super) fn id_cells(ids: &IdMap) -> CellType {
    if ids.is_text() { CellType::Text } else { CellType::Integer }
}

/// Which rows alerts are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowsOf {
    Vertices,
    Edges,
    Groups,
    /// One row, of the figures.
    Figures,
}

/// The columns of rows, the keys first, and their other names.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) rows_of: RowsOf,
    pub(super) columns: Vec<RowColumn>,
    pub(super) aliases: Vec<(&'static str, usize)>,
    pub(super) num_keys: usize,
}

impl Columns {
    /// The columns of vertices, edges or figures; those of groups, if `sizes` are asked about. `count`: so
    /// many columns of the answer are there.
    pub(super) fn of(entry: &Entry, count: usize, ids: CellType, sizes: bool) -> Self {
        let column = |name: &'static str| RowColumn { name, cells: cells_of(name, ids) };
        let key = |name| RowColumn { name, cells: ids };
        let names = &entry.columns[..count.min(entry.columns.len())];
        let (rows_of, keys, values): (_, Vec<_>, Vec<_>) = if !entry.has_rows() {
            let figure = |&name: &&'static str| RowColumn { name, cells: CellType::Number };
            (RowsOf::Figures, Vec::new(), entry.figures.iter().map(figure).collect())
        } else if entry.edges {
            (
                RowsOf::Edges,
                vec![key("source"), key("target")],
                names.iter().map(|&name| column(name)).collect(),
            )
        } else if sizes {
            let size = RowColumn { name: SIZE, cells: CellType::Integer };
            (RowsOf::Groups, names.first().map(|&name| column(name)).into_iter().collect(), vec![size])
        } else {
            (RowsOf::Vertices, vec![key("vertex")], names.iter().map(|&name| column(name)).collect())
        };
        let mut aliases = Vec::new();
        if keys.len() == 1 {
            aliases.push((ID_ALIAS, 0));
        }
        match rows_of {
            RowsOf::Groups => aliases.push((SIZE_ALIAS, 1)),
            RowsOf::Vertices | RowsOf::Edges if !values.is_empty() => aliases.push((VALUE_ALIAS, keys.len())),
            RowsOf::Vertices | RowsOf::Edges | RowsOf::Figures => {}
        }
        let num_keys = keys.len();
        Self { rows_of, columns: keys.into_iter().chain(values).collect(), aliases, num_keys }
    }
}

/// A value as a cell, with external ids.
pub(super) fn cell(value: Value, ids: &IdMap) -> Result<serde_json::Value> {
    Ok(match value {
        Value::Missing => serde_json::Value::Null,
        Value::Vertex(v) => match ids.external_of(v)? {
            ExternalId::Int(id) => json!(id),
            text => json!(text.to_string()),
        },
        Value::Edge(u, v) => json!([cell(Value::Vertex(u), ids)?, cell(Value::Vertex(v), ids)?]),
        Value::Integer(value) => json!(value),
        Value::Count(value) => json!(value),
        Value::Float(value) => json!(value),
    })
}

/// A figure as a cell: 1 and 0 stand for yes and no.
pub(super) fn fact_cell(fact: &Fact) -> serde_json::Value {
    match fact {
        Fact::Count(value) => json!(value),
        Fact::Float(value) => json!(value),
        Fact::Flag(value) => json!(u64::from(*value)),
    }
}
