//! Values that follow from the neighbours of higher priority: where changed edges make them differ first.

use esker_graph::VertexId;

use super::graph::{BoundedReader, LiveGraph, UpdateResult};

/// The order of the vertices. It depends on their degrees.
pub(super) trait Priorities {
    /// What says how a vertex with some degree stands in the order.
    type Key: Copy;
    /// Whether the value of `v` depends on that of its neighbour `u`, and not the other way round.
    fn is_before(&self, u: VertexId, v: VertexId) -> bool;
    /// Gives `v` the priority that it has with this degree. Returns the one before, if that was another.
    fn give(&mut self, v: VertexId, degree: usize) -> Option<Self::Key>;
    /// Whether the value of `u` may differ because its neighbour `v` has another priority than the `former`
    /// one, both values being those of the version before.
    fn concerns(&self, v: VertexId, former: Self::Key, u: VertexId) -> bool;
}

/// Gives the ends of changed edges their priorities, and returns the vertices to which the changes matter:
/// the lower ends of changed edges, the vertices that got another priority, and those of their neighbours
/// that this concerns. A vertex may be there several times.
pub(super) fn affected_first<G: LiveGraph>(
    state: &mut impl Priorities,
    reader: &mut BoundedReader<'_, G>,
) -> UpdateResult<Vec<VertexId>, G> {
    let changes = reader.changes();
    let ends = changes.removed.iter().chain(&changes.added).flat_map(|&(u, v, _)| [u, v]);
    let mut ends: Vec<VertexId> = ends.collect();
    ends.sort_unstable();
    ends.dedup();
    // An end that was lower has lost a higher neighbour, also if it is not the lower one any longer.
    let mut again = lower_ends(state, &changes.removed);
    for v in ends {
        if let Some(former) = state.give(v, reader.degree_around(v)?) {
            again.push(v);
            // A neighbour that gets another priority too is among those that do.
            reader.each_around(v, |u, _| {
                if state.concerns(v, former, u) {
                    again.push(u);
                }
            })?;
        }
    }
    again.extend(lower_ends(state, &changes.added));
    Ok(again)
}

/// The end of lower priority of each edge.
fn lower_ends<W>(state: &impl Priorities, edges: &[(VertexId, VertexId, W)]) -> Vec<VertexId> {
    let edges = edges.iter().filter(|(u, v, _)| u != v);
    edges.map(|&(u, v, _)| if state.is_before(u, v) { v } else { u }).collect()
}
