//! Appending commits from several threads, and removing segments that are no longer needed.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use esker_format::io::Disk;
use esker_format::memory::reserve;
use esker_format::{
    DatabaseId, Error, FieldValue, LogMark, LogRecordHeader, LogRecordKind, ManifestHead, Result,
};
use esker_graph::Stop;

use super::durable::{Durability, LogPosition};
use super::options::{LogOptions, LogStart, Sync, log_directory};
use super::record::{RECORD_HEADER_BYTES, commit_header, padding};
use super::segment::{FIRST_RECORD, Segment, path_of};
use crate::holding::WriterLock;

/// A segment smaller than its full size divided by this stays, even if all its commits are in layers:
/// creating a new one takes three syncs.
const SPENT_SHARE: u64 = 16;
/// Payloads up to this size are written together with their header.
const TOGETHER_BYTES: usize = 256 << 10;

/// The log of a database, open for writing by one process.
///
/// After a failed write or sync, all calls return errors, because the state of the disk is unknown. Reopen
/// the database to recover.
#[derive(Debug)]
pub(crate) struct Log {
    core: Arc<LogCore>,
    sync_thread: Option<SyncThread>,
}

#[derive(Debug)]
struct LogCore {
    lock: WriterLock,
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    database: DatabaseId,
    options: LogOptions,
    tail: Mutex<LogTail>,
    durability: Durability,
}

/// The growing end of the log.
#[derive(Debug)]
pub(super) struct LogTail {
    pub(super) segment: Segment,
    /// Offset of the next record.
    pub(super) position: u64,
    pub(super) next_version: u64,
    /// The last commit.
    pub(super) last: LogMark,
    /// The last record of MANIFEST.
    pub(super) manifest: ManifestHead,
    /// What the last record about MANIFEST says of it.
    pub(super) witness: Option<ManifestHead>,
    /// Number and first version of each segment, `segment` included, oldest first.
    pub(super) segments: VecDeque<(u64, u64)>,
    /// Whether the last record is of kind `Close`.
    pub(super) is_closed: bool,
    /// Buffer in which small records are assembled.
    pub(super) buffer: Vec<u8>,
}

/// The thread that syncs at intervals.
#[derive(Debug)]
struct SyncThread {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Log {
    /// Continues a log whose tail is repaired and durable.
    pub(super) fn start(
        lock: &WriterLock,
        start: LogStart,
        options: LogOptions,
        tail: LogTail,
    ) -> Result<Self> {
        let directory = log_directory(lock.database());
        let position = LogPosition { bytes: tail.position, last: tail.last };
        let file = Arc::clone(&tail.segment.file);
        let durability = Durability::new(directory.clone(), lock.clone(), file, position);
        let core = Arc::new(LogCore {
            lock: lock.clone(),
            disk: lock.disk(),
            directory,
            database: start.database,
            options,
            tail: Mutex::new(tail),
            durability,
        });
        let sync_thread = match options.sync {
            Sync::Interval(interval) => Some(SyncThread::start(Arc::clone(&core), interval)?),
            Sync::Always | Sync::Never => None,
        };
        Ok(Self { core, sync_thread })
    }

    /// The version that the next commit must have.
    pub(crate) fn next_version(&self) -> u64 {
        self.core.tail().next_version
    }

    /// The last version known to be durable; all earlier ones are durable too.
    pub(crate) fn durable_version(&self) -> u64 {
        self.core.durability.durable().last.version
    }

    /// How far the log is known to be durable.
    pub(crate) fn mark(&self) -> LogMark {
        self.core.durability.durable().last
    }

    /// Appends a commit, and returns the checksum in the header of its record. It is durable only after
    /// [`Log::wait`]: several threads can append one after another, under their own lock, and then wait
    /// together.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `version` is not the next one, or if the log has failed; [`Error::Io`] and
    /// [`Error::Corrupt`] if writing fails, which makes the log fail.
    pub(crate) fn append(&self, version: u64, flags: u16, summary: &[u8], payload: &[u8]) -> Result<u32> {
        let mut tail = self.core.tail();
        self.core.durability.check()?;
        if version != tail.next_version {
            let next = tail.next_version;
            return Err(Error::invalid(format!("the next version of the log is {next}, not {version}")));
        }
        if payload.len() <= TOGETHER_BYTES {
            tail.buffer.clear();
            reserve(&mut tail.buffer, summary.len() + payload.len() + 2 * RECORD_HEADER_BYTES as usize)?;
        }
        if tail.position >= self.core.options.segment_bytes && tail.position > FIRST_RECORD {
            self.core.rotate(&mut tail)?;
        }
        let durable_bytes = self.core.durability.durable().bytes;
        let header = commit_header(version, flags, durable_bytes, summary, payload);
        self.core.put(&mut tail, header, summary, payload)?;
        Ok(tail.last.checksum)
    }

