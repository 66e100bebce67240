//! Finding vertices by their external ids.

use esker_format::{Error, Result};
use esker_graph::{Run, VertexId};

use super::state::Snapshot;

impl Snapshot {
    /// The vertex whose id a user typed, if it is there in this version.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none, with the nearest remedy, or it is removed; [`Error::Corrupt`];
    /// cancellation.
    pub fn find_vertex(&self, text: &str, run: &Run) -> Result<VertexId> {
        let v = self.ids().find(text)?;
        if self.removed(run)?.is_removed(v) {
            if self.window_index().is_some() {
                let view = if self.is_filtered() { "view" } else { "window" };
                return Err(Error::invalid(format!(
                    "the vertex {text:?} has no edge in the {view}: name another, or keep all vertices in it"
                )));
            }
            return Err(Error::invalid(format!(
                "no vertex has the id {text:?} in version {}: it was removed; name one that is left, or an older version",
                self.version().number
            )));
        }
        Ok(v)
    }

    /// As [`Snapshot::find_vertex`], also if the vertex has no edge in the window.
    ///
    /// # Errors
    /// As [`Snapshot::find_vertex`] without a window.
    pub fn find_beyond_window(&self, text: &str, run: &Run) -> Result<VertexId> {
        self.clone().without_window().find_vertex(text, run)
    }
}
