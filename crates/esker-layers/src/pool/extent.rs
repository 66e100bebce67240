//! Consecutive blocks of a file, in memory.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use esker_format::io::Frame;

/// An extent in memory.
#[derive(Debug)]
pub(super) struct Extent {
    pub(super) frame: Frame,
    /// One bit per block: set once its checksum matched.
    pub(super) verified: AtomicU32,
}

/// A range of an extent. The extent stays in memory until this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    pub(super) extent: Arc<Extent>,
    pub(super) range: Range<usize>,
}

impl std::ops::Deref for Held {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.extent.frame[self.range.clone()]
    }
}
