//! Appending commits, from several threads, and removing segments that are not needed any more.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use esker_graph::Stop;

use super::durable::{Durability, Reach};
use super::options::{LogOptions, LogStart, Sync};
use super::record::{RECORD_HEADER_BYTES, commit_header, padding};
use super::segment::{FIRST_RECORD, Segment, path_of};
use crate::error::{Error, Result};
use crate::format::{DatabaseId, LogRecordHeader, LogRecordKind};
use crate::io::Disk;
use crate::memory::reserve;

/// A segment of less than this part of its full size stays, though all of it is in layers: a new one takes three syncs.
const SPENT_SHARE: u64 = 16;
/// Payloads up to this size are written together with their header.
const TOGETHER_BYTES: usize = 256 << 10;

/// The log of a database, for the process that writes to it.
///
/// Once a write or a sync failed, everything is refused: what the disk holds is not known any more. Opening the database
/// again finds out.
#[derive(Debug)]
pub struct Log {
    core: Arc<Core>,
    ticker: Option<Ticker>,
}

#[derive(Debug)]
struct Core {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    database: DatabaseId,
    options: LogOptions,
    manifest_records: AtomicU64,
    tail: Mutex<Tail>,
    durability: Durability,
}

/// Where the log grows.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) segment: Segment,
    /// Where the next record begins.
    pub(super) position: u64,
    pub(super) next_version: u64,
    /// Number and first version of each segment, `segment` included, oldest first.
    pub(super) segments: VecDeque<(u64, u64)>,
    /// Whether the last record says that the log was closed.
    pub(super) is_closed: bool,
    /// A small record in the making.
    pub(super) buffer: Vec<u8>,
}

/// The thread that syncs at intervals.
#[derive(Debug)]
struct Ticker {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Log {
    /// Continues a log whose tail is as it should be, and durable.
    pub(super) fn start(
        disk: Arc<dyn Disk>,
        directory: PathBuf,
        start: LogStart,
        options: LogOptions,
        tail: Tail,
    ) -> Result<Self> {
        let reach = Reach { bytes: tail.position, version: tail.next_version - 1 };
        let durability = Durability::new(directory.clone(), Arc::clone(&tail.segment.file), reach);
        let core = Arc::new(Core {
            disk,
            directory,
            database: start.database,
            options,
            manifest_records: start.manifest_records.into(),
            tail: Mutex::new(tail),
            durability,
        });
        let ticker = match options.sync {
            Sync::Interval(interval) => Some(Ticker::start(Arc::clone(&core), interval)?),
            Sync::Always | Sync::Never => None,
        };
        Ok(Self { core, ticker })
    }

    /// The version that the next commit has to have.
    pub fn next_version(&self) -> u64 {
        self.core.tail().next_version
    }

    /// The last version that is known to be durable, with all before it.
    pub fn durable_version(&self) -> u64 {
        self.core.durability.durable().version
    }

    /// Appends a commit. It counts only after [`Log::wait`]; so several threads can append one after another, under a
    /// lock of theirs, and wait together.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not the turn of this version, or the log failed before; [`Error::Io`] and
    /// [`Error::Corrupt`] if writing fails, and with it the log.
    pub fn append(&self, version: u64, flags: u16, payload: &[u8]) -> Result<()> {
        let mut tail = self.core.tail();
        self.core.durability.check()?;
        if version != tail.next_version {
            let due = tail.next_version;
            return Err(Error::Invalid(format!("the log takes version {due} next, not {version}")));
        }
        if payload.len() <= TOGETHER_BYTES {
            tail.buffer.clear();
            reserve(&mut tail.buffer, payload.len() + 2 * RECORD_HEADER_BYTES as usize)?;
        }
        if tail.position >= self.core.options.segment_bytes && tail.position > FIRST_RECORD {
            self.core.rotate(&mut tail)?;
        }
        let durable_bytes = self.core.durability.durable().bytes;
        self.core.put(&mut tail, commit_header(version, flags, durable_bytes, payload), payload)
    }

    /// Returns once the commit of this version, and so all before it, is as durable as [`LogOptions::sync`] says.
    ///
    /// # Errors
    /// [`Error::Io`] if the sync fails, to one caller; [`Error::Invalid`] to all others who wait and ever after.
    pub fn wait(&self, version: u64) -> Result<()> {
        let last = self.core.durability.written().version;
        if version > last {
            let reason = format!("version {version} was not appended to the log, which ends with {last}");
            return Err(Error::Invalid(reason));
        }
        match self.core.options.sync {
            Sync::Always => self.core.durability.sync_to(version),
            Sync::Interval(_) | Sync::Never if self.durable_version() >= version => Ok(()),
            Sync::Interval(_) | Sync::Never => self.core.durability.check(),
        }
    }

    /// Appends a commit and waits for it.
    ///
    /// # Errors
    /// As [`Log::append`] and [`Log::wait`].
    pub fn commit(&self, version: u64, flags: u16, payload: &[u8]) -> Result<()> {
        self.append(version, flags, payload)?;
        self.wait(version)
    }

