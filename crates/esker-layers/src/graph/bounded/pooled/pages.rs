//! Lists as a file that a pool caches. A unit is a whole extent: the lists that begin there.

use std::ops::Range;
use std::sync::Arc;

use esker_format::BLOCK_BYTES;
use esker_format::Result;
use esker_format::io::{Disk, File};

use crate::graph::mapped::dense::DenseLists;
use crate::pool::PagedFile;

/// The file of the lists.
#[derive(Debug)]
pub(super) struct ListPages<'a> {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) kept: DenseLists<'a>,
}

impl PagedFile for ListPages<'_> {
    const OVERLAP_BLOCKS: usize = 1;

    fn file(&self) -> Result<Arc<dyn File>> {
        self.kept.open_direct(self.disk.as_ref())
    }

    fn data(&self) -> Range<u64> {
        self.kept.data()
    }

    fn verify(&self, block: usize, bytes: &[u8]) -> Result<()> {
        self.kept.verify_copy(block, bytes)
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
