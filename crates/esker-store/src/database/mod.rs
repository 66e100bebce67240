//! A database opened for reading and writing: commits, freezing, merging, versions. See `README.md` in this
//! directory.

mod unfrozen;
mod standing;
mod write;
mod begun;
mod known;
mod removing;
mod vertices;
mod shown;
mod layers;
mod reservation;
mod handle;
mod sizing;
mod budget;
mod committing;
mod versions;
mod forms;
mod maintain;
mod replay;
mod tiling;
mod heads;
mod numbering;
mod written;
mod compacting;
mod merging;
mod at_once;
mod undo;
mod define;
mod renumber;
mod recover;
mod point;
#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod forms_tests;
#[cfg(test)]
mod crash_model;
#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod forged_tests;
#[cfg(test)]
mod loss_tests;
#[cfg(test)]
mod replay_tests;

pub use crate::conversion::{FormReport, HeadsLeftOut};
pub use committing::Committed;
pub use compacting::{CompactOptions, CompactReport};
pub use handle::{CommitWatch, Database, DatabaseOptions};
pub(crate) use layers::with_commits_in_memory;
pub use numbering::Renumber;
pub use point::{GraphSchema, OwnedValue};
pub use recover::RecoveryReport;
pub use sizing::CommitSizing;
pub use tiling::Tiling;
pub use written::WrittenBytes;
