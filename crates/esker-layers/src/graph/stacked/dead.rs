//! Edges of a complete layer that are left out of a version, in the order of its tiles.

use esker_graph::{Direction, Run, STRIP_LEN, VertexId};
use rayon::slice::ParallelSliceMut;

use super::gone::Gone;
use super::missing::Missing;

/// Dead edges in the order of tiles. Memory: 4 bytes an edge, and 16 bytes a tile.
#[derive(Debug)]
pub(super) struct DeadTiles {
    /// The strips of rows and columns of each tile with dead edges, ascending.
    tiles: Vec<(u32, u32)>,
    /// Where the edges of each tile begin.
    starts: Vec<usize>,
    /// Row and column in the tile, ascending within each tile.
    places: Vec<u32>,
}

pub(super) fn strip(v: VertexId) -> u32 {
    (v as usize / STRIP_LEN) as u32
}

/// Row and column in their tile.
pub(super) fn place(row: VertexId, column: VertexId) -> u32 {
    let within = |v: VertexId| (v as usize % STRIP_LEN) as u32;
    within(row) * STRIP_LEN as u32 + within(column)
}

impl DeadTiles {
    /// Those of the lists of one direction; `dead` has none of lists that are gone. An undirected graph keeps the end with the lesser number as
    /// the row, and has each edge in the lists of both ends that are not gone.
    pub(super) fn new(dead: &Missing, gone: &Gone, direction: Option<Direction>, run: &Run) -> Self {
        let edge = |(v, target): (VertexId, VertexId)| match direction {
            None if v <= target || gone.has(target) => Some((v.min(target), v.max(target))),
            None => None,
            Some(Direction::Out) => Some((v, target)),
            Some(Direction::In) => Some((target, v)),
        };
        let edges = || {
            let arcs = dead.iter().flat_map(|(v, targets)| targets.iter().map(move |&target| (v, target)));
            arcs.filter_map(edge).map(|(row, column)| ((strip(row), strip(column)), place(row, column)))
        };
        // Counted first, so that no room is left over.
        let mut sorted = Vec::with_capacity(edges().count());
        sorted.extend(edges());
        run.install(|| sorted.par_sort_unstable());
        let (mut tiles, mut starts, mut places) = (Vec::new(), vec![0], Vec::with_capacity(sorted.len()));
        for edges in sorted.chunk_by(|a, b| a.0 == b.0) {
            tiles.push(edges[0].0);
            places.extend(edges.iter().map(|edge| edge.1));
            starts.push(places.len());
        }
        Self { tiles, starts, places }
    }

    /// Those of a tile.
    pub(super) fn of_tile(&self, tile: (u32, u32)) -> &[u32] {
        match self.tiles.binary_search(&tile) {
            Ok(at) => &self.places[self.starts[at]..self.starts[at + 1]],
            Err(_) => &[],
        }
    }
}
