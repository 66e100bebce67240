//! What changed from one version to the next, as live answers need it.

use esker_algo::live::ChangedEdges;
use esker_graph::{Run, VertexId};
use esker_store::Snapshot;
use esker_store::diff::{DiffEdge, Difference, diff};

use super::points::LiveWeight;
use crate::error::Result;

/// The differences between two versions. Memory: 16 bytes (24 with 64-bit ids) for each edge.
#[derive(Debug, Default)]
pub(super) struct VersionChange {
    /// Vertices that were removed.
    pub(super) left: Vec<VertexId>,
    /// Vertices that were added or restored.
    pub(super) came: Vec<VertexId>,
    /// Edges of the older version only, with the bits of their weights.
    removed: Vec<(VertexId, VertexId, u64)>,
    /// Edges of the newer version only.
    added: Vec<(VertexId, VertexId, u64)>,
    /// Edges of both that have other properties: the bits of the old weight and of the new one.
    reweighed: Vec<(VertexId, VertexId, [u64; 2])>,
}

impl VersionChange {
    /// Compares two versions, with the weights that the algorithm reads. Costs time linear in the lists of the changed vertices.
    pub(super) fn between(older: &Snapshot, newer: &Snapshot, weighted: bool, run: &Run) -> Result<Self> {
        let mut change = Self::default();
        let weight = newer.weight_property().filter(|_| weighted).map(|property| property.number);
        let bits = |edge: &DiffEdge<'_>| weight.map_or(Ok(0), |weight| edge.bits(weight));
        diff(older, newer, run, |difference| {
            match difference {
                Difference::VertexAdded(v) => change.came.push(v),
                Difference::VertexRemoved(v) => change.left.push(v),
                Difference::ValueChanged(..) => {}
                Difference::EdgeAdded(edge) => change.added.push((edge.source, edge.target, bits(&edge)?)),
                Difference::EdgeRemoved(edge) => {
                    change.removed.push((edge.source, edge.target, bits(&edge)?));
                }
                Difference::EdgeChanged(old, new) => {
                    let weights = [bits(&old)?, bits(&new)?];
                    if weights[0] != weights[1] {
                        change.reweighed.push((old.source, old.target, weights));
                    }
                }
            }
            Ok(())
        })?;
        Ok(change)
    }

    /// Whether nothing that an algorithm reads changed.
    pub(super) fn is_empty(&self) -> bool {
        self.num_edges() == 0 && self.left.is_empty() && self.came.is_empty()
    }

    /// The number of edges that changed.
    pub(super) fn num_edges(&self) -> usize {
        self.removed.len() + self.added.len() + self.reweighed.len()
    }

    /// The edges with weights of type `W`.
    pub(super) fn edges<W: LiveWeight>(&self) -> ChangedEdges<W> {
        let typed = |&(u, v, bits): &(VertexId, VertexId, u64)| (u, v, W::of_bits(bits));
        let mut changes = ChangedEdges {
            removed: self.removed.iter().map(typed).collect(),
            added: self.added.iter().map(typed).collect(),
            left: self.left.clone(),
            came: self.came.clone(),
        };
        for &(u, v, [old, new]) in &self.reweighed {
            changes.removed.push((u, v, W::of_bits(old)));
            changes.added.push((u, v, W::of_bits(new)));
        }
        changes
    }
}
