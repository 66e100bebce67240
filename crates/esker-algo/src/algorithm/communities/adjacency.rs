//! The lists of a level of the hierarchy, whatever they are made of.
//!
//! What is computed on a level is compiled once: it reads lists through a pointer, one call for each list, so
//! neither the kind of graph nor the type of its weights makes another copy of it.

use esker_graph::{Direction, Lists, Run, Stop, VertexId};

use crate::primitive::Ranked;
use crate::primitive::Unit;

/// The weights beside a part of a list.
#[derive(Debug, Clone, Copy)]
pub(super) enum Units<'a> {
    /// Each entry counts 1.
    Ones,
    /// A number of units for each entry.
    Each(&'a [u64]),
}

/// Buffers of a worker that reads lists.
#[derive(Debug, Default)]
pub(super) struct PartBuffers {
    units: Vec<u64>,
    pub(super) nodes: Vec<VertexId>,
}

impl PartBuffers {
    /// The most bytes that the buffers of a worker take.
    pub(super) const MEMORY_BYTES: u64 = (PART_LEN * (8 + size_of::<VertexId>())) as u64;
}

/// Entries that are handed over at once, and between two checks for cancellation.
pub(super) const PART_LEN: usize = 1 << 14;

/// Takes a part of a list: neighbours, and a number of units for each.
pub(super) type TakePart<'a> = &'a mut dyn FnMut(&[VertexId], Units<'_>);

/// The weighted lists of the nodes of a level.
pub(super) trait Adjacency: Sync {
    /// What can go wrong while a list is read.
    type Error: From<Stop> + Send;

    /// Number of nodes.
    fn num_nodes(&self) -> usize;

    /// Entries in the list of a node, or more.
    fn degree(&self, node: VertexId) -> usize;

    /// Hands over the list of a node in parts. A neighbour may come several times, and the node itself too.
    fn each_part(
        &self,
        node: VertexId,
        buffers: &mut PartBuffers,
        take: TakePart<'_>,
    ) -> Result<(), Self::Error>;
}

/// Calls `f` with the entries of a list one by one, but for those of weight 0: levels in memory have no such
/// entries, and the same vertices must be visited next on both.
#[inline(always)]
pub(super) fn each_entry<E: From<Stop> + Send>(
    lists: &dyn Adjacency<Error = E>,
    node: VertexId,
    buffers: &mut PartBuffers,
    mut f: impl FnMut(VertexId, u64),
) -> Result<(), E> {
    lists.each_part(node, buffers, &mut |nodes, units| match units {
        Units::Ones => nodes.iter().for_each(|&u| f(u, 1)),
        Units::Each(units) => {
            for (&u, &units) in nodes.iter().zip(units).filter(|&(_, &units)| units > 0) {
                f(u, units);
            }
        }
    })
}

/// The lists of the graph itself: each vertex is a node.
pub(super) struct VertexLists<'a, G> {
    pub(super) graph: &'a G,
    pub(super) run: &'a Run,
    pub(super) unit: Unit,
}

impl<G: Lists<Weight: Ranked>> Adjacency for VertexLists<'_, G> {
    type Error = G::Error;

    fn num_nodes(&self) -> usize {
        self.graph.num_vertices()
    }

    fn degree(&self, node: VertexId) -> usize {
        self.graph.degree(Direction::Out, node)
    }

    fn each_part(
        &self,
        node: VertexId,
        buffers: &mut PartBuffers,
        take: TakePart<'_>,
    ) -> Result<(), G::Error> {
        let read = |list: &[VertexId], weights: &[G::Weight]| {
            for (part, weights) in list.chunks(PART_LEN).zip(weights.chunks(PART_LEN)) {
                self.run.check()?;
                if size_of::<G::Weight>() == 0 {
                    take(part, Units::Ones);
                } else {
                    buffers.units.clear();
                    buffers.units.extend(weights.iter().map(|weight| self.unit.count(weight.as_f64())));
                    take(part, Units::Each(&buffers.units));
                }
            }
            Ok::<(), Stop>(())
        };
        Ok(self.graph.with_list(Direction::Out, node, read)??)
    }
}
