//! Writing a column file, by one thread or several.
//!
//! Every block of 64 KiB has its own checksum. A thread that writes a region of the column computes the checksums
//! of whole blocks, and of the partial blocks at the ends of its region. [`ColumnWriter::finish`] combines the partial checksums
//! (the CRC of a concatenation follows from the CRCs and lengths of its parts) and writes the table and the header.

use std::marker::PhantomData;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::header::{COLUMN_MAGIC, ColumnHeader, ColumnSpec, Element, header_page};
use super::size::{BLOCK_BYTES, FORMAT_VERSION, PAGE_BYTES};
use crate::error::{Error, Result};
use crate::io::{File, Files};
use crate::memory::reserve;

/// Size of the writes into which appended data is gathered, and so the buffer of each writer or region, unless there are
/// many writers at a time.
pub const WRITE_BYTES: usize = 1 << 20;

/// The size of a written column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnSummary {
    /// Number of elements.
    pub count: u64,
    /// Size of the file.
    pub bytes: u64,
}

/// Writes a column file: append elements with [`ColumnWriter::append`], or create one [`Region`] for each of several
/// threads, then call [`ColumnWriter::finish`]. Memory: [`WRITE_BYTES`], as much a region, and 8 bytes for each 64 KiB written.
#[derive(Debug)]
pub struct ColumnWriter<T> {
    spec: ColumnSpec,
    whole: Region<T>,
}

/// A contiguous part of a column, written from its start on. Finishing the column fails if its regions overlap or leave a gap.
#[derive(Debug)]
pub struct Region<T> {
    shared: Arc<SharedFile>,
    /// Offset of `buffer` in the data of the column.
    position: u64,
    buffer: Vec<u8>,
    /// Size of the writes: a multiple of the size of a block.
    write_bytes: usize,
    element: PhantomData<T>,
}

#[derive(Debug)]
struct SharedFile {
    file: Arc<dyn File>,
    sums: Mutex<BlockChecksums>,
}

#[derive(Debug, Default)]
struct BlockChecksums {
    /// Checksums of blocks written whole.
    blocks: Vec<Option<u32>>,
    /// Blocks written in parts.
    parts: Vec<PartialBlock>,
}

#[derive(Debug, Clone, Copy)]
struct PartialBlock {
    start: u64,
    bytes: usize,
    sum: u32,
}

impl<T: Element> ColumnWriter<T> {
    /// Creates the file, which must not exist.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(files: &dyn Files, path: &Path, spec: ColumnSpec) -> Result<Self> {
        Self::create_buffered(files, path, spec, WRITE_BYTES)
    }

    /// As [`ColumnWriter::create`], with a buffer of `buffer_bytes`, rounded up to whole blocks.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create_buffered(
        files: &dyn Files,
        path: &Path,
        spec: ColumnSpec,
        buffer_bytes: usize,
    ) -> Result<Self> {
        let shared = Arc::new(SharedFile { file: files.create(path)?, sums: Mutex::default() });
        let write_bytes = buffer_bytes.max(1).next_multiple_of(BLOCK_BYTES);
        let whole = Region { shared, position: 0, buffer: Vec::new(), write_bytes, element: PhantomData };
        Ok(Self { spec, whole })
    }

    /// Appends elements; most efficient with many at once.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn append(&mut self, values: &[T]) -> Result<()> {
        self.whole.append(values)
    }

    /// A writer of the elements from `first` on, for another thread. Elements appended with [`ColumnWriter::append`] must end
    /// before `first`.
    pub fn region(&self, first: u64) -> Region<T> {
        Region {
            shared: Arc::clone(&self.whole.shared),
            position: first * size_of::<T>() as u64,
            buffer: Vec::new(),
            write_bytes: self.whole.write_bytes,
            element: PhantomData,
        }
    }

    /// Completes and syncs the file. Its name is durable once the caller has synced the directory.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Invalid`] if regions overlap or leave a gap.
    pub fn finish(self) -> Result<ColumnSummary> {
        let Self { spec, mut whole } = self;
        whole.flush()?;
        let file = &whole.shared.file;
        let sums = std::mem::take(&mut *whole.shared.lock());
        let (data_bytes, table) = sums.join().ok_or_else(|| {
            Error::Invalid(format!("the regions of {} leave a gap or overlap", file.path().display()))
        })?;
        file.write_at(&table, PAGE_BYTES as u64 + data_bytes)?;
        let count = data_bytes / size_of::<T>() as u64;
        let header = ColumnHeader {
            magic: COLUMN_MAGIC,
            format_version: FORMAT_VERSION,
            database: spec.database,
            kind: spec.kind,
            element: T::TYPE,
            count,
            block_bytes: BLOCK_BYTES as u32,
        };
        file.write_at(&header_page(&header), 0)?;
        file.sync()?;
        Ok(ColumnSummary { count, bytes: PAGE_BYTES as u64 + data_bytes + table.len() as u64 })
    }
}

