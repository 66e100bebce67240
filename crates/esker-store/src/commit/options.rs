//! Options of a commit, and the memory of a batch.

use esker_format::io::Paging;
use esker_format::{Error, Result};
use esker_graph::{Cancel, Reservation};

/// Options of a commit.
#[derive(Debug, Clone, Default)]
pub struct CommitOptions {
    /// The message of the version.
    pub message: String,
    /// The event time, in milliseconds since 1970, UTC: when what the batch records happened. It selects
    /// versions by time, so it must not be before that of an earlier version. `None`: the time of the commit,
    /// also where the database remembers that versions are given theirs: its users' doors refuse that.
    pub time_ms: Option<u64>,
    /// Whether a time before that of an earlier version becomes that one, instead of being refused.
    pub raises_time: bool,
    /// The version that the batch was made for: the commit is refused unless it is still the newest.
    pub follows: Option<u64>,
    /// Stops the commit until its record in the log is complete in memory; then nothing has happened. Later,
    /// it only ends the wait for a durable large commit to become visible, which it does in the background.
    pub cancel: Cancel,
}

/// Report of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// The number of the version.
    pub version: u64,
    /// The number of edges of the batch that were left out or united with another, as the rule for duplicates
    /// says. With [`Duplicates::Last`](esker_format::Duplicates::Last), and edges without kinds, only those
    /// that the batch adds several times. `None` if another process committed the batch, and ended before it
    /// could tell.
    pub duplicates: Option<u64>,
    /// The number of edges that were removed, not counting those of removed vertices. Known if the batch
    /// removes some of several parallel edges, or asks for the number ([`crate::Batch::count_removed`]).
    pub removed: Option<u64>,
    /// The number of removals of edges that found none. Known if the batch asks for it
    /// ([`crate::Batch::count_not_found`]).
    pub not_found: Option<u64>,
}

/// Learns the number of a version before its commit is in the log.
pub(crate) trait Announce {
    /// The commit becomes this version, or fails. After an error nothing is committed.
    fn begin(&mut self, version: u64) -> Result<()>;

    /// It becomes no version.
    fn end(&mut self) -> Result<()>;
}

impl Announce for () {
    fn begin(&mut self, _version: u64) -> Result<()> {
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Memory reserved for a batch; a clone has none.
#[derive(Debug, Default)]
pub(crate) struct BatchMemory {
    pub(crate) reserved: Option<Reservation>,
    /// Since the batch exceeds the limit: its large pieces lie in a scratch file.
    pub(crate) paging: Option<Paging>,
}

impl BatchMemory {
    /// An error if pieces of a batch that pages lie on the heap, because the scratch file cannot grow.
    pub(crate) fn expect_paged(&self) -> Result<()> {
        if self.paging.as_ref().is_some_and(Paging::lacks_space) {
            return Err(Error::invalid(
                "a commit exceeds the memory limit, and the disk has no room for the scratch file, which lies \
                 in the first database of this process that needed one: free space there and begin the \
                 commit anew, raise the limit, or commit in smaller parts"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

impl Clone for BatchMemory {
    fn clone(&self) -> Self {
        Self::default()
    }
}
