//! The log: the commits that are not in a layer yet, in order of version. See `README.md` in this directory.
//!
//! `Log` writes it, in the one process that writes to the database. `LogReader` reads it, in any process at
//! any time.

mod options;
mod record;
mod segment;
mod cursor;
mod reader;
mod durable;
mod writer;
mod recover;
mod survey;
mod copying;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod sync_tests;

pub(crate) use copying::copy_log;
pub use options::Sync;
pub(crate) use options::{LogOptions, LogStart, log_directory};
pub(crate) use reader::LogReader;
pub(crate) use record::LogRecord;
pub(crate) use segment::foreign_in_log;
pub(crate) use survey::LogSurvey;
pub(crate) use writer::Log;
