//! What is asked of groups.

use super::keys::GroupKey;
use super::measures::Measure;
use super::table::GroupOrder;
use crate::error::{Error, Result};
use crate::window::Span;

impl GroupQuery {
    /// Refuses a key or a measure that is asked for twice.
    pub(crate) fn expect_each_once(&self) -> Result<()> {
        let keys: Vec<String> = self.by.iter().map(GroupKey::to_string).collect();
        let measures = self.measures.iter().map(Measure::column).collect();
        for mut names in [keys, measures] {
            names.sort_unstable();
            if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
                let name = &pair[0];
                return Err(Error::usage(format!(
                    "the column {name:?} would be there twice: ask for it once"
                )));
            }
        }
        Ok(())
    }
}

/// What is asked of groups.
#[derive(Debug, Clone, Default)]
pub struct GroupQuery {
    /// What rows of a group have in common, four at most with steps; none: all rows are one group.
    pub by: Vec<GroupKey>,
    /// Edges are also grouped by steps of this length, in the order of time.
    pub every: Option<Span>,
    /// What is computed of a group.
    pub measures: Vec<Measure>,
    /// In which order groups come, and how many.
    pub order: GroupOrder,
}
