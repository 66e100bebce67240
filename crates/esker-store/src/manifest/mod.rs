//! The manifest of a database, the atomic creation of databases, and the publication of states. See
//! `README.md` in this directory.

mod sync;
mod pins;
mod names;
mod records;
mod time;
mod select;
mod versions;
mod forms;
mod content;
mod contradictions;
mod account;
mod messages;
mod retention;
mod strays;
mod writer;
mod staged;
mod staging;
#[cfg(test)]
mod content_tests;
#[cfg(test)]
mod pins_testing;
#[cfg(test)]
mod pins_tests;
#[cfg(test)]
mod tests;

pub use crate::holding::{WriterLock, lock_writer};
pub use crate::temporary_targets::TemporaryTargets;
pub(crate) use account::{Account, AccountOf, account_path, read_account};
pub use content::Manifest;
pub use messages::KEPT_MESSAGES_MAX;
pub use names::MANIFEST_NAME;
pub(crate) use names::{BACKUP_NAME, QUEUE_NAME, expect_database, ids_directory, layer_directory};
pub(crate) use pins::{Pinned, Published, Reclaim, Resource, Twin};
pub(crate) use records::read_left;
pub(crate) use retention::not_retained;
pub use select::{VersionSelector, check_tag};
pub(crate) use staged::{StagedDirectory, remove_dead_stagings};
pub use staging::{Staging, StagingOptions};
pub use strays::Strays;
pub(crate) use strays::{named_files, remove_strays, strays};
pub use time::{
    check_event_time, format_signed_time, format_time, parse_nanoseconds, parse_nanoseconds_in, parse_time,
};
pub use versions::Versions;
pub(crate) use writer::ManifestWriter;
