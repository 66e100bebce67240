//! A column that says of each edge whether it is directed, as Gephi writes it.

use esker_graph::{Message, Setting, message};

/// The name of the column, in lower case.
const NAME: &str = "type";

/// What becomes of the edges by what their column says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DirectionRule {
    /// All have to be directed, or all undirected.
    Same(bool),
    /// The graph is directed: an undirected edge stands for both directions.
    BothWays,
    /// The graph is undirected: what the column says does not matter.
    Ignored,
}

/// The column of a table that says whether edges are directed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DirectionColumn {
    /// Its place, from 0.
    pub(crate) column: usize,
    /// What the first row says.
    pub(crate) first: bool,
    /// Whether a row of the sample says otherwise.
    pub(crate) is_mixed: bool,
}

/// Whether a cell says that the edge is directed; `None` if it says nothing of that.
pub(crate) fn is_directed(cell: &[u8]) -> Option<bool> {
    match cell {
        _ if cell.eq_ignore_ascii_case(b"directed") => Some(true),
        _ if cell.eq_ignore_ascii_case(b"undirected") => Some(false),
        _ => None,
    }
}

/// The column, if a table has one: all its values say whether edges are directed.
pub(crate) fn direction_column(header: &[String], rows: &[Vec<Vec<u8>>]) -> Option<DirectionColumn> {
    let column = header.iter().position(|name| name.eq_ignore_ascii_case(NAME))?;
    let given = || rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty());
    let first = is_directed(given().next()?)?;
    let told: Option<Vec<bool>> = given().map(|cell| is_directed(cell)).collect();
    told.map(|told| DirectionColumn { column, first, is_mixed: told.iter().any(|&one| one != first) })
}

/// Why a table with edges of both kinds is refused.
pub(crate) fn mixed() -> Message {
    message![
        "some edges are directed and some are not, and a graph is one or the other: with ",
        Setting::Directed.to(true),
        " an undirected edge becomes one in each direction, with ",
        Setting::Directed.to(false),
        " all directions are left out",
    ]
}
