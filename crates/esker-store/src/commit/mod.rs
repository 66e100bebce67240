//! Commits: what a batch collects, what a commit says in the log, and how commits become a layer.

mod content;
mod batch;
mod assemble;

pub(crate) use assemble::{Assembled, Target, assemble, value_of};
pub use batch::Batch;
pub(crate) use batch::{BatchOp, BatchValue, exact_bits};
pub use content::{Commit, EdgeOp, NewIds};
