//! Edges that have ids, in a batch.

use esker_format::{Error, LogicalType, PropertyRecord, Result};
use esker_graph::{Operation, message};
use esker_layers::ids::ExternalId;

use super::batch::Batch;

impl Batch {
    /// Those of which an edge that is added has values, in the order in which [`Batch::add_edge`] takes them:
    /// all but the ids of edges, which the commit gives.
    pub fn given_properties(&self) -> impl Iterator<Item = &PropertyRecord> {
        self.edge_properties.iter().filter(|property| property.logical != LogicalType::EdgeId)
    }

    /// Refuses a removal that names an edge by its id and has not found it.
    pub(crate) fn expect_unnamed(&self, wanted: u32, [source, target]: [ExternalId<'_>; 2]) -> Result<()> {
        let wanted = &self.matches[wanted as usize];
        let id =
            self.edge_ids.filter(|_| wanted.at_most != Some(0)).and_then(|column| wanted.edge_id(column));
        id.map_or(Ok(()), |id| {
            Err(Error::invalid(message![
                format!(
                    "no edge from {source} to {target} has the id {id} and the other values that are given: "
                ),
                Operation::Export,
                " writes the ids of edges",
            ]))
        })
    }
}
