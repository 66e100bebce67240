//! Commits: batches of changes, their records in the log, and their conversion to a layer.

mod content;
mod logged;
mod batch;
mod duplicates;
mod assemble;

pub(crate) use assemble::{Assembled, LayerLocation, assemble, value_of};
pub use batch::{Batch, CommitOptions};
pub(crate) use batch::{BatchOp, BatchValue, TEXT_BYTES, exact_bits};
pub(crate) use content::{Commit, EdgeOp, NewIds};
pub(crate) use duplicates::{DuplicateRule, reads_edges};
pub(crate) use logged::LoggedCommit;
