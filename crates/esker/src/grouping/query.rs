//! What is asked of groups.

use super::keys::GroupKey;
use super::measures::Measure;
use super::table::GroupOrder;
use crate::window::Span;

/// What is asked of groups.
#[derive(Debug, Clone, Default)]
pub struct GroupQuery {
    /// What rows of a group have in common, four at most; none: all rows are one group.
    pub by: Vec<GroupKey>,
    /// Edges are also grouped by steps of this length, in the order of time.
    pub every: Option<Span>,
    /// What is computed of a group.
    pub measures: Vec<Measure>,
    /// In which order groups come, and how many.
    pub order: GroupOrder,
}
