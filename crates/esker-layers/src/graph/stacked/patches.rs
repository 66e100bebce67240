//! Leaves what changed out of the batches of tiles.

use std::ops::Range;

use esker_graph::{Direction, End, Patch, STRIP_LEN, Sink, VertexId};

use super::missing::Missing;
use crate::graph::weight::ColumnWeight;
use crate::stack::Marks;

/// Dead edges in the order of tiles. Memory: 4 bytes an edge, and 16 bytes and an id a tile.
#[derive(Debug)]
pub(super) struct DeadTiles {
    /// The strips of rows and columns of each tile with dead edges, ascending.
    tiles: Vec<(VertexId, VertexId)>,
    /// Where the edges of each tile begin.
    starts: Vec<usize>,
    /// Row and column in the tile, ascending within each tile.
    places: Vec<u32>,
}

fn strip(v: VertexId) -> VertexId {
    v / STRIP_LEN as VertexId
}

fn place(row: VertexId, column: VertexId) -> u32 {
    let within = |v: VertexId| (v as usize % STRIP_LEN) as u32;
    within(row) * STRIP_LEN as u32 + within(column)
}

impl DeadTiles {
    /// Those of the lists of one direction. An undirected graph keeps the end with the lesser number as the row.
    pub(super) fn new(dead: &Missing, direction: Direction, directed: bool) -> Self {
        let mut edges: Vec<(VertexId, VertexId)> = dead
            .iter()
            .flat_map(|(v, targets)| targets.iter().map(move |&target| (v, target)))
            .map(|(v, target)| match (directed, direction) {
                (false, _) => (v.min(target), v.max(target)),
                (true, Direction::Out) => (v, target),
                (true, Direction::In) => (target, v),
            })
            .collect();
        let tile = |&(row, column): &(VertexId, VertexId)| (strip(row), strip(column));
        edges.sort_unstable_by_key(|edge| (tile(edge), *edge));
        edges.dedup();
        let (mut tiles, mut starts, mut places) = (Vec::new(), vec![0], Vec::with_capacity(edges.len()));
        for edges in edges.chunk_by(|a, b| tile(a) == tile(b)) {
            tiles.push(tile(&edges[0]));
            places.extend(edges.iter().map(|&(row, column)| place(row, column)));
            starts.push(places.len());
        }
        Self { tiles, starts, places }
    }

    /// The dead edges between the first and the last of a patch.
    fn of<W>(&self, patch: &Patch<'_, W>) -> &[u32] {
        let ends =
            (patch.rows.first().zip(patch.columns.first()), patch.rows.last().zip(patch.columns.last()));
        let (Some((&row, &column)), Some((&last_row, &last_column))) = ends else { return &[] };
        let Ok(at) = self.tiles.binary_search(&(strip(row), strip(column))) else { return &[] };
        let all = &self.places[self.starts[at]..self.starts[at + 1]];
        let all = &all[all.partition_point(|&other| other < place(row, column))..];
        &all[..all.partition_point(|&other| other <= place(last_row, last_column))]
    }
}

/// A part of a patch.
#[derive(Debug)]
struct PatchPart<W> {
    rows: Vec<VertexId>,
    ends: Vec<u32>,
    columns: Vec<VertexId>,
    weights: Vec<W>,
}

/// The parts that are left of a patch: of edges with both ends, with their row alone, with their column alone.
#[derive(Debug)]
pub(super) struct PatchParts<W> {
    both: PatchPart<W>,
    row: PatchPart<W>,
    column: PatchPart<W>,
}

impl<W: ColumnWeight> PatchPart<W> {
    fn new() -> Self {
        Self { rows: Vec::new(), ends: Vec::new(), columns: Vec::new(), weights: Vec::new() }
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.ends.clear();
        self.columns.clear();
        self.weights.clear();
    }

    /// Ends a row, if it has edges.
    fn end_row(&mut self, row: VertexId) {
        let end = self.columns.len() as u32;
        if self.ends.last().copied().unwrap_or(0) < end {
            self.rows.push(row);
            self.ends.push(end);
        }
    }

