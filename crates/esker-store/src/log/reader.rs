//! Reading the log, also while a writer appends to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{Error, LogRecordHeader, LogRecordKind, Result};

use super::options::{LogStart, log_directory};
use super::record::{ReadOutcome, Record, find_proof, read};
use super::segment::{FIRST_RECORD, Opened, Segment, numbers, path_of};

/// Reads the commits of a log in order of version, into one buffer. Changes nothing, and may run in
/// another process than the writer.
///
/// Memory: the size of the longest record.
#[derive(Debug)]
pub(crate) struct LogReader {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    start: LogStart,
    current: Option<SegmentCursor>,
    /// The version of the next record.
    next_version: u64,
    payload: Vec<u8>,
}

#[derive(Debug)]
struct SegmentCursor {
    segment: Segment,
    /// Offset of the next record.
    position: u64,
    /// Last known length of the file.
    file_bytes: u64,
    /// Whether a later segment exists, so that this one no longer grows.
    is_complete: bool,
    /// Whether the record before `position` is of kind `Close`: everything before it was synced.
    is_closed: bool,
    /// How often a bad record was read at `position`: it counts as damage only on the third read, with a proof that it was once good.
    doubts: u32,
}

impl LogReader {
    /// Opens the log of the database at `database`. A database that was never written to has no log, and so no records.
    ///
    /// # Errors
    /// As [`LogReader::read_next`].
    pub(crate) fn open(disk: Arc<dyn Disk>, database: &Path, start: LogStart) -> Result<Self> {
        let directory = log_directory(database);
        let next_version = start.first_version;
        let mut reader = Self { disk, directory, start, current: None, next_version, payload: Vec::new() };
        reader.find_first()?;
        Ok(reader)
    }

