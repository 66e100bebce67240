//! Surveys a damaged log for recovery: the readable records, and the missing ones.

use std::path::Path;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{Error, LogMark, Result};

use super::options::{LogStart, log_directory};
use super::reader::LogReader;
use super::record::LogRecord;
use super::segment::{OpenedSegment, Segment, numbers, path_of};
use crate::holding::WriterLock;

/// What is left of a log, and what is missing.
#[derive(Debug)]
pub(crate) struct LogSurvey {
    /// What is wrong; `None` if nothing is.
    pub(crate) problem: Option<Error>,
    /// The segment and the place in it up to which the log can be kept; `None`: nothing of it can.
    kept: Option<(u64, u64)>,
    /// The last version that can be kept.
    pub(crate) kept_version: u64,
    /// The last version that is known to have existed.
    pub(crate) last_version: u64,
    /// The number of the last segment that is known to have existed.
    pub(crate) last_segment: u64,
    /// The number of MANIFEST's records that the log knows of.
    pub(crate) manifest_records: u64,
    /// How far MANIFEST says that the log reaches.
    mark: Option<LogMark>,
}

impl LogSurvey {
    /// Reads the log of the database at `database`, and passes the summaries of the commits that can be kept
    /// to `list`.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Invalid`] for an unsupported format version; errors of `list`. Damage is in
    /// the result.
    pub(crate) fn of(
        disk: &Arc<dyn Disk>,
        database: &Path,
        start: LogStart,
        mut list: impl FnMut(LogRecord<'_>) -> Result<()>,
    ) -> Result<Self> {
        let mark = start.mark;
        let mut survey = Self {
            problem: None,
            kept: None,
            kept_version: start.first_version - 1,
            last_version: mark.map_or(0, |mark| mark.version).max(start.first_version - 1),
            last_segment: mark.map_or(0, |mark| mark.segment),
            manifest_records: start.manifest.records,
            mark,
        };
        let outcome = survey.read(disk, database, start, &mut list);
        match outcome {
            Ok(()) => {}
            Err(problem @ (Error::Corrupt { .. } | Error::Lost { .. })) => survey.problem = Some(problem),
            Err(error) => return Err(error),
        }
        survey.look_beyond(disk.as_ref(), database, &start)?;
        Ok(survey)
    }

    /// Reads what a writer would read.
    fn read(
        &mut self,
        disk: &Arc<dyn Disk>,
        database: &Path,
        start: LogStart,
        list: &mut dyn FnMut(LogRecord<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut reader = LogReader::open(Arc::clone(disk), database, start)?;
        loop {
            let read = reader.read_next();
            let (is_end, failed) = match read {
                Ok(Some(record)) => {
                    list(record)?;
                    (false, None)
                }
                Ok(None) => (true, None),
                Err(error) => (true, Some(error)),
            };
            if !reader.is_foreign() {
                let last = reader.last();
                self.kept = Some((last.segment, last.bytes)).filter(|_| last.segment > 0);
                self.kept_version = last.version.max(start.first_version - 1);
            } else {
                (self.kept, self.kept_version) = (None, start.first_version - 1);
            }
            if is_end {
                return failed.map_or(Ok(()), Err);
            }
        }
    }

    /// Looks for records behind the first problem.
    fn look_beyond(&mut self, disk: &dyn Disk, database: &Path, start: &LogStart) -> Result<()> {
        let directory = log_directory(database);
        for number in numbers(disk, &directory, start.mark)? {
            self.last_segment = self.last_segment.max(number);
            let file = disk.open(&path_of(&directory, number))?;
            let segment = match Segment::open(file, number, start) {
                Ok(OpenedSegment::Complete(segment)) => segment,
                Ok(OpenedSegment::Unfinished) | Err(Error::Corrupt { .. }) => continue,
                Err(error) => return Err(error),
            };
            let known = segment.known()?;
            self.last_version = self.last_version.max(known.last_version);
            self.manifest_records = self.manifest_records.max(known.manifest_records);
        }
        Ok(())
    }

    /// Removes everything from the log of the locked database that cannot be kept, durably. A segment that
    /// also has a name in another database is copied before it is cut.
    ///
    /// # Errors
    /// As [`WriterLock::open_apart`].
    pub(crate) fn cut(&self, lock: &WriterLock) -> Result<()> {
        let (disk, directory) = (lock.disk(), log_directory(lock.database()));
        let disk = disk.as_ref();
        let kept = self.kept.map(|(segment, bytes)| (path_of(&directory, segment), bytes));
        let kept =
            kept.map(|(path, bytes)| lock.open_apart(&path).map(|opened| (opened, bytes))).transpose()?;
        let last = self.kept.map_or(0, |(segment, _)| segment);
        let gone = numbers(disk, &directory, self.mark)?.into_iter().filter(|&number| number > last);
        let mut is_changed = false;
        for number in gone {
            disk.remove_file(&path_of(&directory, number))?;
            is_changed = true;
        }
        if is_changed {
            disk.sync_directory(&directory)?;
        }
        if let Some(((file, _lock), bytes)) = kept {
            file.set_length(bytes)?;
            file.sync()?;
        }
        Ok(())
    }
}
