//! Copying a log, also while a writer appends to it.

use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, copy};
use esker_format::{LogMark, Result};
use esker_graph::Run;

use super::options::{LogStart, log_directory};
use super::reader::LogReader;
use super::segment::path_of;

/// Copies the complete records of the log of a database, from [`LogStart::first_version`] on, into a new
/// directory `to`, durably but for the names. Returns the last commit; `None` if there is no log.
///
/// # Errors
/// As [`LogReader::read_next`]; [`esker_format::Error::Io`]; cancellation.
pub(crate) fn copy_log(
    disk: &Arc<dyn Disk>,
    database: &Path,
    to: &Path,
    start: LogStart,
    run: &Run,
) -> Result<Option<LogMark>> {
    let mut reader = LogReader::open(Arc::clone(disk), database, start)?.with_cancel(run.cancel());
    let Some(first) = reader.end().map(|end| end.segment.header.number) else { return Ok(None) };
    while reader.verify_next()?.is_some() {}
    let Some(end) = reader.end() else { return Ok(None) };
    disk.create_directory(to)?;
    let from = log_directory(database);
    let last = end.segment.header.number;
    for number in first..=last {
        let path = path_of(&from, number);
        let bytes = if number == last { end.position } else { disk.open(&path)?.len()? };
        copy(disk.as_ref(), &path, &path_of(to, number), bytes, || Ok(run.check()?))?;
    }
    Ok(Some(end.last))
}
