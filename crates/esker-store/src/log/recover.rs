//! Opening a log for writing: what a writer that died left behind is mended.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use super::options::{LogOptions, LogStart, log_directory};
use super::reader::LogReader;
use super::record::{RECORD_HEADER_BYTES, Record};
use super::segment::{FIRST_RECORD, Opened, Segment, numbers, path_of};
use super::writer::{Log, Tail};
use crate::error::{Error, Result};
use crate::io::{Disk, File};

/// Bytes that are written again at once.
const COPY_BYTES: usize = 1 << 20;

impl Log {
    /// Opens the log of the database at `database`, or begins it, and hands all commits from
    /// [`LogStart::first_version`] on to `replay`. When it returns, these are durable, and nothing else is in the log. The caller holds
    /// the database's lock.
    ///
    /// Time: reading the log, and writing its last segment unless it was closed. Memory: the longest record.
    ///
    /// # Errors
    /// As [`LogReader::read_next`], as `replay`, and [`Error::Io`] where mending fails.
    pub fn open(
        disk: Arc<dyn Disk>,
        database: &Path,
        start: LogStart,
        options: LogOptions,
        mut replay: impl FnMut(Record<'_>) -> Result<()>,
    ) -> Result<Self> {
        let directory = log_directory(database);
        if disk.look(&directory)?.is_none() {
            disk.create_directory(&directory)?;
        }
        // A writer that died may have seen names that would not survive a loss of power.
        disk.sync_directory(database)?;
        disk.sync_directory(&directory)?;
        let mut reader = LogReader::open(Arc::clone(&disk), database, start)?;
        while let Some(record) = reader.read_next()? {
            replay(record)?;
        }
        let tail = mend(disk.as_ref(), &directory, &reader, &start)?;
        drop(reader);
        Self::start(disk, directory, start, options, tail)
    }
}

/// Makes the log end where its last record does, durably, in a segment that can be appended to.
fn mend(disk: &dyn Disk, directory: &Path, reader: &LogReader, start: &LogStart) -> Result<Tail> {
    let last = reader.end().map_or(0, |end| end.segment.header.number);
    for number in numbers(disk, directory)? {
        if number > last {
            // Only one whose making was cut short: any other would have been read. It must not come back, or what is
            // appended to the one before could not be torn any more.
            disk.remove_file(&path_of(directory, number))?;
            disk.sync_directory(directory)?;
        }
    }
    let next_version = reader.next_version().max(start.first_version);
    let mut tail = match reader.end() {
        Some(end) => {
            let path = path_of(directory, last);
            let file = disk.open_for_writing(&path)?;
            cut_and_settle(file.as_ref(), end.position, end.is_closed)?;
            let segment = Segment { file, header: end.segment.header.clone() };
            let (position, is_closed) = (end.position, end.is_closed);
            let segments = VecDeque::new();
            Tail { segment, position, next_version, segments, is_closed, buffer: Vec::new() }
        }
        None => begin(disk, directory, 1, start)?,
    };
    // Where nothing is to be kept, or commits that are in a layer were lost from the log, it begins anew.
    let is_spent = reader.next_version() <= start.first_version;
    if is_spent && tail.segment.header.first_version != start.first_version {
        tail = begin(disk, directory, last + 1, start)?;
    }
    tail.segments = remove_spent(disk, directory, start)?;
    Ok(tail)
}

fn begin(disk: &dyn Disk, directory: &Path, number: u64, start: &LogStart) -> Result<Tail> {
    Ok(Tail {
        segment: Segment::create(disk, directory, number, start)?,
        position: FIRST_RECORD,
        next_version: start.first_version,
        segments: VecDeque::new(),
        is_closed: false,
        buffer: Vec::new(),
    })
}

/// Cuts what lies behind the last record and makes the rest durable. All that is done even if it seems done: a sync that
/// failed in a process that died may have left the file as it looks in the page cache alone, where no further sync would find
/// it amiss. Of the records of a log that was closed, that can only be the one that says so.
fn cut_and_settle(file: &dyn File, end: u64, is_closed: bool) -> Result<()> {
    file.set_length(end)?;
    let mut chunk = vec![0; COPY_BYTES.min(end as usize)];
    let mut position = if is_closed { end - RECORD_HEADER_BYTES } else { 0 };
    while position < end {
        let bytes = (chunk.len() as u64).min(end - position) as usize;
        file.read_exact_at(&mut chunk[..bytes], position)?;
        file.write_at(&chunk[..bytes], position)?;
        position += bytes as u64;
    }
    file.sync()
}

/// Removes segments that hold no version that is not in a layer; number and first version of each of the others.
fn remove_spent(disk: &dyn Disk, directory: &Path, start: &LogStart) -> Result<VecDeque<(u64, u64)>> {
    let mut kept = VecDeque::new();
    let mut is_changed = false;
    for number in numbers(disk, directory)?.into_iter().rev() {
        let path = path_of(directory, number);
        let header = match Segment::open(disk.open(&path)?, number, start)? {
            Opened::Whole(segment) => segment.header,
            Opened::Unborn => {
                return Err(Error::corrupt(path, 0, "it has no header, though there is a later segment"));
            }
        };
        if kept.front().is_some_and(|&(_, first_version)| first_version <= start.first_version) {
            disk.remove_file(&path)?;
            is_changed = true;
        } else {
            kept.push_front((number, header.first_version));
        }
    }
    if is_changed {
        disk.sync_directory(directory)?;
    }
    Ok(kept)
}
