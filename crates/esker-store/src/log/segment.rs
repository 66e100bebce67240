//! Segments, the files of the log: names and headers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, File};
use esker_format::{
    Error, FORMAT_VERSION, LOG_MAGIC, PAGE_BYTES, Result, SegmentHeader, header_page, read_header_page,
};

use super::options::LogStart;
use super::record::{RecordAddress, fill};

/// Offset of the first record.
pub(super) const FIRST_RECORD: u64 = PAGE_BYTES as u64;

/// An open segment.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) file: Arc<dyn File>,
    pub(super) header: SegmentHeader,
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
            manifest_records: start.manifest_records,
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
        if header.manifest_records > start.manifest_records {
            return stray(format!(
                "it was created when MANIFEST had {} records, but now there are {}: MANIFEST has lost records",
                header.manifest_records, start.manifest_records
            ));
        }
        Ok(Opened::Complete(Self { file, header }))
    }

    /// The address of a record in this segment.
    pub(super) fn address(&self, offset: u64) -> RecordAddress {
        RecordAddress { database: self.header.database, segment: self.header.number, offset }
    }
}
