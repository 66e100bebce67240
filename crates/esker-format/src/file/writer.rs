//! Writing a column file: header, elements, and a table with the checksum of each block of 64 KiB.

use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use crate::error::Result;
use crate::file::header::{
    COLUMN_MAGIC, ColumnHeader, ColumnSpec, Element, ElementType, header_page, place_checksum,
};
use crate::file::size::{BLOCK_BYTES, FORMAT_VERSION, PAGE_BYTES};
use crate::io::{File, Files};
use crate::memory::reserve;

/// Size of the writes into which appended data is gathered, and so of a writer's buffer, unless there are
/// many writers at a time.
pub const WRITE_BYTES: usize = 1 << 20;

/// Writes a column file: append elements with [`ColumnWriter::append`], then call [`ColumnWriter::finish`].
/// Memory: the buffer, [`WRITE_BYTES`] by default, and 4 bytes for each 64 KiB written.
#[derive(Debug)]
pub struct ColumnWriter<T> {
    spec: ColumnSpec,
    file: Arc<dyn File>,
    /// Bytes of elements in the file: whole blocks, until the column is finished.
    written: u64,
    buffer: Vec<u8>,
    /// Size of the writes: a multiple of the size of a block.
    write_bytes: usize,
    /// Checksums of the blocks in the file.
    table: Vec<u8>,
    /// What the header states: see [`range_of`].
    range: Option<(i64, i64)>,
    element: PhantomData<T>,
}

impl<T: Element> ColumnWriter<T> {
    /// Creates the file, which must not exist.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn create(files: &dyn Files, path: &Path, spec: ColumnSpec) -> Result<Self> {
        Self::create_buffered(files, path, spec, WRITE_BYTES)
    }

    /// As [`ColumnWriter::create`], with a buffer of `buffer_bytes`, rounded up to whole blocks.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn create_buffered(
        files: &dyn Files,
        path: &Path,
        spec: ColumnSpec,
        buffer_bytes: usize,
    ) -> Result<Self> {
        let file = files.create(path)?;
        let write_bytes = buffer_bytes.max(1).next_multiple_of(BLOCK_BYTES);
        let (buffer, table) = (Vec::new(), Vec::new());
        Ok(Self { spec, file, written: 0, buffer, write_bytes, table, range: None, element: PhantomData })
    }

    /// Appends elements; most efficient with many at once.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn append(&mut self, values: &[T]) -> Result<()> {
        self.range = united(self.range, range_of(values));
        let mut bytes: &[u8] = bytemuck::cast_slice(values);
        while !bytes.is_empty() {
            let room = self.write_bytes - self.buffer.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            if now.len() == self.write_bytes {
                self.write(now)?;
            } else {
                reserve(&mut self.buffer, now.len())?;
                self.buffer.extend_from_slice(now);
                if self.buffer.len() == self.write_bytes {
                    self.flush()?;
                }
            }
            bytes = later;
        }
        Ok(())
    }

    /// Completes and syncs the file. Its name is durable once the caller has synced the directory. Returns
    /// the number of elements.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn finish(mut self) -> Result<u64> {
        self.flush()?;
        self.file.write_at(&self.table, PAGE_BYTES as u64 + self.written)?;
        let count = self.written / size_of::<T>() as u64;
        let (least, greatest) = self.range.unwrap_or_default();
        let header = ColumnHeader {
            magic: COLUMN_MAGIC,
            format_version: FORMAT_VERSION,
            database: self.spec.origin.database,
            stamp: self.spec.origin.stamp,
            kind: self.spec.kind,
            element: T::TYPE,
            count,
            block_bytes: BLOCK_BYTES as u32,
            place_checksum: place_checksum(self.file.path()),
            has_range: u8::from(self.range.is_some()),
            least,
            greatest,
        };
        self.file.write_at(&header_page(&header), 0)?;
        self.file.sync()?;
        Ok(count)
    }

    fn flush(&mut self) -> Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer)?;
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    /// Writes at the end of the file, which is the end of a block.
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let sums = bytes.chunks(BLOCK_BYTES).map(crc32c::crc32c);
        self.table.extend(sums.flat_map(u32::to_le_bytes));
        let blocks: Vec<&[u8]> = bytes.chunks(BLOCK_BYTES).collect();
        let mut start = 0;
        for run in blocks.chunk_by(|a, b| is_zero(a) == is_zero(b)) {
            let end = start + run.iter().map(|block| block.len()).sum::<usize>();
            // Blocks of zeros are left out: what is written behind them, the table at the latest, makes them
            // a hole.
            if !is_zero(run[0]) {
                self.file.write_at(&bytes[start..end], PAGE_BYTES as u64 + self.written)?;
            }
            self.written += (end - start) as u64;
            start = end;
        }
        Ok(())
    }
}

/// Whether all bytes are zero.
fn is_zero(bytes: &[u8]) -> bool {
    // In parts: the first decides for most blocks, and there is no branch for each byte.
    bytes.chunks(1 << 10).all(|part| part.iter().fold(0, |all, byte| all | byte) == 0)
}

/// The least and the greatest of some values, of floats rounded down and up to integers of 64 bits; `None` if
/// there are none, or they have no sign.
pub(crate) fn range_of<T: Element>(values: &[T]) -> Option<(i64, i64)> {
    fn of<I: Copy + Ord + Into<i64>>(values: &[I]) -> Option<(i64, i64)> {
        let first = *values.first()?;
        let ends = values.iter().fold((first, first), |ends, &value| (ends.0.min(value), ends.1.max(value)));
        Some((ends.0.into(), ends.1.into()))
    }
    fn of_floats<F: Copy>(values: &[F], wide: impl Fn(F) -> f64) -> Option<(i64, i64)> {
        let first = wide(*values.first()?);
        // A value that is no number has no place in an order: then nothing narrower is stated.
        if values.iter().any(|&value| wide(value).is_nan()) {
            return Some((i64::MIN, i64::MAX));
        }
        let ends = values.iter().map(|&value| wide(value));
        let (least, greatest) =
            ends.fold((first, first), |ends, value| (ends.0.min(value), ends.1.max(value)));
        // `as` takes what is beyond the integers as the last of them.
        Some((least.floor() as i64, greatest.ceil() as i64))
    }
    match T::TYPE {
        ElementType::I32 => of::<i32>(bytemuck::cast_slice(values)),
        ElementType::I64 => of::<i64>(bytemuck::cast_slice(values)),
        ElementType::F32 => of_floats(bytemuck::cast_slice(values), |value: f32| value.into()),
        ElementType::F64 => of_floats(bytemuck::cast_slice(values), |value: f64| value),
        _ => None,
    }
}

/// The least range that holds two.
pub fn united(one: Option<(i64, i64)>, other: Option<(i64, i64)>) -> Option<(i64, i64)> {
    match (one, other) {
        (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
        (one, other) => one.or(other),
    }
}
