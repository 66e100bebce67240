//! Memory, disk, threads and cancellation that the steps of an import share, and the chunks they set aside.

use parking_lot::Mutex;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytemuck::Pod;
#[cfg(test)]
use esker_format::io::RealDisk;
use esker_format::io::{Disk, File};
use esker_format::{Error, Result, trimmed_budget};
use esker_graph::{Budget, Reservation, Run};

/// What the steps of an operation in bounded memory share.
#[derive(Clone)]
pub struct Workspace {
    /// Threads and cancellation.
    pub run: Arc<Run>,
    /// Memory.
    pub budget: Budget,
    /// Where temporary files are made.
    pub disk: Arc<dyn Disk>,
    /// Directory for temporary files. They vanish when what they hold is dropped, and with the directory
    /// after a crash.
    pub dir: Arc<PathBuf>,
}

impl Workspace {
    /// As [`Workspace::on`], on the real disk.
    #[cfg(test)]
    pub(crate) fn new(run: Arc<Run>, limit_bytes: u64, dir: impl Into<PathBuf>) -> Self {
        Self::on(Arc::new(RealDisk), run, limit_bytes, dir)
    }

    /// Work on the threads of `run`, in `limit_bytes` of memory, with temporary files in `dir`, which must
    /// exist on `disk`.
    pub(crate) fn on(disk: Arc<dyn Disk>, run: Arc<Run>, limit_bytes: u64, dir: impl Into<PathBuf>) -> Self {
        Self { run, budget: trimmed_budget(limit_bytes), disk, dir: Arc::new(dir.into()) }
    }

    /// An error if the run was cancelled.
    ///
    /// # Errors
    /// [`Error::Stop`].
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        Ok(self.run.check()?)
    }
}

/// Names of temporary files begin with this; `recover` may delete them wherever it meets them.
pub(crate) const TEMPORARY_PREFIX: &str = "tmp-";

static NEXT_NAME: AtomicU64 = AtomicU64::new(0);

/// A temporary file: chunks are appended by any thread and read by any thread. Made when first written to.
#[derive(Debug)]
struct ScratchFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    file: OnceLock<Arc<dyn File>>,
    making: Mutex<()>,
    end: AtomicU64,
}

impl ScratchFile {
    fn new(work: &Workspace) -> Self {
        let name = NEXT_NAME.fetch_add(1, Ordering::Relaxed);
        Self {
            disk: Arc::clone(&work.disk),
            path: work.dir.join(format!("{TEMPORARY_PREFIX}{}-{name}", std::process::id())),
            file: OnceLock::new(),
            making: Mutex::new(()),
            end: AtomicU64::new(0),
        }
    }

    fn file(&self) -> Result<&dyn File> {
        if self.file.get().is_none() {
            let _making = self.making.lock();
            if self.file.get().is_none() {
                // Nobody else sets it while `making` is held.
                let _ = self.file.set(self.disk.create(&self.path)?);
            }
        }
        let file = self.file.get().ok_or_else(|| Error::invalid("a temporary file vanished".to_owned()))?;
        Ok(file.as_ref())
    }

    /// Writes `bytes` at the end; returns where they begin.
    fn append(&self, bytes: &[u8]) -> Result<u64> {
        let file = self.file()?;
        let offset = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        file.write_at(bytes, offset)?;
        Ok(offset)
    }

    fn read(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        self.file()?.read_exact_at(bytes, offset)
    }

    fn discard(&self, range: Range<u64>) {
        if let Some(file) = self.file.get().filter(|_| !range.is_empty()) {
            file.discard(range);
        }
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        if self.file.get().is_some() {
            // What cannot be removed goes with the directory.
            let _ = self.disk.remove_file(&self.path);
        }
    }
}

/// Some records that were set aside: in memory while the budget allows, else in a temporary file.
#[derive(Debug)]
pub(crate) struct ShelvedChunk<T> {
    len: usize,
    place: ShelfPlace<T>,
}

#[derive(Debug)]
enum ShelfPlace<T> {
    Memory(Vec<T>, #[expect(dead_code, reason = "held for its drop")] Reservation),
    File(u64),
}

impl<T: Pod> ShelvedChunk<T> {
    /// Number of records.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[cfg(test)]
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.place, ShelfPlace::Memory(..))
    }
}

/// Where chunks are kept. Any thread may put and get at the same time.
#[derive(Debug)]
pub(crate) struct Shelf {
    budget: Budget,
    /// What must stay free for others: beyond it, chunks go to the file.
    keep_free_bytes: u64,
    file: ScratchFile,
}

impl Shelf {
    /// An empty shelf that leaves `keep_free_bytes` of the budget to others.
    pub(crate) fn new(work: &Workspace, keep_free_bytes: u64) -> Self {
        Self { budget: work.budget.clone(), keep_free_bytes, file: ScratchFile::new(work) }
    }

