//! Reads of single lists.

use std::borrow::Cow;

use esker_format::Result;
use esker_graph::{Direction, Flow, VertexId};

use super::edges::VertexEdges;
use super::state::Version;

impl Version {
    /// Length of the list of `v`.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`]; [`esker_format::Error::Invalid`] if there is no such vertex or the
    /// direction is not kept.
    pub fn degree(&self, direction: Direction, v: VertexId) -> Result<usize> {
        self.stack().degree(direction, v)
    }

    /// Whether there is an edge from `v` to `target`. Takes a binary search for each layer that changed the
    /// list of `v`.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`]; [`esker_format::Error::Invalid`] if there is no vertex `v`.
    pub fn has_edge(&self, v: VertexId, target: VertexId) -> Result<bool> {
        let mut found = false;
        self.stack().visit_copies(Direction::Out, v, target, |_, _| {
            found = true;
            Ok(Flow::Enough)
        })?;
        Ok(found)
    }

    /// The edges of `v`, ascending by neighbour, with their properties.
    ///
    /// # Errors
    /// As [`Version::degree`].
    pub fn edges(&self, direction: Direction, v: VertexId) -> Result<VertexEdges<'_>> {
        VertexEdges::read(self.stack(), direction, v)
    }

    /// The list of `v`, ascending.
    ///
    /// # Errors
    /// As [`Version::degree`].
    pub fn neighbors(&self, direction: Direction, v: VertexId) -> Result<Cow<'_, [VertexId]>> {
        self.edges(direction, v).map(VertexEdges::into_targets)
    }
}
