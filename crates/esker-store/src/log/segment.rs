//! Segments, the files of the log: names and headers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{DirectoryEntry, Disk, File, parent};
use esker_format::{
    Error, FORMAT_VERSION, FieldInput, FieldValue, LOG_MAGIC, LogMark, LogRecordKind, ManifestHead,
    PAGE_BYTES, Result, SegmentHeader, header_page, read_header_page,
};

use super::options::{LogStart, log_directory};
use super::record::{RECORD_HEADER_BYTES, RecordAddress, fill, find_header};
use crate::holding::{GrowingFile, WriterLock};

/// Offset of the first record.
pub(super) const FIRST_RECORD: u64 = PAGE_BYTES as u64;

/// An open segment.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) file: Arc<dyn File>,
    pub(super) header: SegmentHeader,
}

/// What the records of a segment know of.
#[derive(Debug)]
pub(super) struct KnownByRecords {
    /// The last version.
    pub(super) last_version: u64,
    /// The number of MANIFEST's records.
    pub(super) manifest_records: u64,
}

/// The result of opening a segment.
#[derive(Debug)]
pub(super) enum OpenedSegment {
    /// A segment with a header.
    Complete(Segment),
    /// A segment whose writer died during its creation; it never held a record.
    Unfinished,
}

/// The path of a segment.
pub(super) fn path_of(directory: &Path, number: u64) -> PathBuf {
    directory.join(number.to_string())
}

/// The numbers of all segments, ascending; `mark` says how far the log reaches at least. Ignores other names
/// in the directory, and files that are no segments: with a number that neither the mark nor a segment leads
/// to, and without the bytes that a segment begins with.
pub(super) fn numbers(disk: &dyn Disk, directory: &Path, mark: Option<LogMark>) -> Result<Vec<u64>> {
    if disk.look(directory)?.is_none() {
        return Ok(Vec::new());
    }
    let names = disk.list(directory)?.into_iter().filter(|entry| !entry.is_directory).map(|entry| entry.name);
    let mut numbers: Vec<u64> = names.filter_map(|name| number_of(&name)).collect();
    numbers.sort_unstable();
    // Without a mark, a segment is not known from another file if its header is damaged.
    let Some(mut last) = mark.map(|mark| mark.segment) else { return Ok(numbers) };
    numbers.retain(|&number| {
        let is_next = number <= last.saturating_add(1);
        let is_segment = is_next || begins_as_segment(disk, &path_of(directory, number));
        last = if is_segment { last.max(number) } else { last };
        is_segment
    });
    Ok(numbers)
}

/// The number of a segment of this name.
fn number_of(name: &str) -> Option<u64> {
    name.parse().ok().filter(|number: &u64| number.to_string() == name)
}

/// Whether a file begins as segments do; true if it cannot be read.
fn begins_as_segment(disk: &dyn Disk, path: &Path) -> bool {
    let mut magic = [0; LOG_MAGIC.len()];
    let read = disk.open(path).and_then(|file| fill(file.as_ref(), &mut magic, 0));
    read.is_err() || magic == LOG_MAGIC
}

/// What lies in the directory of the log of a database and is no segment of it.
///
/// # Errors
/// [`Error::Io`].
pub(crate) fn foreign_in_log(
    disk: &dyn Disk,
    database: &Path,
    mark: Option<LogMark>,
) -> Result<Vec<PathBuf>> {
    let directory = log_directory(database);
    if disk.look(&directory)?.is_none() {
        return Ok(Vec::new());
    }
    let segments = numbers(disk, &directory, mark)?;
    let is_segment = |entry: &DirectoryEntry| {
        let number = number_of(&entry.name).filter(|_| !entry.is_directory);
        number.is_some_and(|number| segments.binary_search(&number).is_ok())
    };
    // Listed before, a segment may be gone; listed after, it may be new: then it has a number.
    let entries = disk.list(&directory)?.into_iter().filter(|entry| !is_segment(entry));
    let last = segments.last().copied().unwrap_or(0);
    let is_new = |entry: &DirectoryEntry| !entry.is_directory && number_of(&entry.name) == Some(last + 1);
    Ok(entries.filter(|entry| !is_new(entry)).map(|entry| directory.join(entry.name)).collect())
}

