//! Lists as a file that a pool caches. A unit is a whole extent: the lists that begin there.

use std::ops::Range;
use std::sync::Arc;

use esker_format::BLOCK_BYTES;
use esker_format::io::{Disk, File};
use esker_format::{Error, Result};
use esker_graph::{Run, VertexId};

use crate::layer::{Arrays, Body, Coded, Index, ListColumns, ListExtents};
use crate::pool::PagedFile;

/// The lists of all vertices, and their offsets.
#[derive(Debug, Clone, Copy)]
pub(super) enum DenseLists<'a> {
    Arrays { arrays: &'a Arrays, offsets: &'a [u64] },
    Coded { coded: &'a Coded, index: Index<'a> },
}

impl<'a> DenseLists<'a> {
    /// Verifies the offsets.
    pub(super) fn new(lists: &'a ListColumns, run: &Run) -> Result<Self> {
        if !lists.is_dense() {
            return Err(Error::Invalid("only the lists of complete layers can be pooled".to_owned()));
        }
        Ok(match lists.body() {
            Body::Arrays(arrays) => Self::Arrays { arrays, offsets: arrays.offsets(run)? },
            Body::Coded(coded) => Self::Coded { coded, index: coded.index(run)? },
        })
    }

    fn extents(&self) -> ListExtents<'a> {
        match *self {
            Self::Arrays { offsets, .. } => ListExtents::Offsets(offsets),
            Self::Coded { index, .. } => ListExtents::Index(index),
        }
    }

    pub(super) fn num_lists(&self) -> usize {
        self.extents().len()
    }

    #[inline(always)]
    pub(super) fn degree(&self, v: VertexId) -> usize {
        match self {
            Self::Arrays { offsets, .. } => (offsets[v as usize + 1] - offsets[v as usize]) as usize,
            Self::Coded { index, .. } => index.degree(v as usize),
        }
    }

    /// Number of arcs in the lists before `slot`.
    pub(super) fn before(&self, slot: usize) -> usize {
        self.extents().before(slot)
    }

    /// The first list that begins at or after a byte of the data, or the number of lists.
    pub(super) fn slot_at_byte(&self, byte: u64) -> usize {
        match self {
            Self::Arrays { offsets, .. } => {
                let lists = &offsets[..offsets.len() - 1];
                lists.partition_point(|offset| offset * (size_of::<VertexId>() as u64) < byte)
            }
            Self::Coded { index, .. } => index.slot_at_byte(byte as usize),
        }
    }
}

/// The file of the lists.
#[derive(Debug)]
pub(super) struct ListPages<'a> {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) kept: DenseLists<'a>,
}

impl PagedFile for ListPages<'_> {
    const OVERLAP_BLOCKS: usize = 1;

    fn file(&self) -> Result<Arc<dyn File>> {
        match self.kept {
            DenseLists::Arrays { arrays, .. } => arrays.targets_column().open_direct(self.disk.as_ref()),
            DenseLists::Coded { coded, .. } => coded.columns().lists.open_direct(self.disk.as_ref()),
        }
    }

    fn data(&self) -> Range<u64> {
        let (first, bytes) = match self.kept {
            DenseLists::Arrays { arrays, .. } => {
                let targets = arrays.targets_column();
                (targets.first_byte(), targets.len() * size_of::<VertexId>())
            }
            DenseLists::Coded { coded, .. } => {
                (coded.columns().lists.first_byte(), coded.columns().lists.len())
            }
        };
        first..first + bytes as u64
    }

    fn verify(&self, block: usize, bytes: &[u8]) -> Result<()> {
        match self.kept {
            DenseLists::Arrays { arrays, .. } => arrays.targets_column().verify_copy(block, bytes),
            DenseLists::Coded { coded, .. } => coded.columns().lists.verify_copy(block, bytes),
        }
    }

    fn units(&self, extent: usize, _blocks: Range<usize>) -> Range<usize> {
        extent..extent + 1
    }

    fn strips(&self, extent: usize) -> (u32, u32) {
        (extent as u32, extent as u32)
    }

    fn num_strips(&self) -> usize {
        // An extent has at least one block.
        let data = self.data();
        ((data.end - data.start) as usize).div_ceil(BLOCK_BYTES)
    }
}