    /// Returns once the commit of `version` and all earlier ones are as durable as [`LogOptions::sync`]
    /// requires.
    ///
    /// # Errors
    /// If the sync fails, one caller gets [`Error::Io`]; all other and later callers get [`Error::Invalid`].
    /// As [`WriterLock::expect`], which makes the log fail.
    pub(crate) fn wait(&self, version: u64) -> Result<()> {
        let last = self.core.durability.written().last.version;
        if version > last {
            let reason = format!("version {version} was not appended to the log, which ends with {last}");
            return Err(Error::invalid(reason));
        }
        match self.core.options.sync {
            Sync::Always => self.core.durability.sync_to(version),
            Sync::Interval(_) | Sync::Never if self.durable_version() >= version => Ok(()),
            Sync::Interval(_) | Sync::Never => self.core.durability.check_files(),
        }
    }

    /// Makes all appended commits durable, whatever the options. Call it before writing a manifest record
    /// that moves commits to a layer.
    ///
    /// # Errors
    /// As [`Log::wait`].
    pub(crate) fn sync(&self) -> Result<()> {
        self.core.durability.sync_all()
    }

    /// Notes the last record of MANIFEST. The record that says so is not synced, and its failure does no
    /// harm: closing the log writes another.
    pub(crate) fn set_manifest(&self, head: ManifestHead) {
        self.note_manifest(head);
        let mut tail = self.core.tail();
        if self.core.durability.check().is_err() {
            return;
        }
        let (header, summary) = self.core.about_manifest(&tail, LogRecordKind::Manifest);
        if let Ok(end) = self.core.write(&mut tail, header, &summary, &[]) {
            self.core.advance(&mut tail, end);
            (tail.witness, tail.is_closed) = (Some(head), false);
        }
    }

    /// Notes the last record of MANIFEST for the closing record.
    pub(crate) fn note_manifest(&self, head: ManifestHead) {
        self.core.tail().manifest = head;
    }

    /// Removes the segments that hold only versions up to `version`, all of which a synced manifest says are
    /// in layers. If the last segment is one of them and is not small, begins a new segment so that it can be
    /// removed too.
    ///
    /// # Errors
    /// [`Error::Io`]: a segment that cannot be removed stays for the next call; if the new segment cannot be
    /// created, the log fails. [`Error::Invalid`] if the log has failed.
    pub(crate) fn remove_through(&self, version: u64) -> Result<()> {
        let mut tail = self.core.tail();
        self.core.durability.check()?;
        let is_large = tail.position - FIRST_RECORD >= self.core.options.segment_bytes / SPENT_SHARE;
        if tail.next_version <= version.saturating_add(1)
            && tail.next_version > tail.segment.header.first_version
            && is_large
        {
            self.core.rotate(&mut tail)?;
        }
        let mut is_changed = false;
        while tail.segments.get(1).is_some_and(|&(_, first)| first <= version.saturating_add(1)) {
            self.core.disk.remove_file(&path_of(&self.core.directory, tail.segments[0].0))?;
            tail.segments.pop_front();
            is_changed = true;
        }
        if is_changed { self.core.disk.sync_directory(&self.core.directory) } else { Ok(()) }
    }

    /// Number of segments.
    #[cfg(test)]
    pub(crate) fn num_segments(&self) -> usize {
        self.core.tail().segments.len()
    }

    /// Syncs everything and appends a record of kind `Close`, which spares the next opening a repair.
    /// Dropping the log does the same but cannot report errors.
    ///
    /// # Errors
    /// As [`Log::wait`].
    #[cfg(test)]
    pub(crate) fn close(mut self) -> Result<()> {
        self.finish()
    }

    fn finish(&mut self) -> Result<()> {
        drop(self.sync_thread.take());
        let mut tail = self.core.tail();
        self.core.durability.check_files()?;
        self.core.durability.sync_all()?;
        let is_known = match tail.position {
            FIRST_RECORD => tail.segment.header.manifest_records == tail.manifest.records,
            _ => tail.is_closed && tail.witness == Some(tail.manifest),
        };
        if is_known {
            return Ok(());
        }
        let (header, summary) = self.core.about_manifest(&tail, LogRecordKind::Close);
        self.core.put(&mut tail, header, &summary, &[])?;
        tail.witness = Some(tail.manifest);
        self.core.durability.sync_all()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // If closing fails, the next opening takes longer but loses nothing.
        let _ = self.finish();
    }
}

impl LogCore {
    fn tail(&self) -> MutexGuard<'_, LogTail> {
        self.tail.lock()
    }

    /// A record about MANIFEST: its header and summary.
    fn about_manifest(&self, tail: &LogTail, kind: LogRecordKind) -> (LogRecordHeader, Vec<u8>) {
        let mut summary = Vec::new();
        tail.manifest.put(&mut summary);
        let durable_bytes = self.durability.durable().bytes;
        let header = commit_header(tail.next_version - 1, 0, durable_bytes, &summary, &[]);
        (LogRecordHeader { kind, ..header }, summary)
    }

