//! A long sequence of records that is written once, in order, and read often: in memory while the budget
//! allows, else in a temporary file.

use bytemuck::Pod;
use esker_format::Result;

use crate::sort::scratch::{Shelf, ShelvedChunk, Workspace};

/// A sequence of fixed-width records, appended in order by one thread, read in any order by many.
///
/// Memory: at most `block_len` records beyond what the budget grants; 24 bytes for each block.
pub struct Spool<T> {
    shelf: Shelf,
    blocks: Vec<ShelvedChunk<T>>,
    /// Where each block begins, and the total length.
    starts: Vec<u64>,
    /// The block that is being filled.
    open: Vec<T>,
    block_len: usize,
}

/// Bytes of a block of a spool.
pub(crate) const SPOOL_BLOCK_BYTES: usize = 1 << 20;

impl<T: Pod> Spool<T> {
    /// An empty spool that leaves `keep_free_bytes` of the budget to others.
    pub(crate) fn new(work: &Workspace, keep_free_bytes: u64) -> Self {
        Self::with_block_bytes(work, keep_free_bytes, SPOOL_BLOCK_BYTES)
    }

    /// An empty spool with blocks of about `block_bytes`.
    pub(crate) fn with_block_bytes(work: &Workspace, keep_free_bytes: u64, block_bytes: usize) -> Self {
        Self {
            shelf: Shelf::new(work, keep_free_bytes),
            blocks: Vec::new(),
            starts: vec![0],
            open: Vec::new(),
            block_len: (block_bytes / size_of::<T>()).max(1),
        }
    }

    /// Number of records.
    pub(crate) fn len(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0) + self.open.len() as u64
    }

    /// Appends one record.
    ///
    /// # Errors
    /// If the temporary file cannot be written.
    #[inline]
    pub(crate) fn push(&mut self, record: T) -> Result<()> {
        if self.open.len() == self.block_len {
            self.close_block()?;
        }
        self.open.push(record);
        Ok(())
    }

    /// Appends records.
    ///
    /// # Errors
    /// As [`Spool::push`].
    pub(crate) fn extend(&mut self, mut records: &[T]) -> Result<()> {
        while !records.is_empty() {
            if self.open.len() == self.block_len {
                self.close_block()?;
            }
            let (now, later) = records.split_at(records.len().min(self.block_len - self.open.len()));
            self.open.extend_from_slice(now);
            records = later;
        }
        Ok(())
    }

    /// Appends a whole block as it is, without copying it when memory allows. Its length need not be that of
    /// others.
    ///
    /// # Errors
    /// As [`Spool::push`].
    pub(crate) fn push_block(&mut self, block: Vec<T>) -> Result<()> {
        self.close_block()?;
        if !block.is_empty() {
            self.starts.push(self.len() + block.len() as u64);
            self.blocks.push(self.shelf.put(block)?);
        }
        Ok(())
    }

    fn close_block(&mut self) -> Result<()> {
        if self.open.is_empty() {
            return Ok(());
        }
        let next = Vec::with_capacity(if self.open.len() == self.block_len { self.block_len } else { 0 });
        let block = std::mem::replace(&mut self.open, next);
        let end = self.starts.last().copied().unwrap_or(0) + block.len() as u64;
        self.starts.push(end);
        self.blocks.push(self.shelf.put(block)?);
        Ok(())
    }

    /// Ends the writing: from here on all records lie in blocks.
    ///
    /// # Errors
    /// As [`Spool::push`].
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.open.shrink_to_fit();
        self.close_block()
    }

    /// Moves blocks from memory to the disk, the last ones first, until there is room enough.
    ///
    /// # Errors
    /// As [`Spool::push`].
    pub(crate) fn make_room(&mut self, is_enough: impl Fn() -> bool) -> Result<()> {
        for block in self.blocks.iter_mut().rev() {
            if is_enough() {
                break;
            }
            self.shelf.set_aside(block)?;
        }
        Ok(())
    }

    /// Number of closed blocks.
    pub(crate) fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The records of block `index`, in memory or read into `buffer`.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    pub(crate) fn block<'a>(&'a self, index: usize, buffer: &'a mut Vec<T>) -> Result<&'a [T]> {
        self.shelf.get(&self.blocks[index], buffer)
    }

    /// Copies block `index` into `buffer`, whose old contents go.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    pub(crate) fn copy_block(&self, index: usize, buffer: &mut Vec<T>) -> Result<()> {
        let chunk = &self.blocks[index];
        self.shelf.get_range(chunk, 0, chunk.len(), buffer)
    }

    /// Copies records `start..start + len` of the closed blocks into `buffer`, whose old contents go.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    pub(crate) fn read_range(&self, start: u64, len: usize, buffer: &mut Vec<T>) -> Result<()> {
        buffer.clear();
        let end = start + len as u64;
        let mut block = self.starts.partition_point(|&s| s <= start).max(1) - 1;
        let mut part = Vec::new();
        while (buffer.len()) < len {
            let from = start + buffer.len() as u64 - self.starts[block];
            let to = end.min(self.starts[block + 1]) - self.starts[block];
            self.shelf.get_range(&self.blocks[block], from as usize, (to - from) as usize, &mut part)?;
            buffer.extend_from_slice(&part);
            block += 1;
        }
        Ok(())
    }

    /// Calls `visit` with every record in order.
    ///
    /// # Errors
    /// If the temporary file cannot be read, or the first error of `visit`.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(T) -> Result<()>) -> Result<()> {
        let mut buffer = Vec::new();
        for index in 0..self.num_blocks() {
            self.block(index, &mut buffer)?.iter().try_for_each(|&record| visit(record))?;
        }
        self.open.iter().try_for_each(|&record| visit(record))
    }

    /// A cursor at the first record.
    pub(crate) fn cursor(&self) -> SpoolCursor<'_, T> {
        SpoolCursor { spool: self, block: 0, buffer: Vec::new(), at: 0 }
    }
}

