//! Finding vertices by their external ids.

use esker_format::{Error, Result};
use esker_graph::{Run, VertexId};

use super::state::Version;

impl Version {
    /// The vertex whose id a user typed, if it is there in this version.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none, with the nearest remedy, or it is removed; [`Error::Corrupt`];
    /// cancellation.
    pub fn find_vertex(&self, text: &str, run: &Run) -> Result<VertexId> {
        let v = self.ids().find(text)?;
        if self.removed(run)?.is_removed(v) {
            return Err(Error::invalid(format!(
                "no vertex has the id {text:?} in version {}: it was removed; name one that is left, or an older version",
                self.number()
            )));
        }
        Ok(v)
    }
}
