//! Lanes: many sequences of records that are written side by side and read one by one, over one [`Shelf`].

use std::sync::Arc;

use bytemuck::Pod;
use esker_format::Result;

use crate::sort::scratch::{Shelf, ShelvedChunk};

/// A sequence of records. Clones share the records.
#[derive(Debug, Clone)]
pub(super) struct Lane<T> {
    shelf: Arc<Shelf>,
    blocks: Vec<Arc<ShelvedChunk<T>>>,
    len: u64,
}

impl<T: Pod> Lane<T> {
    /// Number of records.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Reads from the first record on; what has been read stays.
    pub(super) fn reader(&self) -> LaneReader<T> {
        self.clone().into_reader()
    }

    /// Reads from the first record on; what has been read is freed, block by block.
    pub(super) fn into_reader(self) -> LaneReader<T> {
        LaneReader { shelf: self.shelf, blocks: self.blocks.into_iter(), open: Vec::new(), at: 0 }
    }

    /// Calls `visit` with every block, in order. Records appended by one call lie in one block.
    ///
    /// # Errors
    /// If a temporary file cannot be read, or the first error of `visit`.
    pub(super) fn for_each_block(&self, mut visit: impl FnMut(&[T]) -> Result<()>) -> Result<()> {
        let mut buffer = Vec::new();
        self.blocks.iter().try_for_each(|block| visit(self.shelf.get(block, &mut buffer)?))
    }
}

/// Appends to a [`Lane`].
pub(super) struct LaneWriter<T> {
    lane: Lane<T>,
    open: Vec<T>,
    block_len: usize,
}

impl<T: Pod> LaneWriter<T> {
    /// An empty lane with blocks of about `block_bytes`. The memory for a block is taken at the first record.
    pub(super) fn new(shelf: &Arc<Shelf>, block_bytes: usize) -> Self {
        let lane = Lane { shelf: Arc::clone(shelf), blocks: Vec::new(), len: 0 };
        Self { lane, open: Vec::new(), block_len: (block_bytes / size_of::<T>()).max(1) }
    }

    /// Appends a record.
    ///
    /// # Errors
    /// If a temporary file cannot be written.
    #[inline]
    pub(super) fn push(&mut self, record: T) -> Result<()> {
        if self.open.len() == self.open.capacity() {
            self.close_block()?;
        }
        self.open.push(record);
        Ok(())
    }

    /// Appends records, keeping them together in one block.
    ///
    /// # Errors
    /// As [`LaneWriter::push`].
    #[inline]
    pub(super) fn extend(&mut self, records: &[T]) -> Result<()> {
        if self.open.len() + records.len() > self.open.capacity() {
            self.close_block()?;
            if records.len() > self.block_len {
                self.lane.len += records.len() as u64;
                self.lane.blocks.push(Arc::new(self.lane.shelf.put_slice(records)?));
                return Ok(());
            }
        }
        self.open.extend_from_slice(records);
        Ok(())
    }

    /// Sets the open block aside and makes room for another.
    #[cold]
    fn close_block(&mut self) -> Result<()> {
        self.flush()?;
        self.open.reserve_exact(self.block_len);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if !self.open.is_empty() {
            self.lane.len += self.open.len() as u64;
            self.lane.blocks.push(Arc::new(self.lane.shelf.put_slice(&self.open)?));
            self.open.clear();
        }
        Ok(())
    }

    /// The lane, complete.
    ///
    /// # Errors
    /// As [`LaneWriter::push`].
    pub(super) fn finish(mut self) -> Result<Lane<T>> {
        self.flush()?;
        Ok(self.lane)
    }
}

/// Reads a [`Lane`] record by record. Memory: one block.
pub(super) struct LaneReader<T> {
    shelf: Arc<Shelf>,
    blocks: std::vec::IntoIter<Arc<ShelvedChunk<T>>>,
    open: Vec<T>,
    at: usize,
}

impl<T: Pod> LaneReader<T> {
    /// The next record, or `None` at the end.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Result<Option<T>> {
        if let Some(&record) = self.open.get(self.at) {
            self.at += 1;
            return Ok(Some(record));
        }
        self.next_of_next_block()
    }

    #[cold]
    fn next_of_next_block(&mut self) -> Result<Option<T>> {
        if !self.next_block()? {
            return Ok(None);
        }
        self.at = 1;
        Ok(self.open.first().copied())
    }

    /// Moves on to the next block; whether there is one. What was not read of the former is skipped.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub(super) fn next_block(&mut self) -> Result<bool> {
        self.at = 0;
        self.open.clear();
        let Some(block) = self.blocks.next() else { return Ok(false) };
        self.shelf.get_range(&block, 0, block.len(), &mut self.open)?;
        Ok(true)
    }

    /// Length of the next block; 0 at the end.
    pub(super) fn next_block_len(&self) -> usize {
        self.blocks.as_slice().first().map_or(0, |block| block.len())
    }

    /// Moves on to the next block, but reads it into `buffer`: for a block too large for each lane to keep
    /// one.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub(super) fn next_block_into(&mut self, buffer: &mut Vec<T>) -> Result<()> {
        buffer.clear();
        match self.blocks.next() {
            Some(block) => self.shelf.get_range(&block, 0, block.len(), buffer),
            None => Ok(()),
        }
    }

    /// What is left of the block.
    #[inline(always)]
    pub(super) fn rest(&self) -> &[T] {
        &self.open[self.at..]
    }

    /// The first `count` records of [`LaneReader::rest`], which are now behind.
    #[inline(always)]
    pub(super) fn take(&mut self, count: usize) -> &[T] {
        self.at += count;
        &self.open[self.at - count..self.at]
    }
}
