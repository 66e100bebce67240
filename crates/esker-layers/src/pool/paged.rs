//! Files that a pool can cache.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use esker_format::Result;
use esker_format::io::File;

/// A file of blocks with checksums. Scans ask for *units*; a unit begins in one extent.
pub(crate) trait PagedFile: Debug + Send + Sync {
    /// Blocks that neighbouring extents share, for units that end behind their extent.
    const OVERLAP_BLOCKS: usize;

    /// Opens the file for direct reads.
    ///
    /// # Errors
    /// [`esker_format::Error::Io`].
    fn file(&self) -> Result<Arc<dyn File>>;

    /// The range of the data in the file.
    fn data(&self) -> Range<u64>;

    /// Compares a block with its checksum.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`].
    fn verify(&self, block: usize, bytes: &[u8]) -> Result<()>;

    /// The units that begin in an extent; `blocks` are its blocks without those shared with the next.
    fn units(&self, extent: usize, blocks: Range<usize>) -> Range<usize>;

    /// The two strips of vertices whose edges a unit holds.
    fn strips(&self, unit: usize) -> (u32, u32);

    /// Number of strips.
    fn num_strips(&self) -> usize;
}

/// Whether there are more units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Supply {
    /// There are some now.
    More,
    /// There will be, after a wait.
    Later,
    /// There are no more.
    End,
}
