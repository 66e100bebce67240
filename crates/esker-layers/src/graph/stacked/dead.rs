//! Edges of a complete layer that are left out of a version, in the order of its tiles.

use std::ops::Range;

use esker_graph::{Direction, Run, STRIP_LEN, VertexId, vertex};
use rayon::slice::ParallelSliceMut;

use super::gone::Gone;
use super::missing::Missing;
use crate::tiles::reach;

/// Columns that are looked at or copied together: so few are left between two dead edges.
pub(super) const STEP: usize = 16;

/// Dead edges in the order of tiles. Memory: 4 bytes an edge, and 16 bytes a tile.
#[derive(Debug)]
pub(super) struct DeadTiles {
    /// The direction of the lists, if the graph is directed.
    direction: Option<Direction>,
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
        Self { direction, tiles, starts, places }
    }

    /// Those of a tile.
    pub(super) fn of_tile(&self, tile: (u32, u32)) -> &[u32] {
        match self.tiles.binary_search(&tile) {
            Ok(at) => &self.places[self.starts[at]..self.starts[at + 1]],
            Err(_) => &[],
        }
    }

    /// Whether a piece of the list of `v` may be from a row of a tile. Of a list that is read by itself, the other end may be the row.
    pub(super) fn is_row(&self, v: VertexId, targets: &[VertexId]) -> bool {
        let (Some(&first), Some(&last)) = (targets.first(), targets.last()) else { return false };
        let may_be_row = match self.direction {
            None => v <= first,
            Some(direction) => direction == Direction::Out,
        };
        may_be_row && first <= last && strip(first) == strip(last)
    }
}

/// Finds the dead edges of one row of a tile after another. Rows that ascend take few steps.
#[derive(Debug)]
pub(super) struct DeadRows<'o> {
    of: &'o DeadTiles,
    tile: Option<(u32, u32)>,
    /// Those of the tile.
    places: &'o [u32],
    /// Those before it were looked at.
    at: usize,
}

impl<'o> DeadRows<'o> {
    pub(super) fn new(of: &'o DeadTiles) -> Self {
        Self { of, tile: None, places: &[], at: 0 }
    }

    /// The tiles whose edges these are.
    pub(super) fn tiles(&self) -> &'o DeadTiles {
        self.of
    }

    /// The dead edges of a row between the first and the last of these columns, which ascend and lie in one strip.
    pub(super) fn find(&mut self, row: VertexId, columns: &[VertexId]) -> &'o [u32] {
        let (Some(&first), Some(&last)) = (columns.first(), columns.last()) else { return &[] };
        let tile = (strip(row), strip(first));
        if self.tile != Some(tile) {
            (self.tile, self.places, self.at) = (Some(tile), self.of.of_tile(tile), 0);
        }
        let (low, high) = (place(row, first), place(row, last));
        if self.at > 0 && self.places[self.at - 1] >= low {
            self.at = 0;
        }
        self.at += reach(&self.places[self.at..], |other| other < low);
        let len = reach(&self.places[self.at..], |other| other <= high);
        &self.places[self.at..self.at + len]
    }
}

/// The runs of columns that are left of a row: those between dead edges, of which there may be several copies.
pub(super) struct RunsLeft<'p> {
    row: VertexId,
    columns: &'p [VertexId],
    dead: &'p [u32],
    start: usize,
}

impl<'p> RunsLeft<'p> {
    pub(super) fn new(row: VertexId, columns: &'p [VertexId], dead: &'p [u32]) -> Self {
        Self { row, columns, dead, start: 0 }
    }
}

impl Iterator for RunsLeft<'_> {
    type Item = Range<usize>;

    #[inline(always)]
    fn next(&mut self) -> Option<Range<usize>> {
        let Self { row, columns, dead, start } = self;
        let len = columns.len();
        while let Some((&next, later)) = dead.split_first() {
            *dead = later;
            let Some(column) = column_in(*row, columns[0], next) else { continue };
            let at = *start + count_below(&columns[*start..], column);
            let end = at + columns[at..].iter().take_while(|&&other| other == column).count();
            if at < end {
                let begin = std::mem::replace(start, end);
                return Some(begin..at);
            }
        }
        (*start < len).then(|| std::mem::replace(start, len)..len)
    }
}

/// The column of a dead edge, if it is of this row. `other` is a column of the same strip.
#[inline(always)]
fn column_in(row: VertexId, other: VertexId, dead: u32) -> Option<VertexId> {
    let within = dead as usize % STRIP_LEN;
    let first = other as usize - other as usize % STRIP_LEN;
    (dead as usize / STRIP_LEN == row as usize % STRIP_LEN).then(|| vertex(first + within))
}

/// How many columns at the start are less than `column`; the columns ascend.
#[inline(always)]
fn count_below(columns: &[VertexId], column: VertexId) -> usize {
    let (steps, rest) = columns.as_chunks::<STEP>();
    let mut count = 0;
    for step in steps {
        let below = step.iter().map(|&other| u32::from(other < column)).sum::<u32>() as usize;
        count += below;
        if below < STEP {
            return count;
        }
    }
    count + rest.iter().take_while(|&&other| other < column).count()
}