impl Segment {
    /// Creates a segment of the log of the locked database, durably.
    pub(super) fn create(lock: &WriterLock, disk: &dyn Disk, number: u64, start: &LogStart) -> Result<Self> {
        let directory = log_directory(lock.database());
        let header = SegmentHeader {
            magic: LOG_MAGIC,
            format_version: FORMAT_VERSION,
            database: start.database,
            number,
            first_version: start.first_version,
            manifest_records: start.manifest.records,
            previous: start.previous.unwrap_or(0),
        };
        let path = path_of(&directory, number);
        let file = disk.create(&path)?;
        lock.keep(GrowingFile::Segment, &path, lock.lock_file(file.as_ref())?);
        file.write_at(&header_page(&header), 0)?;
        file.sync()?;
        disk.sync_directory(&directory)?;
        Ok(Self { file, header })
    }

    /// Reads the header of a file and checks that it is segment `number` of this log.
    pub(super) fn open(file: Arc<dyn File>, number: u64, start: &LogStart) -> Result<OpenedSegment> {
        let path = file.path();
        let mut page = vec![0; file.len()?.min(FIRST_RECORD) as usize];
        if !fill(file.as_ref(), &mut page, 0)? {
            page.clear();
        }
        let header: SegmentHeader = match read_header_page(path, &page, LOG_MAGIC) {
            Ok(header) => header,
            // The writer syncs the header before it writes any record.
            Err(Error::Corrupt { .. }) if file.len()? <= FIRST_RECORD => {
                return Ok(OpenedSegment::Unfinished);
            }
            Err(Error::Corrupt { .. }) if !page.starts_with(&LOG_MAGIC) => {
                let reason = "it is no segment of the log: if it is not Esker's, move it elsewhere";
                return Err(Error::corrupt(path, 0, reason));
            }
            Err(error) => return Err(error),
        };
        let stray = |reason: String| Err(Error::corrupt(path, 0, reason));
        if header.database != start.database {
            return stray(format!("it belongs to database {}, not {}", header.database, start.database));
        }
        if header.number != number {
            return stray(format!("its header says that it is segment {} of the log", header.number));
        }
        Ok(OpenedSegment::Complete(Self { file, header }))
    }

    /// What the headers of its records say, also of those behind a damaged one.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn known(&self) -> Result<KnownByRecords> {
        let SegmentHeader { first_version, manifest_records, .. } = self.header;
        let mut known = KnownByRecords { last_version: first_version.saturating_sub(1), manifest_records };
        let file = self.file.as_ref();
        let mut statements = Vec::new();
        find_header(file, self.address(FIRST_RECORD), |address, header| {
            known.last_version = known.last_version.max(header.version);
            if matches!(header.kind, LogRecordKind::Close | LogRecordKind::Manifest) {
                statements.push((address.offset + RECORD_HEADER_BYTES, header.summary_checksum));
            }
            false
        })?;
        for (offset, checksum) in statements {
            let mut summary = [0; 12];
            if fill(file, &mut summary, offset)? && crc32c::crc32c(&summary) == checksum {
                let head = ManifestHead::take(&mut FieldInput::new(file.path(), &summary, offset))?;
                known.manifest_records = known.manifest_records.max(head.records);
            }
        }
        Ok(known)
    }

    /// The address of a record in this segment.
    pub(super) fn address(&self, offset: u64) -> RecordAddress {
        let SegmentHeader { database, number: segment, .. } = self.header;
        RecordAddress { database, segment, offset }
    }
}

/// The error for a MANIFEST with fewer records than a segment of the log knows.
pub(super) fn manifest_is_stale(segment: &Path, known: u64, start: &LogStart) -> Error {
    let database = parent(&parent(segment));
    let reason = format!(
        "has {}, but {} was written when it had {known}: tags, forgotten versions, layers and whatever else \
         the others say are lost",
        esker_graph::counted(start.manifest.records, "record", "records"),
        segment.display()
    );
    Error::Lost { path: database.join("MANIFEST"), database, reason }
}
