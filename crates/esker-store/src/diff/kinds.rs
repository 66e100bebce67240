//! The differences between two versions.

use esker_format::{PropertyRecord, Result};
use esker_graph::VertexId;
use esker_layers::property::PropertyValue;

use crate::version::{Version, VertexEdges};

/// An edge in one of two compared versions.
#[derive(Debug, Clone, Copy)]
pub struct DiffEdge<'d> {
    /// Its source; for an undirected edge, the end with the smaller id.
    pub source: VertexId,
    /// Its target.
    pub target: VertexId,
    pub(super) version: &'d Version,
    pub(super) edges: &'d VertexEdges<'d>,
    pub(super) index: usize,
}

impl<'d> DiffEdge<'d> {
    /// The bits of the value of a property of the edge, zero-extended to 64.
    ///
    /// # Errors
    /// As [`DiffEdge::value`].
    pub fn bits(&self, property: u32) -> Result<u64> {
        self.edges.bits(property, self.index)
    }

    /// The value of one of the edge's properties.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`]; [`esker_format::Error::Invalid`] if the property is not an edge
    /// property.
    pub fn value(&self, property: &PropertyRecord) -> Result<PropertyValue<'d>> {
        self.version.edge_value(property, self.bits(property.number)?)
    }
}

/// One difference from the first version to the second.
#[derive(Debug, Clone, Copy)]
pub enum Difference<'d> {
    /// A vertex was added, or restored after its removal.
    VertexAdded(VertexId),
    /// A vertex was removed.
    VertexRemoved(VertexId),
    /// A property of a vertex that both versions have: the vertex, the property, the old value and the new
    /// value.
    ValueChanged(VertexId, &'d PropertyRecord, Option<PropertyValue<'d>>, Option<PropertyValue<'d>>),
    /// An edge that only the second version has.
    EdgeAdded(DiffEdge<'d>),
    /// An edge that only the first version has.
    EdgeRemoved(DiffEdge<'d>),
    /// An edge with changed properties: old and new. Parallel edges have no identity, so they are only added
    /// and removed.
    EdgeChanged(DiffEdge<'d>, DiffEdge<'d>),
}