/// Reads the closed blocks of a [`Spool`] record by record. Memory: one block.
pub(crate) struct SpoolCursor<'a, T> {
    spool: &'a Spool<T>,
    block: usize,
    buffer: Vec<T>,
    at: usize,
}

impl<T: Pod> SpoolCursor<'_, T> {
    /// The next record, or `None` at the end.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    #[inline]
    pub(crate) fn next_record(&mut self) -> Result<Option<T>> {
        while self.at == self.buffer.len() {
            let Some(chunk) = self.spool.blocks.get(self.block) else { return Ok(None) };
            self.spool.shelf.get_range(chunk, 0, chunk.len(), &mut self.buffer)?;
            self.block += 1;
            self.at = 0;
        }
        self.at += 1;
        Ok(Some(self.buffer[self.at - 1]))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use std::sync::Arc;

    use esker_graph::Run;

    use super::*;

    fn read_all(spool: &Spool<u32>) -> Vec<u32> {
        let mut all = Vec::new();
        spool
            .for_each(|x| {
                all.push(x);
                Ok(())
            })
            .unwrap();
        let mut cursor = spool.cursor();
        for &expected in &all {
            assert_eq!(cursor.next_record().unwrap(), Some(expected));
        }
        assert_eq!(cursor.next_record().unwrap(), None);
        all
    }

    #[test]
    fn the_order_is_kept_in_memory_and_on_disk() {
        for limit in [0, 1000, 1 << 20] {
            let dir = tempfile::tempdir().unwrap();
            let work = Workspace::new(Arc::new(Run::with_threads(1).unwrap()), limit, dir.path());
            let mut spool = Spool::<u32>::with_block_bytes(&work, 0, 64);
            let expected: Vec<u32> = (0..1000).collect();
            spool.push(0).unwrap();
            spool.extend(&expected[1..100]).unwrap();
            spool.push_block(expected[100..500].to_vec()).unwrap();
            spool.extend(&expected[500..]).unwrap();
            assert_eq!(spool.len(), 1000);
            spool.finish().unwrap();
            assert_eq!(read_all(&spool), expected);
            for (start, len) in [(0, 0), (0, 1000), (17, 1), (90, 700), (999, 1), (1000, 0)] {
                let mut part = Vec::new();
                spool.read_range(start as u64, len, &mut part).unwrap();
                assert_eq!(part, expected[start..start + len]);
            }
            let files = std::fs::read_dir(dir.path()).unwrap().count();
            assert_eq!(files, usize::from(limit < 5000), "limit {limit}");
            let in_memory =
                |spool: &Spool<u32>| spool.blocks.iter().filter(|block| block.is_in_memory()).count();
            let before = in_memory(&spool);
            spool.make_room(|| work.budget.free_bytes() > limit / 2).unwrap();
            assert!(in_memory(&spool) <= before && work.budget.free_bytes() >= limit / 2);
            assert_eq!(read_all(&spool), expected);
            spool.make_room(|| false).unwrap();
            assert_eq!(in_memory(&spool), 0);
            assert_eq!(read_all(&spool), expected);
            drop(spool);
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
            assert_eq!(work.budget.free_bytes(), limit);
        }
    }
}
