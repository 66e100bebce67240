//! Inputs that are still being written: pipes whose lines come now and then, and files that grow.

use std::time::Duration;

use esker_format::{Error, Result};
use esker_graph::Cancel;

use crate::input::{Input, Stream};

/// Time between two looks at whether a file has grown.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How to read an input that is still being written: lines are handed on as soon as they have come.
#[derive(Debug, Clone, Default)]
pub struct Live {
    /// Whether to wait at the end of a file for what will be appended to it.
    pub follow: bool,
    /// Ends the waiting. A last line without its end is left out then: more of it may come.
    pub stop: Cancel,
}

impl Live {
    /// At the end of what there is: waits a moment, and says whether to read on.
    ///
    /// # Errors
    /// [`Error::Input`] if the file became shorter than what was read of it.
    pub(crate) fn waits(&self, input: &Input, stream: &Stream) -> Result<bool> {
        if !self.follow || self.stop.is_cancelled() {
            return Ok(false);
        }
        if let Some(now) = input.stored_bytes().filter(|&now| now < stream.stored_bytes()) {
            let path = input.path().to_path_buf();
            let reason = format!(
                "the file has {now} bytes, but {} were read: it was replaced or cut short while it was followed",
                stream.stored_bytes()
            );
            return Err(Error::Input { path, line: None, text: String::new(), reason });
        }
        std::thread::sleep(LOOK_EVERY);
        Ok(true)
    }
}
