//! Batches that a reader makes itself, because its input has to be read from its beginning to its end.

use std::collections::VecDeque;

use esker_format::{Error, Result};
use parking_lot::Mutex;

use super::source::{EdgeBatch, InputBlock};

/// Batches on their way from a reader to its parser.
#[derive(Debug, Default)]
pub(crate) struct PreparedBatches {
    waiting: Mutex<VecDeque<NumberedBatch>>,
}

#[derive(Debug)]
struct NumberedBatch {
    number: usize,
    batch: EdgeBatch,
}

impl PreparedBatches {
    /// Keeps a batch, which is the `number`-th; a block that stands for it.
    pub(crate) fn put(&self, number: usize, batch: EdgeBatch) -> InputBlock {
        let input_bytes = batch.input_bytes;
        self.waiting.lock().push_back(NumberedBatch { number, batch });
        InputBlock { bytes: Vec::new(), first_line: 0, file: number, input_bytes }
    }

    /// The batch of a block.
    ///
    /// # Errors
    /// If it was taken before.
    pub(crate) fn take(&self, block: &InputBlock) -> Result<EdgeBatch> {
        let mut waiting = self.waiting.lock();
        let place = waiting.iter().position(|one| one.number == block.file);
        let found = place.and_then(|place| waiting.remove(place));
        found.map(|one| one.batch).ok_or_else(|| Error::invalid("a block was asked for twice"))
    }
}