    /// Sets `records` aside. The vector is kept as it is when memory allows; otherwise it is written and
    /// freed.
    ///
    /// # Errors
    /// If the temporary file cannot be written.
    pub(crate) fn put<T: Pod>(&self, records: Vec<T>) -> Result<ShelvedChunk<T>> {
        let bytes = (records.capacity() * size_of::<T>()) as u64;
        match self.room_for(bytes) {
            Some(room) => Ok(ShelvedChunk { len: records.len(), place: ShelfPlace::Memory(records, room) }),
            None => self.put_slice_in_file(&records),
        }
    }

    /// Sets a copy of `records` aside.
    ///
    /// # Errors
    /// As [`Shelf::put`].
    pub(crate) fn put_slice<T: Pod>(&self, records: &[T]) -> Result<ShelvedChunk<T>> {
        match self.room_for(size_of_val(records) as u64) {
            Some(room) => {
                Ok(ShelvedChunk { len: records.len(), place: ShelfPlace::Memory(records.to_vec(), room) })
            }
            None => self.put_slice_in_file(records),
        }
    }

    /// Keeps `records` in memory that was found with [`Shelf::room_for`].
    pub(crate) fn keep<T: Pod>(&self, records: Vec<T>, room: Reservation) -> ShelvedChunk<T> {
        ShelvedChunk { len: records.len(), place: ShelfPlace::Memory(records, room) }
    }

    /// Room for a chunk in memory, if there is any.
    pub(crate) fn room_for(&self, bytes: u64) -> Option<Reservation> {
        let wanted = self.keep_free_bytes.saturating_add(bytes);
        if self.budget.free_bytes() < wanted { None } else { self.budget.try_reserve(bytes) }
    }

    /// Sets a copy of `records` aside in the file, whatever memory is free.
    ///
    /// # Errors
    /// As [`Shelf::put`].
    pub(crate) fn put_slice_in_file<T: Pod>(&self, records: &[T]) -> Result<ShelvedChunk<T>> {
        let offset = self.file.append(bytemuck::cast_slice(records))?;
        Ok(ShelvedChunk { len: records.len(), place: ShelfPlace::File(offset) })
    }

    /// Moves a chunk from memory to the file.
    ///
    /// # Errors
    /// If the temporary file cannot be written.
    pub(crate) fn set_aside<T: Pod>(&self, chunk: &mut ShelvedChunk<T>) -> Result<()> {
        if let ShelfPlace::Memory(records, _) = &chunk.place {
            *chunk = self.put_slice_in_file(records)?;
        }
        Ok(())
    }

    /// The records of `chunk`: a view of them in memory, or read into `buffer`, whose old contents go.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    pub(crate) fn get<'a, T: Pod>(
        &self,
        chunk: &'a ShelvedChunk<T>,
        buffer: &'a mut Vec<T>,
    ) -> Result<&'a [T]> {
        match &chunk.place {
            ShelfPlace::Memory(records, _) => Ok(records),
            ShelfPlace::File(_) => {
                self.get_range(chunk, 0, chunk.len, buffer)?;
                Ok(buffer)
            }
        }
    }

    /// Changes the records of a chunk where they lie.
    ///
    /// # Errors
    /// If the temporary file cannot be read or written.
    pub(crate) fn update<T: Pod>(
        &self,
        chunk: &mut ShelvedChunk<T>,
        change: impl FnOnce(&mut [T]),
    ) -> Result<()> {
        let mut buffer = Vec::new();
        if let ShelfPlace::Memory(records, _) = &mut chunk.place {
            change(records);
            return Ok(());
        }
        self.get_range(chunk, 0, chunk.len, &mut buffer)?;
        change(&mut buffer);
        match chunk.place {
            ShelfPlace::File(offset) => self.file.file()?.write_at(bytemuck::cast_slice(&buffer), offset),
            ShelfPlace::Memory(..) => Ok(()),
        }
    }

    /// Gives back the room that a chunk takes on the disk: it will not be read again.
    pub(crate) fn discard<T: Pod>(&self, chunk: &ShelvedChunk<T>) {
        if let ShelfPlace::File(offset) = chunk.place {
            self.file.discard(offset..offset + (chunk.len * size_of::<T>()) as u64);
        }
    }

    /// Copies records `start..start + len` of `chunk` into `buffer`, whose old contents go.
    ///
    /// # Errors
    /// As [`Shelf::get`].
    pub(crate) fn get_range<T: Pod>(
        &self,
        chunk: &ShelvedChunk<T>,
        start: usize,
        len: usize,
        buffer: &mut Vec<T>,
    ) -> Result<()> {
        match &chunk.place {
            ShelfPlace::Memory(records, _) => {
                buffer.clear();
                buffer.extend_from_slice(&records[start..start + len]);
            }
            ShelfPlace::File(offset) => {
                buffer.resize(len, T::zeroed());
                let at = offset + (start * size_of::<T>()) as u64;
                self.file.read(bytemuck::cast_slice_mut(buffer), at)?;
            }
        }
        Ok(())
    }
}