    fn hand_over(&self, sink: &mut dyn Sink<W>, to_rows: End, to_columns: End) {
        let Self { rows, ends, columns, weights } = self;
        if !rows.is_empty() && (to_rows.is_taken() || to_columns.is_taken()) {
            sink.visit_patch(&Patch { rows, ends, columns, weights, to_rows, to_columns });
        }
    }
}

impl<W: ColumnWeight> PatchParts<W> {
    pub(super) fn new() -> Self {
        Self { both: PatchPart::new(), row: PatchPart::new(), column: PatchPart::new() }
    }

    /// Hands over what is left of a patch: without dead edges, and without the ends that are gone.
    pub(super) fn visit(
        &mut self,
        sink: &mut dyn Sink<W>,
        patch: &Patch<'_, W>,
        dead: &DeadTiles,
        gone: &Marks,
    ) {
        let mut dead = dead.of(patch);
        let has_gone =
            |vertices: &[VertexId]| vertices.iter().fold(false, |any, &v| any | gone.has(v as usize));
        if dead.is_empty() && !has_gone(patch.rows) && !has_gone(patch.columns) {
            return sink.visit_patch(patch);
        }
        [&mut self.both, &mut self.row, &mut self.column].into_iter().for_each(PatchPart::clear);
        for (row, range) in patch.iter() {
            let columns = &patch.columns[range.clone()];
            let last = columns.last().map_or(0, |&column| place(row, column));
            let (now, later) = dead.split_at(count_to(dead, last));
            dead = later;
            let is_gone = gone.has(row as usize);
            if now.is_empty() && !is_gone && !has_gone(columns) {
                self.both.columns.extend_from_slice(columns);
                self.both.weights.extend_from_slice(&patch.weights[range]);
            } else {
                self.take_row(patch, (row, is_gone), range, now, gone);
            }
            [&mut self.both, &mut self.row, &mut self.column].into_iter().for_each(|part| part.end_row(row));
        }
        self.both.hand_over(sink, patch.to_rows, patch.to_columns);
        self.row.hand_over(sink, patch.to_rows, End::Skipped);
        self.column.hand_over(sink, End::Skipped, patch.to_columns);
    }

    fn take_row(
        &mut self,
        patch: &Patch<'_, W>,
        (row, is_gone): (VertexId, bool),
        range: Range<usize>,
        mut dead: &[u32],
        gone: &Marks,
    ) {
        for (&column, &weight) in patch.columns[range.clone()].iter().zip(&patch.weights[range]) {
            let here = place(row, column);
            while dead.first().is_some_and(|&other| other < here) {
                dead = &dead[1..];
            }
            if dead.first() == Some(&here) {
                continue;
            }
            let part = match (is_gone, gone.has(column as usize)) {
                (false, false) => &mut self.both,
                (false, true) => &mut self.row,
                (true, false) => &mut self.column,
                (true, true) => continue,
            };
            part.columns.push(column);
            part.weights.push(weight);
        }
    }
}

