//! Many reads of one file at a time, into frames.

use std::fmt::Debug;

use super::frames::Frame;
use crate::error::Result;

/// A read that is asked for.
#[derive(Debug)]
pub struct Read {
    /// The asker's own number for it.
    pub tag: usize,
    /// Where it goes.
    pub frame: Frame,
    /// Where in the file it begins, a multiple of [`super::DIRECT_BYTES`].
    pub offset: u64,
    /// Bytes that are needed; no more than the frame has. As many are read, up to a whole page, unless the file ends before.
    pub bytes: usize,
}

/// Reads under way of one file. Frames go in with a read and come back when it is done. When it is dropped, reads under way are waited for.
pub trait Reads: Debug + Send {
    /// Adds reads. They may begin at once, or with [`Reads::finish`].
    ///
    /// # Errors
    /// [`crate::Error::Io`]; then nothing more can be had of it.
    fn begin(&mut self, reads: &mut Vec<Read>) -> Result<()>;

    /// Takes the reads that are done; if `wait`, waits for one at least, unless none is under way. Each is given with what was wrong
    /// with it, if anything.
    ///
    /// # Errors
    /// [`crate::Error::Io`]; then nothing more can be had of it.
    fn finish(&mut self, wait: bool, done: &mut Vec<(Read, Result<()>)>) -> Result<()>;

    /// Number of reads under way.
    fn under_way(&self) -> usize;
}
