//! Bits in lanes of words.

use std::sync::Arc;

use esker_format::Result;

use super::lane::{Lane, LaneReader, LaneWriter};
use crate::sort::scratch::Shelf;

/// Appends bits, 64 to a word, the first lowest.
pub(super) struct BitWriter {
    words: LaneWriter<u64>,
    open: u64,
    /// The bit in `open` that is next.
    next: u64,
}

impl BitWriter {
    pub(super) fn new(shelf: &Arc<Shelf>, block_bytes: usize) -> Self {
        Self { words: LaneWriter::new(shelf, block_bytes), open: 0, next: 1 }
    }

    /// Appends a bit.
    ///
    /// # Errors
    /// If a temporary file cannot be written.
    #[inline(always)]
    pub(super) fn push(&mut self, bit: bool) -> Result<()> {
        self.open |= if bit { self.next } else { 0 };
        self.next = self.next.rotate_left(1);
        if self.next == 1 {
            self.words.push(std::mem::take(&mut self.open))?;
        }
        Ok(())
    }

    /// The lane; zeros fill the last word.
    ///
    /// # Errors
    /// As [`BitWriter::push`].
    pub(super) fn finish(mut self) -> Result<Lane<u64>> {
        if self.next != 1 {
            self.words.push(self.open)?;
        }
        self.words.finish()
    }
}

/// Reads bits one by one.
pub(super) struct BitReader {
    words: LaneReader<u64>,
    /// The bits not read yet, the next lowest, under a one that marks their end.
    open: u64,
}

impl BitReader {
    pub(super) fn new(words: LaneReader<u64>) -> Self {
        Self { words, open: 1 }
    }

    /// The next bit; zeros after the last word.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Result<bool> {
        if self.open == 1 {
            return self.next_of_next_word();
        }
        let bit = self.open & 1 != 0;
        self.open >>= 1;
        Ok(bit)
    }

    fn next_of_next_word(&mut self) -> Result<bool> {
        let word = self.words.next()?.unwrap_or(0);
        self.open = word >> 1 | 1 << 63;
        Ok(word & 1 != 0)
    }
}
