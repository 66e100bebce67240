//! States of live answers, kept beside the versions that they belong to.

use std::path::PathBuf;

use esker_format::{LIVE_DIRECTORY, LiveContent, LiveFound, Result};
use esker_graph::Run;

use super::state::Version;

impl Version {
    /// The state that was kept under a name, within the memory of a run.
    ///
    /// # Errors
    /// As [`LiveContent::read`].
    pub fn live_state(&self, name: &str, run: &Run) -> Result<LiveFound> {
        LiveContent::read(self.state().disk().as_ref(), &self.live_path(name), self.manifest().database, run)
    }

    /// Keeps a state under a name, durably, in place of an earlier one.
    ///
    /// # Errors
    /// As [`LiveContent::write`].
    pub fn keep_live_state(&self, name: &str, content: &LiveContent) -> Result<()> {
        content.write(self.state().disk().as_ref(), &self.live_path(name), self.manifest().database)
    }

    /// The file of a state.
    pub fn live_path(&self, name: &str) -> PathBuf {
        self.path().join(LIVE_DIRECTORY).join(name)
    }
}
