//! What can differ.

use esker_graph::VertexId;

use crate::error::Result;
use crate::format::PropertyRecord;
use crate::property::PropertyValue;
use crate::snapshot::{Edges, Snapshot};

/// An edge in one of the two versions.
#[derive(Debug, Clone, Copy)]
pub struct EdgeOf<'d> {
    /// Where it begins; of an undirected one, the lesser end.
    pub source: VertexId,
    /// Where it ends.
    pub target: VertexId,
    pub(super) snapshot: &'d Snapshot,
    pub(super) edges: &'d Edges<'d>,
    pub(super) index: usize,
}

impl<'d> EdgeOf<'d> {
    /// The value of one of its properties.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`]; [`crate::Error::Invalid`] if it is no edge property.
    pub fn value(&self, property: &PropertyRecord) -> Result<PropertyValue<'d>> {
        let bits = self.edges.bits(property.number, self.index)?;
        match self.snapshot.dictionary(property.number) {
            Some(dictionary) => dictionary.text(bits as usize).map(PropertyValue::Text),
            None => Ok(PropertyValue::from_bits(property.element, bits)),
        }
    }
}

/// One difference, on the way from the first version to the second.
#[derive(Debug, Clone, Copy)]
pub enum Difference<'d> {
    /// A vertex came, or came back.
    VertexAdded(VertexId),
    /// A vertex went.
    VertexRemoved(VertexId),
    /// A property of a vertex that both versions have: the vertex, the property, old and new value.
    ValueChanged(VertexId, &'d PropertyRecord, Option<PropertyValue<'d>>, Option<PropertyValue<'d>>),
    /// An edge that the first version has not.
    EdgeAdded(EdgeOf<'d>),
    /// An edge that the second version has not.
    EdgeRemoved(EdgeOf<'d>),
    /// The same edge with other properties: old and new. Of parallel edges none is the same as another, so they come and go.
    EdgeChanged(EdgeOf<'d>, EdgeOf<'d>),
}
