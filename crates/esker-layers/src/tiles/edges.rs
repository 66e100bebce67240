//! Edges in memory, in the order of tiles: those that a version leaves out of stored tiles, or adds to them.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use esker_format::{Error, Result};
use esker_graph::{AnyVisitor, Direction, Run, Select, Tile, VertexId, Weight};

use super::batch::Decoding;
use super::matrix::Matrix;
use super::scan::{TileWorker, hand_over};
use super::schedule::{Loads, Schedule};
use super::strip::{STRIP_LEN, place, strip_of};
use crate::pool::Supply;

/// Edges that a thread takes of a scan at a time.
const CHUNK_LEN: usize = if cfg!(test) { 50 } else { 1 << 16 };
/// Chunks supplied to the schedule at a time.
const SUPPLY_LEN: usize = 64;

/// Edges of some tiles, with weights of type `W`. An undirected edge is there once, with the lesser end as
/// its row. Memory: 4 bytes and a weight an edge, 16 bytes a tile, 32 a chunk.
#[derive(Debug)]
pub(crate) struct TileEdges<W> {
    matrix: Matrix,
    /// Whether the strips are those of columns; else of rows.
    by_columns: bool,
    strips: Vec<StripEdges<W>>,
    chunks: Vec<EdgeChunk>,
    loads: Loads,
}

/// The edges of one strip of rows, or of columns.
#[derive(Debug, Default)]
pub(crate) struct StripEdges<W> {
    /// The strips of the other ends, ascending, and where the edges of each end.
    tiles: Box<[(u32, usize)]>,
    /// Row and column in the tile, ascending within each tile.
    places: Box<[u32]>,
    weights: Box<[W]>,
}

/// Some edges of a tile.
#[derive(Debug)]
struct EdgeChunk {
    strip: u32,
    other: u32,
    places: Range<usize>,
}

/// The edges of a strip while they are gathered. Memory: 8 bytes and a weight an edge.
#[derive(Debug, Default)]
pub(crate) struct StripMaker<W> {
    /// The strip of the other end, the place, the weight.
    edges: Vec<(u32, u32, W)>,
}

impl<W: Weight> StripMaker<W> {
    /// Adds an edge. Either the row or the column is in the strip.
    pub(crate) fn push(&mut self, row: VertexId, column: VertexId, by_columns: bool, weight: W) {
        let other = if by_columns { row } else { column };
        self.edges.push((strip_of(other), place(row, column), weight));
    }

    /// The edges, sorted. The maker is empty then.
    pub(crate) fn finish(&mut self) -> StripEdges<W> {
        let mut next: Vec<usize> = Vec::new();
        for &(other, ..) in &self.edges {
            if next.len() <= other as usize {
                next.resize(other as usize + 1, 0);
            }
            next[other as usize] += 1;
        }
        let (mut tiles, mut end) = (Vec::new(), 0);
        for (other, next) in (0..).zip(&mut next) {
            let start = end;
            end += std::mem::replace(next, start);
            if start < end {
                tiles.push((other, end));
            }
        }
        let mut places = vec![0; end].into_boxed_slice();
        let mut weights = vec![W::default(); end].into_boxed_slice();
        for (other, place, weight) in self.edges.drain(..) {
            let at = &mut next[other as usize];
            (places[*at], weights[*at]) = (place, weight);
            *at += 1;
        }
        let mut strip = StripEdges { tiles: tiles.into(), places, weights };
        strip.sort();
        strip
    }
}

impl<W: Weight> StripEdges<W> {
    /// Sorts the edges of each tile. They come row by row, so most are sorted already.
    fn sort(&mut self) {
        let mut start = 0;
        for &(_, end) in &self.tiles {
            let range = start..end;
            start = end;
            if self.places[range.clone()].is_sorted() {
                continue;
            }
            if size_of::<W>() == 0 {
                self.places[range].sort_unstable();
                continue;
            }
            let (places, weights) = (&mut self.places[range.clone()], &mut self.weights[range]);
            let mut sorted: Vec<(u32, W)> = places.iter().copied().zip(weights.iter().copied()).collect();
            sorted.sort_by_key(|edge| edge.0);
            for ((place, weight), edge) in places.iter_mut().zip(weights).zip(sorted) {
                (*place, *weight) = edge;
            }
        }
    }