impl<T: Element> Region<T> {
    /// Appends elements to the region.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn append(&mut self, values: &[T]) -> Result<()> {
        let mut bytes: &[u8] = bytemuck::cast_slice(values);
        while !bytes.is_empty() {
            // Writes end at multiples of their size, so all except the first and last cover whole blocks.
            let end = self.position + self.buffer.len() as u64;
            let room = self.write_bytes - (end % self.write_bytes as u64) as usize;
            if self.buffer.is_empty() && bytes.len() >= room {
                let (now, later) = bytes.split_at(room);
                self.shared.write(now, self.position)?;
                self.position += room as u64;
                bytes = later;
                continue;
            }
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            reserve(&mut self.buffer, now.len())?;
            self.buffer.extend_from_slice(now);
            bytes = later;
            if now.len() == room {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes the buffered elements. Dropping a region without this call makes [`ColumnWriter::finish`] fail.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(mut self) -> Result<()> {
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        self.shared.write(&self.buffer, self.position)?;
        self.position += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

impl SharedFile {
    fn lock(&self) -> std::sync::MutexGuard<'_, BlockChecksums> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, bytes: &[u8], position: u64) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let head = (position.next_multiple_of(BLOCK_BYTES as u64) - position) as usize;
        let (head, rest) = bytes.split_at(head.min(bytes.len()));
        let pieces = std::iter::once(head).chain(rest.chunks(BLOCK_BYTES)).filter(|piece| !piece.is_empty());
        let sums: Vec<(usize, u32)> = pieces.map(|piece| (piece.len(), crc32c::crc32c(piece))).collect();
        self.file.write_at(bytes, PAGE_BYTES as u64 + position)?;
        self.lock().record(position, &sums);
        Ok(())
    }
}

impl BlockChecksums {
    fn record(&mut self, mut start: u64, sums: &[(usize, u32)]) {
        for &(bytes, sum) in sums {
            let block = (start / BLOCK_BYTES as u64) as usize;
            if bytes == BLOCK_BYTES && self.blocks.get(block).is_none_or(Option::is_none) {
                if self.blocks.len() <= block {
                    self.blocks.resize(block + 1, None);
                }
                self.blocks[block] = Some(sum);
            } else {
                self.parts.push(PartialBlock { start, bytes, sum });
            }
            start += bytes as u64;
        }
    }

    /// The number of data bytes and the table of checksums; `None` if there are gaps or overlaps.
    fn join(mut self) -> Option<(u64, Vec<u8>)> {
        self.parts.sort_by_key(|part| part.start);
        let mut table = Vec::new();
        let mut parts = self.parts.iter().peekable();
        let mut end = 0;
        while (end / BLOCK_BYTES as u64) < self.blocks.len() as u64 || parts.peek().is_some() {
            let block = (end / BLOCK_BYTES as u64) as usize;
            let sum = if let Some(sum) = self.blocks.get(block).copied().flatten() {
                end += BLOCK_BYTES as u64;
                sum
            } else {
                let mut sum = 0;
                let first = end;
                while let Some(part) =
                    parts.next_if(|part| part.start == end && end / BLOCK_BYTES as u64 == block as u64)
                {
                    sum = crc32c::crc32c_combine(sum, part.sum, part.bytes);
                    end += part.bytes as u64;
                }
                let more = parts.peek().is_some() || block + 1 < self.blocks.len();
                if end == first || (more && end % BLOCK_BYTES as u64 != 0) {
                    return None;
                }
                sum
            };
            table.extend_from_slice(&sum.to_le_bytes());
        }
        Some((end, table))
    }
}
