//! What a table function is.

use crate::columns::{ColumnType, TableColumn};

/// The type of a named argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentType {
    Text,
    Flag,
}

/// A named argument.
#[derive(Debug, Clone)]
pub(crate) struct NamedArgument {
    pub(crate) name: String,
    pub(crate) kind: ArgumentType,
}

/// The arguments of a call, all as texts; flags are `true` or `false`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// Those without a name, in order.
    pub(crate) positional: Vec<String>,
    /// Names and values of those that were given.
    pub(crate) named: Vec<(String, String)>,
}

impl Given {
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.named.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }
}

/// Rows that DuckDB takes at a time, each of some columns.
pub(crate) trait Rows {
    /// Puts the next rows into columns, at most `room`, and returns their number; 0 at the end. `columns`
    /// holds the number of each column that is asked for, in the order of `into`.
    fn next(&mut self, room: usize, columns: &[usize], into: &mut [TableColumn<'_>])
    -> Result<usize, String>;
}

/// A table function: `bind` sees the arguments and names the columns, `scan` begins to read.
pub(crate) trait Table: Send + Sync + Sized + 'static {
    /// What the threads of one scan share.
    type Scan: Send + Sync + 'static;
    /// What one thread of a scan has.
    type Part: Rows + Send + 'static;

    /// Its name in SQL.
    const NAME: &'static str;
    /// Arguments without a name; all are texts.
    const POSITIONAL: usize;
    /// Threads that may read at a time.
    const THREADS: u64;

    fn named() -> Vec<NamedArgument>;

    fn bind(given: &Given) -> Result<Self, String>;

    /// Names and types of the columns.
    fn columns(&self) -> Vec<(String, ColumnType)>;

    /// Rows, about; for the planner.
    fn rows(&self) -> u64;

    fn scan(&self) -> Result<Self::Scan, String>;

    fn part(&self, scan: &std::sync::Arc<Self::Scan>) -> Self::Part;
}