/// How many numbers at the start are at most `last`.
fn count_to(places: &[u32], last: u32) -> usize {
    places.iter().take_while(|&&place| place <= last).count()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use esker_graph::Piece;
    use proptest::prelude::*;

    use super::*;

    type Edge = (VertexId, VertexId);

    /// The neighbours handed over: of each vertex, which.
    #[derive(Default)]
    struct Taken(Vec<Edge>);

    impl Sink<()> for &mut Taken {
        fn visit(&mut self, _: &[(VertexId, Piece<'_, ()>)]) -> u64 {
            unreachable!("patches stay patches")
        }

        fn visit_back(&mut self, _: VertexId, _: Piece<'_, ()>) {
            unreachable!("patches stay patches")
        }

        fn visit_patch(&mut self, patch: &Patch<'_, ()>) {
            assert!(!patch.rows.is_empty() && patch.rows.is_sorted_by(|a, b| a < b));
            for (row, range) in patch.iter() {
                assert!(!range.is_empty());
                for &column in &patch.columns[range] {
                    if patch.to_rows.is_taken() {
                        self.0.push((row, column));
                    }
                    if patch.to_columns.is_taken() {
                        self.0.push((column, row));
                    }
                }
            }
        }
    }

    /// A vertex near the ends of three strips.
    fn place_of(k: usize) -> VertexId {
        (k % 3 * STRIP_LEN + k / 3) as VertexId
    }

    /// Hands over the edges of a tile.
    fn hand_over(edges: &[Edge], ends: [End; 2], (dead, gone): (&DeadTiles, &Marks), taken: &mut Taken) {
        let (mut rows, mut row_ends, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        for row in edges.chunk_by(|a, b| a.0 == b.0) {
            columns.extend(row.iter().map(|edge| edge.1));
            rows.push(row[0].0);
            row_ends.push(columns.len() as u32);
        }
        let weights = vec![(); columns.len()];
        let [to_rows, to_columns] = ends;
        let patch =
            Patch { rows: &rows, ends: &row_ends, columns: &columns, weights: &weights, to_rows, to_columns };
        PatchParts::new().visit(&mut { taken }, &patch, dead, gone);
    }

    fn edges(len: usize) -> impl Strategy<Value = BTreeSet<(usize, usize)>> {
        prop::collection::btree_set((0_usize..24, 0_usize..24), 0..len)
    }

    proptest! {
        #[test]
        fn what_is_left_of_patches(
            all in edges(200), dead in edges(60), gone in prop::collection::btree_set(0_usize..24, 0..8),
            directed: bool, incoming: bool, batch_len in 1_usize..50,
        ) {
            let n = 3 * STRIP_LEN;
            let edge = |&(u, v): &(usize, usize)| {
                let (u, v) = (place_of(u), place_of(v));
                if directed { (u, v) } else { (u.min(v), u.max(v)) }
            };
            let mut all: Vec<Edge> = all.iter().map(edge).collect();
            let tile = |edge: &Edge| (strip(edge.0), strip(edge.1));
            all.sort_unstable_by_key(|edge| (tile(edge), *edge));
            all.dedup();
            let dead: BTreeSet<Edge> = dead.iter().map(edge).collect();
            let mut marks = Marks::new(n);
            gone.iter().for_each(|&k| marks.insert(place_of(k) as usize));
            let direction = if directed && incoming { Direction::In } else { Direction::Out };
            // The lists that say so: of vertices that are not gone.
            let mut lists: Vec<Edge> = dead.iter().flat_map(|&(u, v)| match (directed, direction) {
                (true, Direction::In) => vec![(v, u)],
                (true, Direction::Out) => vec![(u, v)],
                (false, _) => vec![(u, v), (v, u)],
            }).filter(|list| !marks.has(list.0 as usize)).collect();
            lists.sort_unstable();
            lists.dedup();
            let lengths: Vec<_> = lists.chunk_by(|a, b| a.0 == b.0).map(|list| (list[0].0, list.len() as u32)).collect();
            let missing = Missing::new(n, &lengths, lists.iter().map(|list| list.1).collect());
            let tiles = DeadTiles::new(&missing, direction, directed);
            let there = End::Taken { exclusive: false };
            let ends = match (directed, direction) {
                (false, _) => [there, there],
                (true, Direction::Out) => [there, End::Skipped],
                (true, Direction::In) => [End::Skipped, there],
            };
            let (mut taken, mut expected) = (Taken::default(), Vec::new());
            for edges in all.chunk_by(|a, b| tile(a) == tile(b)).flat_map(|edges| edges.chunks(batch_len)) {
                hand_over(edges, ends, (&tiles, &marks), &mut taken);
            }
            for &(row, column) in &all {
                let is_dead = dead.contains(&(row, column));
                if ends[0].is_taken() && !is_dead && !marks.has(row as usize) {
                    expected.push((row, column));
                }
                if ends[1].is_taken() && !is_dead && !marks.has(column as usize) {
                    expected.push((column, row));
                }
            }
            taken.0.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(taken.0, expected);
        }
    }
}
