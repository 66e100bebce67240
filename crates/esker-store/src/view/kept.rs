//! The edges of one vertex that a window and a filter keep.

use esker_format::{Error, Result};
use esker_graph::{Direction, VertexId};
use esker_layers::graph::views::window::time_at;

use super::choice::View;
use crate::version::VertexEdges;

impl View {
    /// The edges of `v` that lie in the window and that the filter keeps, in the directions of the version.
    /// Memory: 24 bytes an edge if some may be left out, beside that of [`VertexEdges`].
    ///
    /// # Errors
    /// As [`Version::edges`](crate::Version::edges); [`Error::Invalid`] if the window joins copies of an
    /// edge.
    pub fn kept_edges(&self, direction: Direction, v: VertexId) -> Result<VertexEdges<'_>> {
        let edges = self.version.edges(direction, v)?;
        let Some(part) = self.window.as_deref() else { return Ok(edges) };
        if part.joins() {
            return Err(Error::invalid("a window that joins edges has no single ones".to_owned()));
        }
        let (window, filter) = (part.index().window(), self.filter.as_deref());
        edges.filtered(|lists, index| {
            if let Some(times) = part.time().and_then(|time| lists.property(time as usize))
                && !window.contains(time_at(times, index)?)
            {
                return Ok(false);
            }
            filter.map_or(Ok(true), |filter| filter.keeps(lists, index))
        })
    }

    /// Number of edges of `v` that [`View::kept_edges`] returns.
    ///
    /// # Errors
    /// As [`Version::degree`](crate::Version::degree).
    pub fn kept_degree(&self, direction: Direction, v: VertexId) -> Result<usize> {
        match self.window_index() {
            Some(index) if self.version.has(direction) => Ok(index.degree(direction, v)),
            _ => self.version.degree(direction, v),
        }
    }
}
