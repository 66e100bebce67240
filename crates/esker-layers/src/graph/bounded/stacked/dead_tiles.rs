//! Edges of a complete layer that are left out of a version, in the order of its tiles.

use esker_graph::{Direction, Run, VertexId};
use rayon::slice::ParallelSliceMut;

use super::hidden_lists::HiddenLists;
use crate::graph::arc_sets::dead_arcs::DeadArcs;
use crate::tiles::{TileEdges, place, tile_of};

/// The edges of the lists of one direction; `dead` has none of lists that are hidden. An undirected graph
/// keeps the end with the lesser number as the row, and has each edge in the lists of both ends that are not
/// hidden.
pub(super) fn dead_tiles(
    num_vertices: usize,
    dead: &DeadArcs,
    hidden: &HiddenLists,
    direction: Option<Direction>,
    run: &Run,
) -> TileEdges<()> {
    let edge = |(v, target): (VertexId, VertexId)| match direction {
        None if v <= target || hidden.has(target) => Some((v.min(target), v.max(target))),
        None => None,
        Some(Direction::Out) => Some((v, target)),
        Some(Direction::In) => Some((target, v)),
    };
    let edges = || {
        let arcs = dead.iter().flat_map(|(v, targets)| targets.iter().map(move |&target| (v, target)));
        arcs.filter_map(edge).map(|(row, column)| (tile_of(row, column), place(row, column)))
    };
    // Counted first, so that no room is left over.
    let mut sorted = Vec::with_capacity(edges().count());
    sorted.extend(edges());
    run.install(|| sorted.par_sort_unstable());
    TileEdges::from_sorted(num_vertices, &sorted)
}
