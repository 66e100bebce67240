//! What is known of the columns of a table, and what is found in them.

use super::kinds::ValueKind;
use super::pairs::EdgeEnds;

/// What is known of a column.
#[derive(Debug, Clone, Default)]
pub(crate) struct ColumnSample<'a> {
    /// Its name, if a header gives one.
    pub(crate) name: Option<&'a str>,
    /// What it holds.
    pub(crate) kind: Option<ValueKind>,
    /// Its first values in the order of rows; none if nothing but the kind is known.
    pub(crate) values: Vec<&'a [u8]>,
}

impl ColumnSample<'_> {
    pub(super) fn kind(&self) -> ValueKind {
        self.kind.unwrap_or(ValueKind::Unknown)
    }
}

/// What the caller knows of the ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct GivenEnds {
    /// The column that is named as the source.
    pub(crate) source: Option<usize>,
    /// The column that is named as the target.
    pub(crate) target: Option<usize>,
    /// Columns that are named as something else.
    pub(crate) others: Vec<usize>,
}

/// The ends, or what they may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FoundEnds {
    /// No doubt is left.
    Sure(EdgeEnds),
    /// They have to be named. The likely ones, best first; perhaps none.
    Unsure(Vec<EdgeEnds>),
}
