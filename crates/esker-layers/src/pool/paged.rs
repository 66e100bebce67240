//! What can be kept in parts.

use std::fmt::Debug;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use esker_format::Result;
use esker_format::io::Disk;

/// What is kept in parts: the data of a file, in blocks with checksums. Scans want *units* of it, each of which begins in one extent.
pub(crate) trait Paged: Debug + Send + Sync {
    /// Blocks that an extent has in common with the next one, for units that end there.
    const OVERLAP_BLOCKS: usize;

    /// Where the file is.
    fn file(&self) -> (&Arc<dyn Disk>, &Path);

    /// Where in the file the data begin, and how many bytes they are.
    fn data(&self) -> Range<u64>;

    /// Compares a block with its checksum.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`].
    fn verify(&self, block: usize, bytes: &[u8]) -> Result<()>;

    /// The units that begin in an extent, which begins with these blocks.
    fn units(&self, extent: usize, blocks: Range<usize>) -> Range<usize>;

    /// The two strips of vertices that a unit is for.
    fn strips(&self, unit: usize) -> (u32, u32);

    /// Number of strips.
    fn num_strips(&self) -> usize;
}

/// What a source of units says when it is asked for more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Supply {
    /// There are more now.
    More,
    /// There will be: somebody has to wait.
    Later,
    /// There are no more.
    End,
}