    /// Each tile: the strip of the other ends, and its edges.
    fn iter(&self) -> impl Iterator<Item = (u32, Range<usize>)> + '_ {
        let mut start = 0;
        self.tiles.iter().map(move |&(other, end)| (other, std::mem::replace(&mut start, end)..end))
    }
}

impl<W: Weight> TileEdges<W> {
    /// The edges of all strips, in order. Strips of columns are those of the in-lists of a directed graph.
    pub(crate) fn new(matrix: Matrix, by_columns: bool, strips: Vec<StripEdges<W>>) -> Self {
        let mut chunks = Vec::new();
        for (strip, edges) in (0..).zip(&strips) {
            for (other, places) in edges.iter() {
                chunks.extend(places.clone().step_by(CHUNK_LEN).map(|start| {
                    let places = start..places.end.min(start + CHUNK_LEN);
                    EdgeChunk { strip, other, places }
                }));
            }
        }
        let mut edges = Self { matrix, by_columns, strips, chunks, loads: Loads::default() };
        let of_chunk = |chunk: &EdgeChunk| (edges.tile(chunk), chunk.places.len() as u64);
        edges.loads = Loads::new(matrix.num_strips(), edges.chunks.iter().map(of_chunk));
        edges
    }

    /// From edges as tile and place, sorted.
    pub(crate) fn from_sorted(num_vertices: usize, edges: &[(Tile, u32)]) -> Self {
        let mut strips: Vec<_> =
            (0..num_vertices.div_ceil(STRIP_LEN)).map(|_| StripEdges::default()).collect();
        for edges in edges.chunk_by(|a, b| a.0.row == b.0.row) {
            let mut tiles = Vec::new();
            let mut end = 0;
            for tile in edges.chunk_by(|a, b| a.0 == b.0) {
                end += tile.len();
                tiles.push((tile[0].0.column, end));
            }
            strips[edges[0].0.row as usize] = StripEdges {
                tiles: tiles.into(),
                places: edges.iter().map(|edge| edge.1).collect(),
                weights: vec![W::default(); edges.len()].into(),
            };
        }
        Self::new(Matrix { num_vertices, directed: true }, false, strips)
    }

    fn tile(&self, chunk: &EdgeChunk) -> Tile {
        let &EdgeChunk { strip, other, .. } = chunk;
        if self.by_columns { Tile { row: other, column: strip } } else { Tile { row: strip, column: other } }
    }

    /// The places of the edges of a tile, ascending.
    pub(crate) fn of_tile(&self, tile: Tile) -> &[u32] {
        let (strip, other) = if self.by_columns { (tile.column, tile.row) } else { (tile.row, tile.column) };
        let Some(edges) = self.strips.get(strip as usize) else { return &[] };
        match edges.tiles.binary_search_by_key(&other, |tile| tile.0) {
            Ok(at) => {
                let start = at.checked_sub(1).map_or(0, |before| edges.tiles[before].1);
                &edges.places[start..edges.tiles[at].1]
            }
            Err(_) => &[],
        }
    }

