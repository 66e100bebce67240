//! Whether a version has an edge that is about to come.

use esker_graph::Direction;
use esker_store::format::LogicalType;
use esker_store::{Result, Version};

use super::feed_policy::FedEdge;

/// Whether a version has an edge between the same vertices with the same values.
///
/// # Errors
/// [`esker_store::Error::Corrupt`].
pub(super) fn has_edge(version: &Version, edge: &FedEdge<'_>) -> Result<bool> {
    let ids = version.ids();
    let (Some(source), Some(target)) = (ids.vertex_of(edge.source)?, ids.vertex_of(edge.target)?) else {
        return Ok(false);
    };
    let edges = version.edges(Direction::Out, source)?;
    for (index, _) in edges.targets().iter().enumerate().filter(|(_, other)| **other == target) {
        let mut is_same = true;
        let given = version.edge_properties().filter(|property| property.logical != LogicalType::EdgeId);
        for (property, wanted) in given.zip(edge.values) {
            is_same &= version.edge_value(property, edges.bits(property.number, index)?)? == *wanted;
        }
        if is_same {
            return Ok(true);
        }
    }
    Ok(false)
}
