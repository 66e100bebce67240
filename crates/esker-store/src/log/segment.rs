//! Segments, the files of the log: names and headers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, File, parent};
use esker_format::{
    Error, FORMAT_VERSION, FieldInput, FieldValue, LOG_MAGIC, LogRecordKind, ManifestHead, PAGE_BYTES,
    Result, SegmentHeader, header_page, read_header_page,
};

use super::options::LogStart;
use super::record::{RECORD_HEADER_BYTES, RecordAddress, fill, find_header};

/// The first format version in which records have summaries.
const SUMMARIES_SINCE: u32 = 5;
/// Size of the header of a record without a summary.
const OLD_RECORD_HEADER_BYTES: u64 = 40;
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
pub(super) enum Opened {
    /// A segment with a header.
    Complete(Segment),
    /// A segment whose writer died during its creation; it never held a record.
    Unfinished,
}

/// The path of a segment.
pub(super) fn path_of(directory: &Path, number: u64) -> PathBuf {
    directory.join(number.to_string())
}

/// The numbers of all segments, ascending. Ignores other names in the directory.
pub(super) fn numbers(disk: &dyn Disk, directory: &Path) -> Result<Vec<u64>> {
    if disk.look(directory)?.is_none() {
        return Ok(Vec::new());
    }
    let names = disk.list(directory)?.into_iter().filter(|entry| !entry.is_directory).map(|entry| entry.name);
    let mut numbers: Vec<u64> = names
        .filter_map(|name| name.parse().ok().filter(|number: &u64| number.to_string() == name))
        .collect();
    numbers.sort_unstable();
    Ok(numbers)
}

impl Segment {
    /// Creates a segment, durably.
    pub(super) fn create(disk: &dyn Disk, directory: &Path, number: u64, start: &LogStart) -> Result<Self> {
        let header = SegmentHeader {
            magic: LOG_MAGIC,
            format_version: FORMAT_VERSION,
            database: start.database,
            number,
            first_version: start.first_version,
            manifest_records: start.manifest.records,
        };
        let file = disk.create(&path_of(directory, number))?;
        file.write_at(&header_page(&header), 0)?;
        file.sync()?;
        disk.sync_directory(directory)?;
        Ok(Self { file, header })
    }

    /// Reads the header of a file and checks that it is segment `number` of this log.
    pub(super) fn open(file: Arc<dyn File>, number: u64, start: &LogStart) -> Result<Opened> {
        let path = file.path();
        let mut page = vec![0; file.len()?.min(FIRST_RECORD) as usize];
        if !fill(file.as_ref(), &mut page, 0)? {
            page.clear();
        }
        let header: SegmentHeader = match read_header_page(path, &page, LOG_MAGIC) {
            Ok(header) => header,
            // The writer syncs the header before it writes any record.
            Err(Error::Corrupt { .. }) if file.len()? <= FIRST_RECORD => return Ok(Opened::Unfinished),
            Err(error) => return Err(error),
        };
        let stray = |reason: String| Err(Error::corrupt(path, 0, reason));
        if header.database != start.database {
            return stray(format!("it belongs to database {}, not {}", header.database, start.database));
        }
        if header.number != number {
            return stray(format!("its header says that it is segment {} of the log", header.number));
        }
        Ok(Opened::Complete(Self { file, header }))
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
                statements.push((address.offset + address.header_bytes, header.summary_checksum));
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
        RecordAddress { database, segment, offset, header_bytes: self.record_header_bytes() }
    }

    /// Whether records have summaries.
    pub(super) fn has_summaries(&self) -> bool {
        self.header.format_version >= SUMMARIES_SINCE
    }

    /// Size of the header of a record.
    fn record_header_bytes(&self) -> u64 {
        if self.has_summaries() { RECORD_HEADER_BYTES } else { OLD_RECORD_HEADER_BYTES }
    }
}

/// The error for a MANIFEST with fewer records than a segment of the log knows.
pub(super) fn manifest_is_stale(segment: &Path, known: u64, start: &LogStart) -> Error {
    let database = parent(&parent(segment));
    let reason = format!(
        "has {} records, but {} was written when it had {known}: tags, forgotten versions, layers and whatever else \
         the others say are lost",
        start.manifest.records,
        segment.display()
    );
    Error::Lost { path: database.join("MANIFEST"), database, reason }
}
