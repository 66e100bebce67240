//! Concurrent reads of one file into frames.

use std::fmt::Debug;

use super::frames::Frame;
use crate::error::Result;

/// A read request.
#[derive(Debug)]
pub struct Read {
    /// The caller's number for it.
    pub tag: usize,
    /// The destination.
    pub frame: Frame,
    /// Offset in the file, a multiple of 4096.
    pub offset: u64,
    /// Bytes needed, at most the size of the frame. The read rounds them up to a whole page, unless the file
    /// ends before.
    pub bytes: usize,
}

/// A queue of reads of one file. A frame goes in with its read and comes back with the result. Dropping the
/// queue waits for reads under way.
pub trait Reads: Debug + Send {
    /// Queues reads. They start at once, or in [`Reads::finish`].
    ///
    /// # Errors
    /// [`crate::error::Error::Io`]; the queue is then unusable.
    fn begin(&mut self, reads: &mut Vec<Read>) -> Result<()>;

    /// Appends finished reads and their results to `done`. With `wait`, waits for at least one read, unless
    /// none is under way.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`]; the queue is then unusable.
    fn finish(&mut self, wait: bool, done: &mut Vec<(Read, Result<()>)>) -> Result<()>;

    /// Number of reads under way or waiting.
    fn under_way(&self) -> usize;
}
