//! A database opened for reading and writing: commits, freezing, merging, versions. See `README.md` in this
//! directory.

mod unfrozen;
mod batch;
mod shown;
mod layers;
mod reservation;
mod handle;
mod sizing;
mod budget;
mod committing;
mod serving;
mod versions;
mod upkeep;
mod replay;
mod recover;
mod point;
mod testing;

pub use crate::commit::Committed;
pub use crate::conversion::{FormReport, HeadsLeftOut};
pub use handle::{CommitWatch, Database, DatabaseOptions};
pub(crate) use layers::with_commits_in_memory;
pub use point::{GraphSchema, OwnedValue};
pub use recover::RecoveryReport;
pub use sizing::CommitSizing;
pub use upkeep::compacting::{CompactOptions, CompactReport};
pub use upkeep::numbering::Renumber;
pub use upkeep::tiling::Tiling;
pub use upkeep::written::WrittenBytes;
