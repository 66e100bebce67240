//! Finding vertices by their external ids.

use esker_format::{Error, Result, Sought};
use esker_graph::{Run, VertexId};

use super::state::Version;

impl Version {
    /// The vertex whose id a user typed, if it is there in this version.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is none, with the nearest remedy, or it is removed; [`Error::Invalid`] if
    /// the text is no id of this graph; [`Error::Corrupt`]; cancellation.
    pub fn find_vertex(&self, text: &str, run: &Run) -> Result<VertexId> {
        let v = self.ids().find(text)?;
        if self.removed(run)?.is_removed(v) {
            let reason = format!(
                "no vertex has the id {text:?} in version {}: it was removed; name one that is left, or an older version",
                self.number()
            );
            return Err(Error::not_found(Sought::Vertex, reason));
        }
        Ok(v)
    }
}