    /// The next commit from [`LogStart::first_version`] on; `None` after the last one. A later call returns commits
    /// appended meanwhile.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] for damage that a crash of a writer cannot explain; [`Error::Invalid`] for an unsupported
    /// format version, or a record that exceeds the memory. A reader in another process than the writer also gets one of the first two
    /// if the writer removed segments whose commits are now in a layer. The manifest has then changed: read it again
    /// and reopen the log.
    pub(crate) fn read_next(&mut self) -> Result<Option<Record<'_>>> {
        if let Some(current) = &mut self.current {
            current.doubts = 0;
        }
        while let Some(header) = self.advance()? {
            if header.version >= self.start.first_version {
                return Ok(Some(Record {
                    version: header.version,
                    flags: header.flags,
                    payload: &self.payload,
                }));
            }
        }
        Ok(None)
    }

    /// The version after the last one read.
    pub(crate) fn next_version(&self) -> u64 {
        self.next_version
    }

    /// The end of the records; `None` if there is no segment.
    pub(super) fn end(&self) -> Option<LogEnd<'_>> {
        self.current.as_ref().map(|current| LogEnd {
            segment: &current.segment,
            position: current.position,
            is_closed: current.is_closed,
        })
    }

    /// Reads the next commit and moves past it.
    fn advance(&mut self) -> Result<Option<LogRecordHeader>> {
        loop {
            let Some(current) = &mut self.current else {
                if !self.find_first()? {
                    return Ok(None);
                }
                continue;
            };
            let (file, address) = (current.segment.file.as_ref(), current.segment.address(current.position));
            match read(file, current.file_bytes, address, &mut self.payload)? {
                ReadOutcome::Record(header, end) => {
                    current.is_closed = header.kind == LogRecordKind::Close;
                    if !current.is_closed && header.version != self.next_version {
                        let reason =
                            format!("version {} is expected here, not {}", self.next_version, header.version);
                        return Err(Error::corrupt(file.path(), current.position, reason));
                    }
                    current.position = end;
                    current.doubts = 0;
                    if !current.is_closed {
                        self.next_version += 1;
                        return Ok(Some(header));
                    }
                }
                found => {
                    if !self.look_further(&found)? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Handles a position without a good record. Returns true if reading should go on.
    fn look_further(&mut self, found: &ReadOutcome) -> Result<bool> {
        let Some(current) = &mut self.current else { return Ok(false) };
        if current.is_complete {
            return match found {
                ReadOutcome::Bad(reason) => Err(damaged(current, reason)),
                _ => self.enter_next(),
            };
        }
        let known_bytes = current.file_bytes;
        // List the segments before taking the length: if a later segment exists, the length taken after that is final.
        let last = numbers(self.disk.as_ref(), &self.directory)?.last().copied();
        current.is_complete = last > Some(current.segment.header.number);
        current.file_bytes = current.segment.file.len()?;
        if current.is_complete || current.file_bytes != known_bytes {
            return Ok(true);
        }
        let ReadOutcome::Bad(reason) = found else { return Ok(false) };
        // A writer may be writing this record, or the read may have flipped a bit: read again.
        current.doubts += 1;
        if current.doubts == 1 {
            return Ok(true);
        }
        let bad = current.segment.address(current.position);
        match find_proof(current.segment.file.as_ref(), bad)? {
            None => Ok(false),
            Some(_) if current.doubts == 2 => Ok(true),
            Some(_) => Err(damaged(current, reason)),
        }
    }

    /// Moves from a complete segment to the next one.
    fn enter_next(&mut self) -> Result<bool> {
        let Some(current) = &self.current else { return Ok(false) };
        let number = current.segment.header.number + 1;
        let path = path_of(&self.directory, number);
        let numbers = numbers(self.disk.as_ref(), &self.directory)?;
        if numbers.binary_search(&number).is_err() {
            return Err(Error::corrupt(
                path,
                0,
                "this segment of the log is missing, although a later one exists",
            ));
        }
        match Segment::open(self.disk.open(&path)?, number, &self.start)? {
            Opened::Unfinished if numbers.last() == Some(&number) => Ok(false),
            Opened::Unfinished => {
                Err(Error::corrupt(path, 0, "it has no header, although a later segment exists"))
            }
            Opened::Complete(segment) => {
                if segment.header.first_version != self.next_version {
                    let (found, expected) = (segment.header.first_version, self.next_version);
                    let reason = format!("it begins with version {found} instead of {expected}");
                    return Err(Error::corrupt(path, 0, reason));
                }
                self.current = Some(SegmentCursor::new(segment)?);
                Ok(true)
            }
        }
    }

    /// Opens the newest segment that begins at or before the first requested version. Earlier segments are left over from an
    /// interrupted removal.
    fn find_first(&mut self) -> Result<bool> {
        let mut seen = numbers(self.disk.as_ref(), &self.directory)?;
        loop {
            let outcome = self.find_first_of(&seen);
            let Err(Error::Io { .. }) = &outcome else { return outcome };
            // Since the listing, a writer may have begun a segment and removed an older one.
            let now = numbers(self.disk.as_ref(), &self.directory)?;
            if now == seen {
                return outcome;
            }
            seen = now;
        }
    }

    fn find_first_of(&mut self, numbers: &[u64]) -> Result<bool> {
        let mut oldest = None;
        for &number in numbers.iter().rev() {
            let path = path_of(&self.directory, number);
            match Segment::open(self.disk.open(&path)?, number, &self.start)? {
                Opened::Unfinished if numbers.last() == Some(&number) => {}
                Opened::Unfinished => {
                    return Err(Error::corrupt(path, 0, "it has no header, although a later segment exists"));
                }
                Opened::Complete(segment) if segment.header.first_version <= self.start.first_version => {
                    self.next_version = segment.header.first_version;
                    self.current = Some(SegmentCursor::new(segment)?);
                    return Ok(true);
                }
                Opened::Complete(segment) => oldest = Some((path, segment.header.first_version)),
            }
        }
        match oldest {
            None => Ok(false),
            Some((path, found)) => {
                let missing = self.start.first_version;
                let reason =
                    format!("the log begins with version {found}, but version {missing} is not in a layer");
                Err(Error::corrupt(path, 0, reason))
            }
        }
    }
}

/// The end of the records of a log.
#[derive(Debug)]
pub(super) struct LogEnd<'a> {
    pub(super) segment: &'a Segment,
    pub(super) position: u64,
    /// Whether a writer closed the log there, after syncing everything.
    pub(super) is_closed: bool,
}

impl SegmentCursor {
    fn new(segment: Segment) -> Result<Self> {
        let file_bytes = segment.file.len()?;
        let position = FIRST_RECORD;
        Ok(Self { segment, position, file_bytes, is_complete: false, is_closed: false, doubts: 0 })
    }
}

fn damaged(current: &SegmentCursor, reason: &str) -> Error {
    Error::corrupt(current.segment.file.path(), current.position, reason)
}
