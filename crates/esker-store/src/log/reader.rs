//! Reading the log, also while a writer appends to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, parent};
use esker_format::{
    Error, FieldInput, FieldValue, LogMark, LogRecordHeader, LogRecordKind, ManifestHead, Result,
    SegmentHeader,
};
use esker_graph::Cancel;

use super::cursor::SegmentCursor;
use super::options::{LogStart, log_directory};
use super::record::{LogRecord, MANIFEST_RECORD_BYTES, ReadOutcome, RecordBuffer, RecordPart, find_proof};
use super::segment::{FIRST_RECORD, OpenedSegment, Segment, manifest_is_stale, numbers, path_of};

/// Reads the commits of a log in order of version, into one buffer. Changes nothing, and may run in
/// another process than the writer.
///
/// Memory: the size of the longest record; without payloads, that of the longest summary.
#[derive(Debug)]
pub(crate) struct LogReader {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    start: LogStart,
    current: Option<SegmentCursor>,
    /// The version of the next record.
    next_version: u64,
    /// The last commit read.
    last: LogMark,
    /// The last statement about MANIFEST read.
    witness: Option<ManifestHead>,
    /// Whether log and MANIFEST contradict each other.
    is_foreign: bool,
    buffer: RecordBuffer,
    cancel: Cancel,
}

impl LogReader {
    /// Opens the log of the database at `database`. A database that was never written to has no log, and so
    /// no records.
    ///
    /// # Errors
    /// As [`LogReader::read_next`].
    pub(crate) fn open(disk: Arc<dyn Disk>, database: &Path, start: LogStart) -> Result<Self> {
        let directory = log_directory(database);
        let version = start.first_version.saturating_sub(1);
        let first = LogMark { segment: 0, bytes: 0, version, checksum: start.previous.unwrap_or(0) };
        let mut reader = Self {
            disk,
            directory,
            start,
            current: None,
            next_version: start.first_version,
            last: first,
            witness: None,
            is_foreign: false,
            buffer: RecordBuffer::default(),
            cancel: Cancel::default(),
        };
        reader.find_first()?;
        Ok(reader)
    }

