//! The offsets of lists: n + 1 numbers that ascend from 0 to the number of arcs.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use esker_format::{Column, Error, Result};
use esker_graph::Run;

/// How many lists there are, and how many arcs they have together, as the manifest records.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListCounts {
    pub(crate) lists: u64,
    pub(crate) arcs: u64,
}

/// The column of offsets of some lists.
#[derive(Debug)]
pub(super) struct Offsets {
    column: Column<u64>,
    num_arcs: u64,
    sound: AtomicBool,
}

impl Offsets {
    /// Checks that the length of the column matches the manifest.
    pub(super) fn new(column: Column<u64>, counts: ListCounts) -> Result<Self> {
        column.expect_len(counts.lists.saturating_add(1))?;
        Ok(Self { column, num_arcs: counts.arcs, sound: AtomicBool::new(false) })
    }

    pub(super) fn num_lists(&self) -> usize {
        self.column.len() - 1
    }

    pub(super) fn num_arcs(&self) -> usize {
        self.num_arcs as usize
    }

    pub(super) fn column(&self) -> &Column<u64> {
        &self.column
    }

    /// All offsets. The first call verifies their checksums and that they ascend.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub(super) fn all(&self, run: &Run) -> Result<&[u64]> {
        if !self.sound.load(Ordering::Acquire) {
            self.column.inspect(run, |offsets, range| self.inspect(offsets, range))?;
            self.sound.store(true, Ordering::Release);
        }
        self.column.all(run)
    }

    /// The range of arcs of a list.
    ///
    /// # Errors
    /// [`Error::Corrupt`], also if there is no such slot.
    #[inline]
    pub(super) fn range(&self, slot: usize) -> Result<Range<usize>> {
        let bounds = self.column.get(slot..slot.saturating_add(2))?;
        if bounds[0] > bounds[1] || bounds[1] > self.num_arcs {
            return Err(self.wrong(slot + 1));
        }
        Ok(bounds[0] as usize..bounds[1] as usize)
    }

    /// The offsets of successive lists, and where the last of them ends.
    ///
    /// # Errors
    /// As [`Offsets::range`].
    pub(super) fn slice(&self, slots: Range<usize>) -> Result<&[u64]> {
        let offsets = self.column.get(slots.start..slots.end.saturating_add(1))?;
        if !offsets.is_sorted() || offsets.last().is_some_and(|&last| last > self.num_arcs) {
            let wrong = offsets.windows(2).position(|pair| pair[0] > pair[1]);
            return Err(self.wrong(wrong.map_or(slots.end, |wrong| slots.start + wrong + 1)));
        }
        Ok(offsets)
    }

    fn inspect(&self, offsets: &[u64], range: Range<usize>) -> Result<()> {
        let first = range.start.saturating_sub(1);
        let checked = &offsets[first..range.end];
        if !checked.is_sorted() {
            let wrong = checked.windows(2).position(|pair| pair[0] > pair[1]).unwrap_or(0);
            return Err(self.wrong(first + wrong + 1));
        }
        if range.start == 0 && offsets[0] != 0 {
            return Err(self.wrong(0));
        }
        if range.end == offsets.len() && offsets[range.end - 1] != self.num_arcs {
            return Err(self.wrong(range.end - 1));
        }
        Ok(())
    }

    fn wrong(&self, index: usize) -> Error {
        self.column.corrupt(index, format!("offsets do not ascend from 0 to {}", self.num_arcs))
    }
}
