//! A commit in the log, as far as it is known without reading its changes.

use std::path::Path;

use esker_format::{CommitSummary, CommitTimes, Error, FieldInput, FieldValue, Result, VersionRecord};
use esker_graph::Cancel;

use super::content::{Commit, record_of};
use crate::log::{LogReader, LogRecord, log_directory};

/// A commit in the log, without its changes.
#[derive(Debug, Clone)]
pub(crate) struct LoggedCommit {
    pub(crate) version: u64,
    pub(crate) summary: CommitSummary,
    /// The time of the commit, in milliseconds since 1970, UTC.
    pub(crate) committed_ms: u64,
    /// The size of its content in the log.
    pub(crate) payload_bytes: u64,
    /// The checksum in the header of its record.
    pub(crate) checksum: u32,
}

impl LoggedCommit {
    /// The commit of a record in the log of a database.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`] if the record is not a commit.
    pub(crate) fn of(record: &LogRecord<'_>, database: &Path) -> Result<Self> {
        let LogRecord { version, payload_bytes, checksum, .. } = *record;
        let directory = log_directory(database);
        let mut input = FieldInput::new(&directory, record.summary, 0);
        let summary = CommitSummary::take(&mut input)?;
        // The time of the commit is left out where it equals the event time.
        let is_timed = input.remaining() > 0;
        let committed_ms =
            if is_timed { CommitTimes::take(&mut input)?.committed_ms } else { summary.time_ms };
        input.finish()?;
        Ok(Self { version, summary, committed_ms, payload_bytes, checksum })
    }

    /// Reads the commit, which must be the next one of the log of a database. Frees the reader's memory.
    ///
    /// # Errors
    /// As [`LogReader::read_next`]; [`Error::Corrupt`] if the commit is another one.
    pub(crate) fn read(&self, reader: &mut LogReader, database: &Path, cancel: &Cancel) -> Result<Commit> {
        let directory = log_directory(database);
        let changed = || {
            let reason = format!("version {} is not the commit that its summary describes", self.version);
            Error::corrupt(&directory, 0, reason)
        };
        let is_same =
            |record: &LogRecord<'_>| (record.version, record.checksum) == (self.version, self.checksum);
        let record = reader.read_next()?.filter(is_same);
        let mut commit =
            Commit::decode(self.version, record.ok_or_else(changed)?.payload, &directory, cancel)?;
        (commit.committed_ms, commit.checksum) = (self.committed_ms, self.checksum);
        reader.release();
        if commit.summary() == self.summary { Ok(commit) } else { Err(changed()) }
    }

    /// The record of its version, with 0 for the numbers of edges, which are not known.
    pub(crate) fn record(&self) -> VersionRecord {
        VersionRecord {
            commit: self.checksum,
            ..record_of(self.version, self.summary.clone(), self.committed_ms)
        }
    }
}
