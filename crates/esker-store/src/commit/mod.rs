//! Commits: batches of changes, their records in the log, and their conversion to a layer.

mod content;
mod logged;
mod exact;
mod texts;
mod change;
mod kinds;
mod matching;
mod options;
mod numbered;
mod scope;
mod batch;
mod removals;
mod named;
mod rule;
mod widening;
mod pair;
mod missing;
mod handing;
mod duplicates;
mod assemble;

pub(crate) use assemble::{Assembled, LayerLocation, assemble, value_of};
pub use batch::Batch;
pub(crate) use change::{BatchOp, BatchValue};
pub(crate) use content::{Commit, CommitEdge, NewIds};
pub(crate) use duplicates::{DuplicateRule, UnitedEdges, WiderSum};
pub use kinds::{KINDS_NAMED_MAX, unknown_kind};
pub(crate) use logged::LoggedCommit;
pub(crate) use matching::BatchMatch;
pub use matching::EdgeMatch;
pub(crate) use missing::{expect_may_lack, reserved, wider_with_missing};
pub(crate) use numbered::number_edges;
pub(crate) use options::Announce;
pub use options::{CommitOptions, Committed};
pub(crate) use scope::RuleScope;
pub(crate) use texts::TEXT_BYTES;