    /// Appends a record; makes the log fail if that fails.
    fn put(
        &self,
        tail: &mut LogTail,
        mut header: LogRecordHeader,
        summary: &[u8],
        payload: &[u8],
    ) -> Result<()> {
        let (kind, version) = (header.kind, header.version);
        header.previous = tail.last.checksum;
        let header = tail.segment.address(tail.position).sealed(header);
        let checksum = header.checksum;
        let written = self.write(tail, header, summary, payload);
        let end = written.inspect_err(|error| self.durability.fail(error))?;
        if kind == LogRecordKind::Commit {
            tail.next_version += 1;
            tail.last = LogMark { segment: tail.segment.header.number, bytes: end, version, checksum };
        }
        tail.is_closed = kind == LogRecordKind::Close;
        self.advance(tail, end);
        Ok(())
    }

    /// Moves behind a written record.
    fn advance(&self, tail: &mut LogTail, end: u64) {
        tail.position = end;
        self.durability.set_written(LogPosition { bytes: end, last: tail.last });
    }

    /// Writes a record at the end, and returns where it ends.
    fn write(
        &self,
        tail: &mut LogTail,
        mut header: LogRecordHeader,
        summary: &[u8],
        payload: &[u8],
    ) -> Result<u64> {
        let (file, start) = (&tail.segment.file, tail.position);
        // An older file that was copied over the segment is shorter: a write beyond its end would hide that.
        let bytes = file.status().ok().and_then(|named| named.bytes);
        if bytes.is_some_and(|bytes| bytes < start) {
            self.durability.check_files()?;
            return Err(Error::corrupt(
                file.path(),
                start,
                "the file is shorter than what was written to it",
            ));
        }
        header.previous = tail.last.checksum;
        let zeros = padding((summary.len() + payload.len()) as u64);
        let header = tail.segment.address(start).encode(header);
        let payload_start = start + (header.len() + summary.len()) as u64;
        let end = payload_start + (payload.len() + zeros.len()) as u64;
        tail.buffer.clear();
        tail.buffer.extend_from_slice(&header);
        tail.buffer.extend_from_slice(summary);
        if payload.len() <= TOGETHER_BYTES {
            tail.buffer.extend_from_slice(payload);
            tail.buffer.extend_from_slice(zeros);
            file.write_at(&tail.buffer, start)?;
        } else {
            file.write_at(&tail.buffer, start)?;
            file.write_at(payload, payload_start)?;
            file.write_at(zeros, end - zeros.len() as u64)?;
        }
        Ok(end)
    }

    /// Completes the segment and begins the next one.
    fn rotate(&self, tail: &mut LogTail) -> Result<()> {
        self.durability.sync_all()?;
        let start = LogStart {
            database: self.database,
            first_version: tail.next_version,
            previous: Some(tail.last.checksum),
            manifest: tail.manifest,
            mark: None,
        };
        let number = tail.segment.header.number + 1;
        let segment = Segment::create(&self.lock, self.disk.as_ref(), number, &start)
            .inspect_err(|error| self.durability.fail(error))?;
        self.say_that_it_continues(tail).inspect_err(|error| self.durability.fail(error))?;
        self.durability.begin_segment(Arc::clone(&segment.file), FIRST_RECORD);
        tail.segments.push_back((number, tail.next_version));
        tail.segment = segment;
        tail.position = FIRST_RECORD;
        tail.is_closed = false;
        Ok(())
    }

    /// Writes into the last segment that a later one exists, so that the loss of that one is noticed.
    fn say_that_it_continues(&self, tail: &mut LogTail) -> Result<()> {
        let header = commit_header(tail.next_version - 1, 0, tail.position, &[], &[]);
        let header = LogRecordHeader { kind: LogRecordKind::Continue, ..header };
        self.write(tail, header, &[], &[])?;
        tail.segment.file.sync()
    }
}

impl SyncThread {
    fn start(core: Arc<LogCore>, interval: Duration) -> Result<Self> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let stopped = Arc::clone(&stop);
        let run = move || {
            let (flag, changed) = &*stopped;
            let mut flag = flag.lock();
            while !*flag {
                changed.wait_for(&mut flag, interval);
                // Later appends and waits report the failure.
                if core.durability.sync_all().is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("esker-log".to_owned()).spawn(run);
        let thread = thread.map_err(|error| Stop::Threads(error.to_string()))?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for SyncThread {
    fn drop(&mut self) {
        let (flag, changed) = &*self.stop;
        *flag.lock() = true;
        changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // The thread does not panic, and a panic could not be handled here.
            let _ = thread.join();
        }
    }
}
