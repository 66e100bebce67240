//! Reading the log, from the start or behind a writer that is still at it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::options::{LogStart, log_directory};
use super::record::{Found, Record, find_proof, read};
use super::segment::{FIRST_RECORD, Opened, Segment, numbers, path_of};
use crate::error::{Error, Result};
use crate::format::{LogRecordHeader, LogRecordKind};
use crate::io::Disk;

/// Reads the commits of a log in the order of their versions, each into the same buffer. It changes nothing, and may
/// run in another process than the writer's.
///
/// Memory: the longest record.
#[derive(Debug)]
pub struct LogReader {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    start: LogStart,
    current: Option<Current>,
    /// The version of the next record.
    next_version: u64,
    payload: Vec<u8>,
}

#[derive(Debug)]
struct Current {
    segment: Segment,
    /// Where the next record begins.
    position: u64,
    /// Length of the file, when last asked.
    file_bytes: u64,
    /// Whether a later segment exists: then no more comes to this one.
    is_complete: bool,
    /// Whether the record before `position` says that all was synced.
    is_closed: bool,
    /// Whether what is bad at `position` was read twice; and twice with a proof that it must be good.
    doubts: u32,
}

impl LogReader {
    /// Opens the log of the database at `database`. A database that was never written to has none; then nothing is read.
    ///
    /// # Errors
    /// As [`LogReader::read_next`].
    pub fn open(disk: Arc<dyn Disk>, database: &Path, start: LogStart) -> Result<Self> {
        let directory = log_directory(database);
        let next_version = start.first_version;
        let mut reader = Self { disk, directory, start, current: None, next_version, payload: Vec::new() };
        reader.find_first()?;
        Ok(reader)
    }

    /// The next commit from [`LogStart::first_version`] on; `None` after the last one. Called again later, it goes
    /// on with what was appended meanwhile.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] for all that no crash of a writer explains; [`Error::Invalid`] if the format is newer, or a
    /// record does not fit the memory. A reader in another process than the writer's gets one of the first two
    /// also if segments were removed because their commits are in a layer now: the manifest has changed then, and the log
    /// is to be opened again with what it says.
    pub fn read_next(&mut self) -> Result<Option<Record<'_>>> {
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

    /// The version that follows the last one that was read.
    pub fn next_version(&self) -> u64 {
        self.next_version
    }

    /// Where the records end; `None` if there is no segment.
    pub(super) fn end(&self) -> Option<End<'_>> {
        self.current.as_ref().map(|current| End {
            segment: &current.segment,
            position: current.position,
            is_closed: current.is_closed,
        })
    }

    /// Moves past the next commit.
    fn advance(&mut self) -> Result<Option<LogRecordHeader>> {
        loop {
            let Some(current) = &mut self.current else {
                if !self.find_first()? {
                    return Ok(None);
                }
                continue;
            };
            let (file, place) = (current.segment.file.as_ref(), current.segment.place(current.position));
            match read(file, current.file_bytes, place, &mut self.payload)? {
                Found::Record(header, end) => {
                    current.is_closed = header.kind == LogRecordKind::Close;
                    if !current.is_closed && header.version != self.next_version {
                        let reason =
                            format!("version {} belongs here, not {}", self.next_version, header.version);
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

    /// What to do where no record is: true if there is something to read now.
    fn look_further(&mut self, found: &Found) -> Result<bool> {
        let Some(current) = &mut self.current else { return Ok(false) };
        if current.is_complete {
            return match found {
                Found::Bad(reason) => Err(damaged(current, reason)),
                _ => self.enter_next(),
            };
        }
        let known_bytes = current.file_bytes;
        // In this order: once a later segment is seen, this one's length is final.
        let last = numbers(self.disk.as_ref(), &self.directory)?.last().copied();
        current.is_complete = last > Some(current.segment.header.number);
        current.file_bytes = current.segment.file.len()?;
        if current.is_complete || current.file_bytes != known_bytes {
            return Ok(true);
        }
        let Found::Bad(reason) = found else { return Ok(false) };
        // A writer may be at it, or a bit flipped on its way: look again before believing it.
        current.doubts += 1;
        if current.doubts == 1 {
            return Ok(true);
        }
        let bad = current.segment.place(current.position);
        match find_proof(current.segment.file.as_ref(), bad)? {
            None => Ok(false),
            Some(_) if current.doubts == 2 => Ok(true),
            Some(_) => Err(damaged(current, reason)),
        }
    }

    /// Goes from a complete segment to the next one.
    fn enter_next(&mut self) -> Result<bool> {
        let Some(current) = &self.current else { return Ok(false) };
        let number = current.segment.header.number + 1;
        let path = path_of(&self.directory, number);
        let numbers = numbers(self.disk.as_ref(), &self.directory)?;
        if numbers.binary_search(&number).is_err() {
            return Err(Error::corrupt(
                path,
                0,
                "this segment of the log is missing, though there is a later one",
            ));
        }
        match Segment::open(self.disk.open(&path)?, number, &self.start)? {
            Opened::Unborn if numbers.last() == Some(&number) => Ok(false),
            Opened::Unborn => {
                Err(Error::corrupt(path, 0, "it has no header, though there is a later segment"))
            }
            Opened::Whole(segment) => {
                if segment.header.first_version != self.next_version {
                    let (found, due) = (segment.header.first_version, self.next_version);
                    let reason = format!("it begins with version {found}, and version {due} is due");
                    return Err(Error::corrupt(path, 0, reason));
                }
                self.current = Some(Current::new(segment)?);
                Ok(true)
            }
        }
    }

    /// Enters the newest segment that begins at or before the first version asked for. Those before it are left over
    /// from a removal that was cut short.
    fn find_first(&mut self) -> Result<bool> {
        let mut seen = numbers(self.disk.as_ref(), &self.directory)?;
        loop {
            let outcome = self.find_first_of(&seen);
            let Err(Error::Io { .. }) = &outcome else { return outcome };
            // A writer may have begun a segment since they were listed, and removed the one before.
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
                Opened::Unborn if numbers.last() == Some(&number) => {}
                Opened::Unborn => {
                    return Err(Error::corrupt(path, 0, "it has no header, though there is a later segment"));
                }
                Opened::Whole(segment) if segment.header.first_version <= self.start.first_version => {
                    self.next_version = segment.header.first_version;
                    self.current = Some(Current::new(segment)?);
                    return Ok(true);
                }
                Opened::Whole(segment) => oldest = Some((path, segment.header.first_version)),
            }
        }
        match oldest {
            None => Ok(false),
            Some((path, found)) => {
                let due = self.start.first_version;
                let reason = format!("the log begins with version {found}, and version {due} is in no layer");
                Err(Error::corrupt(path, 0, reason))
            }
        }
    }
}

/// Where the records of a log end.
#[derive(Debug)]
pub(super) struct End<'a> {
    pub(super) segment: &'a Segment,
    pub(super) position: u64,
    /// Whether a writer closed the log there, and all is known to be synced.
    pub(super) is_closed: bool,
}

impl Current {
    fn new(segment: Segment) -> Result<Self> {
        let file_bytes = segment.file.len()?;
        let position = FIRST_RECORD;
        Ok(Self { segment, position, file_bytes, is_complete: false, is_closed: false, doubts: 0 })
    }
}

fn damaged(current: &Current, reason: &str) -> Error {
    Error::corrupt(current.segment.file.path(), current.position, reason)
}
