//! Alerts: rows of an answer that begin to meet a condition, or that are new.
//!
//! Rows are vertices, or edges, with the columns of the answer; groups with their sizes, where the condition
//! names their size; or the figures of an answer without rows. An alert is raised once when a row begins to
//! meet the condition, and not again until the row has ceased to meet it.

mod columns;
mod rule;
mod small_changes;
mod following;
mod series;

pub use following::{FollowAlerts, FollowBegin};
pub use rule::{Alert, AlertReason, AlertRule};
pub use series::SeriesAlerts;
pub use small_changes::SmallChanges;