    /// The same, with a token that stops it.
    pub(crate) fn with_cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// The next commit from [`LogStart::first_version`] on; `None` after the last one. A later call returns
    /// commits appended meanwhile.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`] for damage that a crash of a writer cannot explain. [`Error::Lost`]
    /// if the log ends before [`LogStart::mark`], or MANIFEST has fewer records than the log knows.
    /// [`Error::Invalid`] for an unsupported format version, or a record that exceeds the memory;
    /// cancellation. A reader in another process than the writer also gets one of the first three if the
    /// writer changed MANIFEST or removed segments whose commits are now in a layer. The manifest has then
    /// changed: read it again and reopen the log.
    pub(crate) fn read_next(&mut self) -> Result<Option<LogRecord<'_>>> {
        self.next_of(RecordPart::Whole)
    }

    /// As [`LogReader::read_next`], but does not read payloads of records with summaries, except where it
    /// takes the payload's checksum to tell whether the record is complete.
    ///
    /// # Errors
    /// As [`LogReader::read_next`].
    pub(crate) fn read_summary(&mut self) -> Result<Option<LogRecord<'_>>> {
        self.next_of(RecordPart::Summary)
    }

    /// As [`LogReader::read_summary`], and compares the payload's checksum.
    ///
    /// # Errors
    /// As [`LogReader::read_next`].
    pub(crate) fn verify_next(&mut self) -> Result<Option<LogRecord<'_>>> {
        self.next_of(RecordPart::Verified)
    }

    fn next_of(&mut self, part: RecordPart) -> Result<Option<LogRecord<'_>>> {
        if let Some(current) = &mut self.current {
            current.doubts = 0;
        }
        while let Some(header) = self.advance(part)? {
            if header.version >= self.start.first_version {
                return Ok(Some(LogRecord {
                    version: header.version,
                    flags: header.flags,
                    checksum: header.checksum,
                    summary: &self.buffer.summary,
                    payload: &self.buffer.payload,
                    payload_bytes: header.payload_bytes,
                }));
            }
        }
        self.expect_whole()?;
        Ok(None)
    }

    /// Frees the memory of the last record.
    pub(crate) fn release(&mut self) {
        self.buffer = RecordBuffer::default();
    }

    /// Whether an error was due to a log and a MANIFEST that contradict each other, so that the commits may
    /// belong to other layers.
    pub(super) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// The last commit read.
    pub(super) fn last(&self) -> LogMark {
        self.last
    }

    /// The file with the last record, and the bytes behind that record, which are no complete record; `None`
    /// if there are none.
    pub(crate) fn unfinished(&self) -> Option<(PathBuf, u64)> {
        let current = self.current.as_ref()?;
        let bytes = current.file_bytes.saturating_sub(current.position);
        (bytes > 0).then(|| (current.segment.file.path().to_owned(), bytes))
    }

    /// Whether the segment that is being read is still the one that has its name.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn is_in_place(&self) -> Result<bool> {
        let Some(current) = &self.current else { return Ok(true) };
        let file = &current.segment.file;
        let named = self.disk.identify(file.path())?;
        Ok(named.is_some_and(|named| file.id().is_ok_and(|id| id == named.id)))
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
            closed_at: current.closed_at,
            last: self.last,
            witness: self.witness,
        })
    }

    /// Reads the next commit and moves past it.
    fn advance(&mut self, part: RecordPart) -> Result<Option<LogRecordHeader>> {
        loop {
            let Some(current) = &mut self.current else {
                if !self.find_first()? {
                    return Ok(None);
                }
                continue;
            };
            match current.read(part, &mut self.buffer, self.start.mark, &self.cancel)? {
                ReadOutcome::Record(header, end) => {
                    if self.take(&header, end)? {
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

    /// Moves past a good record. Returns whether it is a commit.
    fn take(&mut self, header: &LogRecordHeader, end: u64) -> Result<bool> {
        let Some(current) = &self.current else { return Ok(false) };
        let (path, position) = (current.segment.file.path().to_owned(), current.position);
        let is_commit = header.kind == LogRecordKind::Commit;
        if is_commit {
            self.expect_commit(&path, position, header)?;
        }
        let Some(current) = &mut self.current else { return Ok(false) };
        current.position = end;
        current.doubts = 0;
        current.closed_at = (header.kind == LogRecordKind::Close).then_some(position);
        current.continues |= header.kind == LogRecordKind::Continue;
        let segment = current.segment.header.number;
        if is_commit {
            self.next_version += 1;
            let (version, checksum) = (header.version, header.checksum);
            self.last = LogMark { segment, bytes: end, version, checksum };
        } else if !self.buffer.summary.is_empty() {
            let mut input = FieldInput::new(&path, &self.buffer.summary, position);
            let head = ManifestHead::take(&mut input)?;
            self.expect_manifest(&path, position, head)?;
            self.witness = Some(head);
        }
        match self.start.mark {
            Some(mark) if mark.segment == segment && position < mark.bytes && mark.bytes <= end => {
                if mark == self.last {
                    return Ok(is_commit);
                }
                self.is_foreign = true;
                let reason = format!(
                    "has another commit at byte {position} than MANIFEST says: one of the two was replaced by \
                     a copy of another time"
                );
                Err(self.lost(path, reason))
            }
            _ => Ok(is_commit),
        }
    }

    /// Checks that a commit follows the one before it, and that the last commit in layers is the one that
    /// they hold.
    fn expect_commit(&mut self, path: &Path, position: u64, header: &LogRecordHeader) -> Result<()> {
        if header.version != self.next_version {
            let reason = format!("version {} is expected here, not {}", self.next_version, header.version);
            return Err(Error::corrupt(path, position, reason));
        }
        if header.previous != self.last.checksum {
            return Err(Error::corrupt(path, position, other_history(header.version)));
        }
        let is_in_layer = header.version.checked_add(1) == Some(self.start.first_version);
        if is_in_layer && self.start.previous.is_some_and(|known| known != header.checksum) {
            return Err(self.foreign_to_layers(path, header.version));
        }
        Ok(())
    }

    /// The error for a log whose commits are not those in the layers.
    fn foreign_to_layers(&mut self, path: &Path, version: u64) -> Error {
        self.is_foreign = true;
        let reason = format!(
            "has another version {version} than the layers: one of the two is of a copy of the database that took \
             another course, or of another time"
        );
        self.lost(path.to_owned(), reason)
    }

    /// Checks that MANIFEST has the records that the log knows of.
    fn expect_manifest(&mut self, path: &Path, position: u64, known: ManifestHead) -> Result<()> {
        let found = self.start.manifest;
        if known.records > found.records {
            return Err(manifest_is_stale(path, known.records, &self.start));
        }
        if known.records == found.records && known.chain != found.chain {
            self.is_foreign = true;
            let reason = format!(
                "is not the one that {} knows at byte {position}: one of the two was replaced by a copy of \
                 another time",
                path.display()
            );
            return Err(self.lost(parent(&self.directory).join("MANIFEST"), reason));
        }
        Ok(())
    }

    /// Checks, at the end, that nothing is missing behind it.
    fn expect_whole(&self) -> Result<()> {
        let (segment, position) =
            self.current.as_ref().map_or((0, 0), |current| (current.segment.header.number, current.position));
        if self.current.as_ref().is_some_and(|current| current.continues) {
            let path = path_of(&self.directory, segment + 1);
            return Err(self.lost(path, format!("is missing: log/{segment} says that it exists")));
        }
        let Some(mark) = self.start.mark else { return Ok(()) };
        let reaches = (segment, position) >= (mark.segment, mark.bytes) || segment > mark.segment;
        if reaches && self.next_version > mark.version {
            return Ok(());
        }
        let missing = match (self.next_version, mark.version) {
            (first, last) if first > last => "commits after version ".to_owned() + &last.to_string(),
            (first, last) if first == last => format!("version {last}"),
            (first, last) => format!("versions {first} to {last}"),
        };
        let missing = format!("MANIFEST says that it reached byte {}, so {missing} may be lost", mark.bytes);
        Err(match segment == mark.segment {
            true => {
                self.lost(path_of(&self.directory, segment), format!("ends at byte {position}: {missing}"))
            }
            false => {
                let path = path_of(&self.directory, mark.segment);
                // Without a whole header, a segment is read as if it were not there.
                let how = match self.disk.look(&path)? {
                    Some(file) => format!("has only {}", esker_graph::counted(file.bytes, "byte", "bytes")),
                    None => "is missing".to_owned(),
                };
                self.lost(path, format!("{how}: {missing}"))
            }
        })
    }

    fn lost(&self, path: PathBuf, reason: String) -> Error {
        Error::Lost { database: parent(&self.directory), path, reason }
    }

    /// Handles a position without a good record. Returns true if reading should go on.
    fn look_further(&mut self, found: &ReadOutcome) -> Result<bool> {
        let Some(current) = &mut self.current else { return Ok(false) };
        if current.is_complete {
            // The record that says that a later segment exists is not synced before that segment is made. One
            // about MANIFEST, which a full disk cut, may stand in its place: it does not make the log fail.
            // That no commit stood here is checked against the start of the next segment.
            let may_be_torn = current.file_bytes - current.position < MANIFEST_RECORD_BYTES;
            return match found {
                ReadOutcome::Bad(reason) if !may_be_torn => Err(damaged(current, reason)),
                _ => self.enter_next(),
            };
        }
        let known_bytes = current.file_bytes;
        // List the segments before taking the length: if a later segment exists, the length taken after that
        // is final.
        let last = numbers(self.disk.as_ref(), &self.directory, self.start.mark)?.last().copied();
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
        let numbers = numbers(self.disk.as_ref(), &self.directory, self.start.mark)?;
        if numbers.binary_search(&number).is_err() {
            return Err(Error::corrupt(
                path,
                0,
                "this segment of the log is missing, although a later one exists",
            ));
        }
        match Segment::open(self.disk.open(&path)?, number, &self.start)? {
            OpenedSegment::Unfinished if numbers.last() == Some(&number) => Ok(false),
            OpenedSegment::Unfinished => {
                Err(Error::corrupt(path, 0, "it has no header, although a later segment exists"))
            }
            OpenedSegment::Complete(segment) => {
                if segment.header.first_version != self.next_version {
                    let (found, expected) = (segment.header.first_version, self.next_version);
                    let reason = format!("it begins with version {found} instead of {expected}");
                    return Err(Error::corrupt(path, 0, reason));
                }
                if segment.header.previous != self.last.checksum {
                    return Err(Error::corrupt(path, 0, other_history(self.next_version)));
                }
                self.current = Some(SegmentCursor::new(segment, &self.start)?);
                Ok(true)
            }
        }
    }

    /// Opens the newest segment that begins at or before the first requested version. Earlier segments are
    /// left over from an interrupted removal.
    fn find_first(&mut self) -> Result<bool> {
        let mut seen = numbers(self.disk.as_ref(), &self.directory, self.start.mark)?;
        loop {
            let outcome = self.find_first_of(&seen);
            let Err(Error::Io { .. }) = &outcome else { return outcome };
            // Since the listing, a writer may have begun a segment and removed an older one.
            let now = numbers(self.disk.as_ref(), &self.directory, self.start.mark)?;
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
                OpenedSegment::Unfinished if numbers.last() == Some(&number) => {}
                OpenedSegment::Unfinished => {
                    return Err(Error::corrupt(path, 0, "it has no header, although a later segment exists"));
                }
                OpenedSegment::Complete(segment)
                    if segment.header.first_version <= self.start.first_version =>
                {
                    let SegmentHeader { number, first_version, previous: checksum, .. } = segment.header;
                    let version = first_version.saturating_sub(1);
                    let is_other = self.start.previous.is_some_and(|known| known != checksum);
                    if first_version == self.start.first_version && is_other {
                        return Err(self.foreign_to_layers(&path, version));
                    }
                    self.next_version = first_version;
                    self.last = LogMark { segment: number, bytes: FIRST_RECORD, version, checksum };
                    self.current = Some(SegmentCursor::new(segment, &self.start)?);
                    return Ok(true);
                }
                OpenedSegment::Complete(segment) => oldest = Some(segment),
            }
        }
        match oldest {
            None => Ok(false),
            Some(segment) => Err(self.begins_late(&segment)?),
        }
    }

    /// The error for a log whose oldest segment begins behind the layers: an older segment is missing, or the
    /// end of MANIFEST, which says that its versions are in a layer.
    fn begins_late(&self, oldest: &Segment) -> Result<Error> {
        let known = oldest.known()?.manifest_records;
        if known > self.start.manifest.records {
            return Ok(manifest_is_stale(oldest.file.path(), known, &self.start));
        }
        let (number, found) = (oldest.header.number, oldest.header.first_version);
        let (path, missing) = (path_of(&self.directory, number.saturating_sub(1)), self.start.first_version);
        let reason = format!(
            "is missing: log/{number} begins with version {found}, but version {missing} is in no layer"
        );
        Ok(self.lost(path, reason))
    }
}

/// The end of the records of a log.
#[derive(Debug)]
pub(super) struct LogEnd<'a> {
    pub(super) segment: &'a Segment,
    pub(super) position: u64,
    /// Where the record begins that closed the log there, if one did.
    pub(super) closed_at: Option<u64>,
    /// The last commit.
    pub(super) last: LogMark,
    /// The last statement about MANIFEST.
    pub(super) witness: Option<ManifestHead>,
}

/// Why a commit is refused that follows another one than the one before it.
fn other_history(version: u64) -> String {
    format!(
        "version {version} follows another version {} than the one before it: the files of the log are of copies of the database that took \
         different courses",
        version - 1
    )
}

fn damaged(current: &SegmentCursor, reason: &str) -> Error {
    Error::corrupt(current.segment.file.path(), current.position, reason)
}
