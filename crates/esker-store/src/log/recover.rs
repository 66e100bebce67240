//! Opening a log for writing, and repairing it after a crash.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, File};
use esker_format::{Error, LogMark, Result};
use esker_graph::Cancel;

use super::options::{LogOptions, LogStart, log_directory};
use super::reader::LogReader;
use super::record::LogRecord;
use super::segment::{FIRST_RECORD, OpenedSegment, Segment, numbers, path_of};
use super::writer::{Log, LogTail};
use crate::holding::{GrowingFile, WriterLock};

/// Size of the chunks in which a segment is rewritten.
const COPY_BYTES: usize = 1 << 20;

impl Log {
    /// Opens or creates the log of the locked database, and passes the summaries of all commits from
    /// [`LogStart::first_version`] on to `list`. On return they are durable, and the log holds no other
    /// records after them.
    ///
    /// Time: reads the summaries, and rewrites the last segment unless it was closed. Memory: the longest
    /// summary.
    ///
    /// # Errors
    /// As [`LogReader::read_summary`]; errors of `list`; [`Error::Io`] if the repair fails.
    pub(crate) fn open(
        lock: &WriterLock,
        start: LogStart,
        options: LogOptions,
        cancel: &Cancel,
        mut list: impl FnMut(LogRecord<'_>) -> Result<()>,
    ) -> Result<Self> {
        let (disk, database) = (lock.disk(), lock.database());
        let directory = log_directory(database);
        if disk.look(&directory)?.is_none() {
            disk.create_directory(&directory)?;
        }
        // A writer that died may have created names that a power failure would lose.
        disk.sync_directory(database)?;
        disk.sync_directory(&directory)?;
        let mut reader = LogReader::open(Arc::clone(&disk), database, start)?.with_cancel(cancel);
        while let Some(record) = reader.read_summary()? {
            list(record)?;
        }
        let tail = repair(lock, &directory, &reader, &start)?;
        drop(reader);
        Self::start(lock, start, options, tail)
    }
}

/// Makes the log end durably with its last record, in a segment that can be appended to.
fn repair(lock: &WriterLock, directory: &Path, reader: &LogReader, start: &LogStart) -> Result<LogTail> {
    let disk = lock.disk();
    let disk = disk.as_ref();
    let last = reader.end().map_or(0, |end| end.segment.header.number);
    for number in numbers(disk, directory, start.mark)? {
        if number > last {
            // This segment's creation was interrupted: the reader would have read any other. Its name must
            // not come back, because then a torn write to the previous segment would count as damage.
            disk.remove_file(&path_of(directory, number))?;
            disk.sync_directory(directory)?;
        }
    }
    let next_version = reader.next_version().max(start.first_version);
    let mut tail = match reader.end() {
        Some(end) => {
            let path = path_of(directory, last);
            let file = lock.open(GrowingFile::Segment, &path)?;
            truncate_and_rewrite(file.as_ref(), end.position, end.closed_at)?;
            LogTail {
                segment: Segment { file, header: end.segment.header.clone() },
                position: end.position,
                next_version,
                last: end.last,
                manifest: start.manifest,
                witness: end.witness,
                segments: VecDeque::new(),
                is_closed: end.closed_at.is_some(),
                buffer: Vec::new(),
            }
        }
        None => begin(lock, disk, 1, start)?,
    };
    // Begin a new segment if all commits are in layers, or if the log lost commits that are in a layer.
    let is_spent = reader.next_version() <= start.first_version;
    if is_spent && tail.segment.header.first_version != start.first_version {
        tail = begin(lock, disk, last + 1, start)?;
    }
    tail.segments = remove_spent(disk, directory, start)?;
    Ok(tail)
}

pub(super) fn begin(lock: &WriterLock, disk: &dyn Disk, number: u64, start: &LogStart) -> Result<LogTail> {
    let version = start.first_version - 1;
    let segment = Segment::create(lock, disk, number, start)?;
    let last = LogMark { segment: number, bytes: FIRST_RECORD, version, checksum: segment.header.previous };
    Ok(LogTail {
        segment,
        position: FIRST_RECORD,
        next_version: start.first_version,
        last,
        manifest: start.manifest,
        witness: None,
        segments: VecDeque::new(),
        is_closed: false,
        buffer: Vec::new(),
    })
}

/// Truncates the segment after its last record, then rewrites and syncs the rest. The rewrite is necessary:
/// after a failed sync in a process that died, the data may exist only in the page cache, where a later sync
/// succeeds without writing it. In a closed log, only the last record, of kind `Close`, can be in that state.
fn truncate_and_rewrite(file: &dyn File, end: u64, closed_at: Option<u64>) -> Result<()> {
    file.set_length(end)?;
    let mut chunk = vec![0; COPY_BYTES.min(end as usize)];
    let mut position = closed_at.unwrap_or(0);
    while position < end {
        let bytes = (chunk.len() as u64).min(end - position) as usize;
        file.read_exact_at(&mut chunk[..bytes], position)?;
        file.write_at(&chunk[..bytes], position)?;
        position += bytes as u64;
    }
    file.sync()
}

/// Removes segments whose versions are all in layers. Returns number and first version of each other segment.
fn remove_spent(disk: &dyn Disk, directory: &Path, start: &LogStart) -> Result<VecDeque<(u64, u64)>> {
    let mut kept = VecDeque::new();
    let mut is_changed = false;
    for number in numbers(disk, directory, start.mark)?.into_iter().rev() {
        let path = path_of(directory, number);
        if kept.front().is_some_and(|&(_, first_version)| first_version <= start.first_version) {
            // Whatever is in it: a later one has all that is in no layer.
            disk.remove_file(&path)?;
            is_changed = true;
            continue;
        }
        let header = match Segment::open(disk.open(&path)?, number, start)? {
            OpenedSegment::Complete(segment) => segment.header,
            OpenedSegment::Unfinished => {
                return Err(Error::corrupt(path, 0, "it has no header, although a later segment exists"));
            }
        };
        kept.push_front((number, header.first_version));
    }
    if is_changed {
        disk.sync_directory(directory)?;
    }
    Ok(kept)
}
