//! Mapped weights that keep a bounded part in memory. Graphs whose lists are in a pool or as heads
//! read them, since their memory is fixed.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use esker_format::{BLOCK_BYTES, PAGE_BYTES, Result};

use crate::graph::weight::ColumnWeight;
use crate::layer::ListColumns;

/// The most bytes of mapped weights of one direction that stay in memory.
pub const WEIGHTS_MAX: u64 = if cfg!(test) { 3 * BLOCK_BYTES as u64 } else { 4 << 20 };
/// Blocks that the system is asked to read ahead where blocks are read one after another.
const AHEAD_BLOCKS: usize = 2;

/// The mapped weights of one direction. A block is verified when it is first read. Once the blocks that were
/// read have [`WEIGHTS_MAX`] bytes, the memory of all of them is given up. Weights of single lists are read
/// at random: the system reads no more than the pages that are accessed, because the memory that it may take
/// for others is needed elsewhere.
pub(crate) struct MappedWeights<'a, W: ColumnWeight> {
    lists: &'a ListColumns,
    property: u32,
    /// The most bytes that reads can have brought to memory since it was given up last.
    touched: AtomicU64,
    weight: PhantomData<fn() -> W>,
}

/// The block that a thread read last; none at first. Neighbouring lists share it.
#[derive(Debug, Default)]
pub(crate) struct LastBlock(Option<usize>);

impl<'a, W: ColumnWeight> MappedWeights<'a, W> {
    /// # Errors
    /// [`esker_format::Error::Invalid`] if there is no such property of this type.
    pub(crate) fn new(lists: &'a ListColumns, property: u32) -> Result<Self> {
        W::some(lists, property, 0..0)?;
        W::read_at_random(lists, property, true);
        Ok(Self { lists, property, touched: AtomicU64::new(0), weight: PhantomData })
    }

    /// The weights of some arcs.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`].
    #[inline]
    pub(crate) fn get(&self, arcs: Range<usize>, last: &mut LastBlock) -> Result<&'a [W]> {
        let width = size_of::<W>();
        if width > 0 && !arcs.is_empty() {
            let blocks = arcs.start * width / BLOCK_BYTES..(arcs.end * width).div_ceil(BLOCK_BYTES);
            let fresh = blocks.len() - usize::from(last.0 == Some(blocks.start));
            if fresh > 0 {
                self.touch((fresh * BLOCK_BYTES) as u64);
                let follows = last.0.is_some_and(|last| last == blocks.start || last + 1 == blocks.start);
                let ahead = if follows { AHEAD_BLOCKS * BLOCK_BYTES / width } else { 0 };
                if follows || arcs.len() * width > PAGE_BYTES {
                    W::will_need(self.lists, self.property, arcs.start..arcs.end + ahead);
                }
            }
            last.0 = Some(blocks.end - 1);
        }
        W::some(self.lists, self.property, arcs)
    }

    /// Counts bytes that are about to be read. Slices that are in use keep their contents.
    fn touch(&self, bytes: u64) {
        if self.touched.fetch_add(bytes, Relaxed) + bytes > WEIGHTS_MAX {
            self.touched.store(bytes, Relaxed);
            W::release(self.lists, self.property);
        }
    }
}

impl<W: ColumnWeight> Drop for MappedWeights<'_, W> {
    fn drop(&mut self) {
        W::read_at_random(self.lists, self.property, false);
    }
}