    /// Makes all that was appended durable, whatever the options. To be called before a manifest record that says that
    /// commits are in a layer.
    ///
    /// # Errors
    /// As [`Log::wait`].
    pub fn sync(&self) -> Result<()> {
        self.core.durability.sync_all()
    }

    /// Says that MANIFEST has so many records now: the next segment vouches for them.
    pub fn set_manifest_records(&self, records: u64) {
        self.core.manifest_records.store(records, Ordering::Relaxed);
    }

    /// Removes the segments that hold no version beyond `version`: all up to there is in a layer, by a manifest that
    /// was synced. If nothing is beyond it, and the last segment is not small, a new one is begun: then that one goes, too.
    ///
    /// # Errors
    /// [`Error::Io`]: if a segment cannot be removed, it stays for the next call; if the new one cannot be made, the log
    /// fails. [`Error::Invalid`] if the log failed before.
    pub fn remove_through(&self, version: u64) -> Result<()> {
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
    pub fn num_segments(&self) -> usize {
        self.core.tail().segments.len()
    }

    /// Syncs everything and says so in a last record, by which the next opening knows that nothing is amiss. Dropping
    /// the log does the same, but cannot say what fails.
    ///
    /// # Errors
    /// As [`Log::wait`].
    pub fn close(mut self) -> Result<()> {
        self.finish()
    }

    fn finish(&mut self) -> Result<()> {
        drop(self.ticker.take());
        let mut tail = self.core.tail();
        self.core.durability.check()?;
        self.core.durability.sync_all()?;
        if tail.is_closed || tail.position == FIRST_RECORD {
            return Ok(());
        }
        let commit = commit_header(tail.next_version - 1, 0, tail.position, &[]);
        let close = LogRecordHeader { kind: LogRecordKind::Close, ..commit };
        self.core.put(&mut tail, close, &[])?;
        self.core.durability.sync_all()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // Without the last record the next opening takes longer: no more is lost.
        let _ = self.finish();
    }
}

impl Core {
    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a record at the end.
    fn put(&self, tail: &mut Tail, header: LogRecordHeader, payload: &[u8]) -> Result<()> {
        let is_commit = header.kind == LogRecordKind::Commit;
        let written = self.write(tail, header, payload);
        let end = written.inspect_err(|error| self.durability.fail(error))?;
        tail.position = end;
        tail.next_version += u64::from(is_commit);
        tail.is_closed = !is_commit;
        self.durability.wrote(Reach { bytes: end, version: tail.next_version - 1 });
        Ok(())
    }

    fn write(&self, tail: &mut Tail, header: LogRecordHeader, payload: &[u8]) -> Result<u64> {
        let (file, start) = (&tail.segment.file, tail.position);
        let zeros = padding(payload.len() as u64);
        let header = tail.segment.place(start).encode(header);
        let payload_start = start + RECORD_HEADER_BYTES;
        let end = payload_start + (payload.len() + zeros.len()) as u64;
        if payload.len() <= TOGETHER_BYTES {
            tail.buffer.clear();
            for part in [&header, payload, zeros] {
                tail.buffer.extend_from_slice(part);
            }
            file.write_at(&tail.buffer, start)?;
        } else {
            file.write_at(&header, start)?;
            file.write_at(payload, payload_start)?;
            file.write_at(zeros, end - zeros.len() as u64)?;
        }
        Ok(end)
    }

    /// Completes the segment and begins the next.
    fn rotate(&self, tail: &mut Tail) -> Result<()> {
        self.durability.sync_all()?;
        let start = LogStart {
            database: self.database,
            first_version: tail.next_version,
            manifest_records: self.manifest_records.load(Ordering::Relaxed),
        };
        let number = tail.segment.header.number + 1;
        let segment = Segment::create(self.disk.as_ref(), &self.directory, number, &start)
            .inspect_err(|error| self.durability.fail(error))?;
        self.durability.begin_segment(Arc::clone(&segment.file), FIRST_RECORD);
        tail.segments.push_back((number, tail.next_version));
        tail.segment = segment;
        tail.position = FIRST_RECORD;
        tail.is_closed = false;
        Ok(())
    }
}

impl Ticker {
    fn start(core: Arc<Core>, interval: Duration) -> Result<Self> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let stopped = Arc::clone(&stop);
        let run = move || {
            let (flag, changed) = &*stopped;
            let mut flag = flag.lock().unwrap_or_else(PoisonError::into_inner);
            while !*flag {
                flag = changed.wait_timeout(flag, interval).unwrap_or_else(PoisonError::into_inner).0;
                // A failure is kept, and told to all who append or wait from now on.
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

impl Drop for Ticker {
    fn drop(&mut self) {
        let (flag, changed) = &*self.stop;
        *flag.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It cannot panic, and there is nothing to do if it did.
            let _ = thread.join();
        }
    }
}
