//! Inputs that are still being written: pipes whose lines come now and then, and files that grow.

use std::time::Duration;

use esker_format::{Error, Result};
use esker_graph::Cancel;

use crate::read::input::{Input, InputStream};

/// Time between two looks at whether a file has grown.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How to read an input that is still being written: lines are handed on as soon as they have come.
#[derive(Debug, Clone, Default)]
pub struct GrowingInput {
    /// Whether to wait at the end of a file for what will be appended to it.
    pub follow: bool,
    /// Ends the waiting. A last line without its end is left out then: more of it may come.
    pub stop: Cancel,
}

impl GrowingInput {
    /// At the end of what there is: waits a moment, and says whether to read on.
    ///
    /// # Errors
    /// [`Error::Input`] if the file was removed, renamed or replaced, or became shorter than what was read of
    /// it.
    pub(crate) fn waits(&self, input: &Input, stream: &InputStream) -> Result<bool> {
        if !self.follow || self.stop.is_cancelled() {
            return Ok(false);
        }
        let read = stream.stored_bytes();
        let reason = match (input.file_id(), input.stored_bytes()) {
            (None, _) => Some("the file was removed or renamed while it was followed".to_owned()),
            (id, _) if id != stream.file_id() => {
                Some("the file was replaced while it was followed: another one has its name".to_owned())
            }
            (_, Some(now)) if now < read => Some(format!(
                "the file has {}, but {read} were read: it was cut short while it was followed",
                esker_graph::counted(now, "byte", "bytes")
            )),
            _ => None,
        };
        if let Some(reason) = reason {
            return Err(Error::input(input.path().as_path(), reason));
        }
        std::thread::sleep(LOOK_EVERY);
        Ok(true)
    }
}
