//! The files of the log: their names and headers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::options::LogStart;
use super::record::{Place, fill};
use crate::error::{Error, Result};
use crate::format::{FORMAT_VERSION, LOG_MAGIC, PAGE_BYTES, SegmentHeader, header_page, read_header_page};
use crate::io::{Disk, File};

/// Records begin here.
pub(super) const FIRST_RECORD: u64 = PAGE_BYTES as u64;

/// An open segment.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) file: Arc<dyn File>,
    pub(super) header: SegmentHeader,
}

/// What a file of the log turned out to be.
#[derive(Debug)]
pub(super) enum Opened {
    /// A segment.
    Whole(Segment),
    /// One whose writer died while it made it: no record was ever in it.
    Unborn,
}

/// The file of a segment.
pub(super) fn path_of(directory: &Path, number: u64) -> PathBuf {
    directory.join(number.to_string())
}

/// The numbers of all segments, ascending. Other names are no concern of the log.
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
    /// Makes a segment; when it returns, the segment is durable.
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

    /// Reads the header of a file and checks that it belongs here.
    pub(super) fn open(file: Arc<dyn File>, number: u64, start: &LogStart) -> Result<Opened> {
        let path = file.path();
        let mut page = vec![0; file.len()?.min(FIRST_RECORD) as usize];
        if !fill(file.as_ref(), &mut page, 0)? {
            page.clear();
        }
        let header: SegmentHeader = match read_header_page(path, &page, LOG_MAGIC) {
            Ok(header) => header,
            // Records are only ever written once the header was synced.
            Err(Error::Corrupt { .. }) if file.len()? <= FIRST_RECORD => return Ok(Opened::Unborn),
            Err(error) => return Err(error),
        };
        let stray = |reason: String| Err(Error::corrupt(path, 0, reason));
        if header.database != start.database {
            return stray(format!(
                "it is of the log of another database, {}, and this one is {}",
                header.database, start.database
            ));
        }
        if header.number != number {
            return stray(format!("it is segment {} of the log, by another name", header.number));
        }
        if header.manifest_records > start.manifest_records {
            return stray(format!(
                "it was made when MANIFEST had {} records, and now there are {}: MANIFEST has lost some",
                header.manifest_records, start.manifest_records
            ));
        }
        Ok(Opened::Whole(Self { file, header }))
    }

    /// Where something begins in it.
    pub(super) fn place(&self, offset: u64) -> Place {
        Place { database: self.header.database, segment: self.header.number, offset }
    }
}
