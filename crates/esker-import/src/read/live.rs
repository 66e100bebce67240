//! Inputs that are still being written: pipes whose lines come now and then, and files that grow.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use esker_format::io::{Disk, RealDisk};
use esker_format::{Error, Result};
use esker_graph::Cancel;

use crate::read::input::{Input, InputStream};

/// Time between two looks at whether a file has grown.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// A file that did not change for so long ends without a line end.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// How to read an input that is still being written: lines are handed on as soon as they have come.
#[derive(Debug, Clone, Default)]
pub struct GrowingInput {
    /// Whether to wait at the end of a file for what will be appended to it.
    pub follow: bool,
    /// Ends the waiting. A last line without its end is left out then: more of it may come.
    pub stop: Cancel,
    /// Whether the file may be rotated: renamed, and another one written under its name. It is complete once
    /// that one has its first bytes, for its writer has moved on. Else this is an error.
    pub rotates: bool,
    /// Whether another file is to be read next, so that this one is complete.
    pub has_next: HasNext,
}

/// Says whether another file follows.
#[derive(Clone, Default)]
pub struct HasNext(
    /// The question; `None`: never.
    pub Option<Arc<dyn Fn() -> bool + Send + Sync>>,
);

impl fmt::Debug for HasNext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HasNext").field(&self.0.is_some()).finish()
    }
}

/// What is known at the end of what there is of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    /// More may have come.
    Awaited,
    /// Nobody waits for more.
    Ended,
    /// Its writer has moved on to another file: what has come until now is all.
    Complete,
}

impl GrowingInput {
    /// At the end of a file that is complete but for a line end, and has not grown since `since`: whether it
    /// ends so. Waits a moment if not.
    pub(crate) fn has_settled(&self, input: &Input, stream: &InputStream, since: Instant) -> bool {
        let is_own = input.file_id().is_some() && input.file_id() == stream.file_id();
        let named = is_own.then(|| RealDisk.identify(&input.path()).ok().flatten()).flatten();
        let now = UNIX_EPOCH.elapsed().map_or(0, |age| age.as_nanos() as i128);
        let settled_ns = SETTLED_AFTER.as_nanos() as i128;
        if since.elapsed() >= SETTLED_AFTER || named.is_some_and(|named| now - named.modified_ns > settled_ns)
        {
            return true;
        }
        std::thread::sleep(LOOK_EVERY);
        false
    }

    /// At the end of what there is: waits a moment, and says whether to read on.
    ///
    /// # Errors
    /// [`Error::Input`] if the file became shorter than what was read of it; if it cannot be rotated, also if
    /// it was removed, renamed or replaced.
    pub(crate) fn waits(&self, input: &Input, stream: &InputStream) -> Result<Growth> {
        if !self.follow || self.stop.is_cancelled() {
            return Ok(Growth::Ended);
        }
        let read = stream.stored_bytes();
        let (id, bytes) = (input.file_id(), input.stored_bytes());
        let is_own = id.is_some() && id == stream.file_id();
        let reason = match bytes {
            _ if is_own && bytes.is_some_and(|now| now < read) => Some(format!(
                "the file has {}, but {read} were read: it was cut short while it was followed, so lines that were written just before may \
                 be missing; rotate it by renaming",
                esker_graph::counted(bytes.unwrap_or(0), "byte", "bytes")
            )),
            _ if is_own || self.rotates => None,
            None => Some("the file was removed or renamed while it was followed".to_owned()),
            Some(_) => {
                Some("the file was replaced while it was followed: another one has its name".to_owned())
            }
        };
        if let Some(reason) = reason {
            return Err(Error::input(input.path().as_path(), reason));
        }
        let is_followed = !is_own && bytes.is_some_and(|bytes| bytes > 0);
        if is_followed || self.has_next.0.as_ref().is_some_and(|has_next| has_next()) {
            return Ok(Growth::Complete);
        }
        std::thread::sleep(LOOK_EVERY);
        Ok(Growth::Awaited)
    }
}