    /// See [`esker_graph::Graph::scan`]. Of a directed graph, `direction` is that of the lists that the edges
    /// are from.
    ///
    /// # Errors
    /// Cancellation.
    pub(crate) fn scan(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &dyn AnyVisitor<W>,
    ) -> Result<()> {
        if self.chunks.is_empty() {
            return Ok(());
        }
        let list = self.matrix.bits_of(select);
        let wanted = self.matrix.wanted(direction, select, list.as_ref(), visitor, |_| true);
        let tile = |chunk: usize| self.tile(&self.chunks[chunk]);
        let schedule = Schedule::new(&tile, &self.loads, wanted.sides, run.threads());
        let next = AtomicUsize::new(0);
        let supply = |ready: &mut VecDeque<u32>| {
            // Called under the lock of the schedule.
            let mut at = next.load(Relaxed);
            while at < self.chunks.len() && ready.len() < SUPPLY_LEN {
                if wanted.has(tile(at)) {
                    ready.push_back(at as u32);
                }
                at += 1;
            }
            next.store(at, Relaxed);
            Ok(if ready.is_empty() { Supply::End } else { Supply::More })
        };
        run.share(
            run.threads(),
            || TileWorker::new(&schedule, visitor.sink()),
            |worker, _| {
                while let Some(scheduled) = schedule.take(run, supply, || Ok(false))? {
                    worker.scheduled = Some(scheduled);
                    let chunk = &self.chunks[scheduled.chunk];
                    let edges = &self.strips[chunk.strip as usize];
                    let (places, weights) =
                        (&edges.places[chunk.places.clone()], &edges.weights[chunk.places.clone()]);
                    let mut decoding = Decoding::plain(
                        self.tile(chunk),
                        self.matrix,
                        places,
                        weights,
                        wanted.bits,
                        wanted.sides,
                    );
                    while worker.batch.fill(&mut decoding).ok_or_else(beyond)? {
                        hand_over(worker, &decoding, wanted.sides);
                    }
                    worker.scheduled = None;
                    schedule.done(scheduled);
                }
                Ok::<(), Error>(())
            },
        )?;
        Ok(())
    }
}

fn beyond() -> Error {
    Error::invalid("an edge leads to a vertex that the version does not have".to_owned())
}

#[cfg(test)]
mod tests {
    use esker_graph::{Bitmap, collect};

    use super::super::strip::tile_of;
    use super::super::testing::{Collect, arcs_of, csr, random_edges};
    use super::*;

    /// The edges of the lists of a direction, as they are gathered: strip by strip, the lists not sorted.
    fn edges_of(
        directed: bool,
        n: usize,
        direction: Direction,
        arcs: &[(VertexId, VertexId, i32)],
    ) -> TileEdges<i32> {
        let by_columns = directed && direction == Direction::In;
        let mut maker = StripMaker::default();
        let strips = (0..n.div_ceil(STRIP_LEN)).map(|strip| {
            for &(v, u, weight) in arcs.iter().rev().filter(|arc| arc.0 as usize / STRIP_LEN == strip) {
                if directed || v <= u {
                    let (row, column) = if by_columns { (u, v) } else { (v, u) };
                    maker.push(row, column, by_columns, weight);
                }
            }
            maker.finish()
        });
        let strips = strips.collect();
        TileEdges::new(Matrix { num_vertices: n, directed }, by_columns, strips)
    }

    #[test]
    fn scans_hand_over_the_arcs_of_the_lists_that_the_edges_are_from() {
        let (n, run) = (150_000, Run::with_threads(2).unwrap());
        for (directed, count) in [(false, 3000), (true, 3000), (false, 0)] {
            let graph = csr(directed, n, &random_edges(n, count, 3));
            let graph = graph.graph();
            for direction in [Direction::Out, Direction::In] {
                let arcs = arcs_of(&graph, &run, direction);
                let edges = edges_of(directed, n, direction, &arcs);
                let few: Vec<VertexId> = (0..n as VertexId).filter(|v| v % 3 == 0).collect();
                let bits = Bitmap::new(n);
                few.iter().for_each(|&v| bits.insert_alone(v));
                let some: Vec<_> = arcs.iter().copied().filter(|arc| arc.0 % 3 == 0).collect();
                for (select, expected) in
                    [(Select::All, &arcs), (Select::List(&few), &some), (Select::Bits(&bits), &some)]
                {
                    let scan = |visitor: &dyn AnyVisitor<i32>| edges.scan(&run, direction, select, visitor);
                    let mut found = collect(&Collect, scan).unwrap().concat();
                    found.sort_unstable();
                    assert!(found == *expected, "{directed} {direction:?} {select:?}");
                }
                for &(v, u, _) in &arcs {
                    let (row, column) = match (directed, direction) {
                        (true, Direction::In) => (u, v),
                        (true, Direction::Out) => (v, u),
                        (false, _) => (v.min(u), v.max(u)),
                    };
                    let places = edges.of_tile(tile_of(row, column));
                    assert!(places.is_sorted() && places.binary_search(&place(row, column)).is_ok());
                }
                assert!(edges.of_tile(Tile { row: 9, column: 9 }).is_empty());
            }
        }
    }
}
