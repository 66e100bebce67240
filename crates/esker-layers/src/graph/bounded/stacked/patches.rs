//! Leaves hidden lists out of the batches of tiles.

use std::ops::Range;

use esker_graph::{End, Patch, Sink, VertexId};

use super::hidden_lists::HiddenLists;
use crate::graph::weight::ColumnWeight;

/// Entries that are copied together: between two hidden ones there are few.
const STEP: usize = 16;

/// A part of a patch.
#[derive(Debug)]
struct PatchPart<W> {
    rows: Vec<VertexId>,
    ends: Vec<u32>,
    /// Longer than the part by at least [`STEP`].
    columns: Vec<VertexId>,
    weights: Vec<W>,
    len: usize,
}

/// The three parts of a patch without its hidden ends: edges with both ends, with only their row, and with
/// only their column.
#[derive(Debug)]
pub(super) struct PatchParts<W> {
    both: PatchPart<W>,
    row: PatchPart<W>,
    column: PatchPart<W>,
}

impl<W: ColumnWeight> PatchPart<W> {
    fn new() -> Self {
        Self { rows: Vec::new(), ends: Vec::new(), columns: Vec::new(), weights: Vec::new(), len: 0 }
    }

    /// Empties the part, and makes room for a number of entries.
    fn clear(&mut self, room: usize) {
        self.rows.clear();
        self.ends.clear();
        self.len = 0;
        if self.columns.len() < room + STEP {
            self.columns.resize(room + STEP, 0);
            self.weights.resize(room + STEP, W::default());
        }
    }

    /// Adds a range of the entries of a patch.
    #[inline(always)]
    fn extend(&mut self, patch: &Patch<'_, W>, range: Range<usize>) {
        let (from, to) = (range.start, self.len);
        self.len += range.len();
        // A copy of a fixed number of bytes takes no call.
        if range.len() <= STEP && from + STEP <= patch.columns.len() {
            self.columns[to..to + STEP].copy_from_slice(&patch.columns[from..from + STEP]);
            self.weights[to..to + STEP].copy_from_slice(&patch.weights[from..from + STEP]);
        } else {
            self.columns[to..self.len].copy_from_slice(&patch.columns[range.clone()]);
            self.weights[to..self.len].copy_from_slice(&patch.weights[range]);
        }
    }

    /// Adds an entry if `condition` holds.
    #[inline(always)]
    fn push_if(&mut self, column: VertexId, weight: W, condition: bool) {
        self.columns[self.len] = column;
        self.weights[self.len] = weight;
        self.len += usize::from(condition);
    }

    /// Ends a row, if it has edges.
    #[inline(always)]
    fn end_row(&mut self, row: VertexId) {
        let end = self.len as u32;
        if self.ends.last().copied().unwrap_or(0) < end {
            self.rows.push(row);
            self.ends.push(end);
        }
    }

    fn hand_over(&self, sink: &mut dyn Sink<W>, to_rows: End, to_columns: End) {
        let Self { rows, ends, columns, weights, len } = self;
        let (columns, weights) = (&columns[..*len], &weights[..*len]);
        if !rows.is_empty() && (to_rows.is_taken() || to_columns.is_taken()) {
            sink.visit_patch(&Patch { rows, ends, columns, weights, to_rows, to_columns });
        }
    }
}

impl<W: ColumnWeight> PatchParts<W> {
    pub(super) fn new() -> Self {
        Self { both: PatchPart::new(), row: PatchPart::new(), column: PatchPart::new() }
    }

    /// Hands over a patch without the ends that are hidden.
    pub(super) fn visit(&mut self, sink: &mut dyn Sink<W>, patch: &Patch<'_, W>, hidden: &HiddenLists) {
        if !may_have_hidden(patch, hidden) {
            return sink.visit_patch(patch);
        }
        let room = patch.columns.len();
        [&mut self.both, &mut self.row, &mut self.column].into_iter().for_each(|part| part.clear(room));
        for (row, range) in patch.iter() {
            let (Some(&first), Some(&last)) =
                (patch.columns[range.clone()].first(), patch.columns[range.clone()].last())
            else {
                continue;
            };
            self.add_row(patch, range, hidden.has(row), hidden.near(first, last), hidden);
            [&mut self.both, &mut self.row, &mut self.column].into_iter().for_each(|part| part.end_row(row));
        }
        self.both.hand_over(sink, patch.to_rows, patch.to_columns);
        self.row.hand_over(sink, patch.to_rows, End::Skipped);
        self.column.hand_over(sink, End::Skipped, patch.to_columns);
    }

    /// Adds entries of a row to the parts that their ends belong to.
    #[inline(always)]
    fn add_row(
        &mut self,
        patch: &Patch<'_, W>,
        range: Range<usize>,
        row_hidden: bool,
        columns_may_be_hidden: bool,
        hidden: &HiddenLists,
    ) {
        let Self { both, row, column } = self;
        let with_columns = if row_hidden { column } else { both };
        if !columns_may_be_hidden {
            return with_columns.extend(patch, range);
        }
        let entries = patch.columns[range.clone()].iter().zip(&patch.weights[range]);
        // Without branches: the next entry may be either.
        for (&column, &weight) in entries {
            let is_hidden = hidden.has(column);
            with_columns.push_if(column, weight, !is_hidden);
            row.push_if(column, weight, is_hidden && !row_hidden);
        }
    }
}

/// Whether an end of an edge may be hidden.
fn may_have_hidden<W>(patch: &Patch<'_, W>, hidden: &HiddenLists) -> bool {
    patch.iter().any(|(row, range)| {
        let columns = &patch.columns[range];
        let near = |(&first, &last)| hidden.near(first, last);
        hidden.has(row) || columns.first().zip(columns.last()).is_some_and(near)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use esker_graph::{Direction, Piece, STRIP_LEN};
    use proptest::prelude::*;

    use super::super::dead_tiles::dead_tiles;
    use super::*;
    use crate::graph::arc_sets::dead_arcs::DeadArcs;
    use crate::tiles::{TileEdges, place, tile_of};

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

    /// Hands over the edges of a tile, which leaves out the dead ones.
    fn hand_over(
        edges: &[Edge],
        ends: [End; 2],
        dead: &TileEdges<()>,
        hidden: &HiddenLists,
        taken: &mut Taken,
    ) {
        let left_out = |&(row, column): &Edge| {
            dead.of_tile(tile_of(row, column)).binary_search(&place(row, column)).is_ok()
        };
        let edges: Vec<Edge> = edges.iter().copied().filter(|edge| !left_out(edge)).collect();
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
        if !edges.is_empty() {
            PatchParts::new().visit(&mut { taken }, &patch, hidden);
        }
    }

    fn edges(len: usize) -> impl Strategy<Value = BTreeSet<(usize, usize)>> {
        prop::collection::btree_set((0_usize..24, 0_usize..24), 0..len)
    }

    proptest! {
        #![proptest_config(esker_format::testing::cases(200))]
        #[test]
        fn patches_lack_the_ends_that_are_hidden(
            all in edges(200), dead in edges(60), hidden in prop::collection::btree_set(0_usize..24, 0..8),
            directed: bool, incoming: bool, batch_len in 1_usize..50,
        ) {
            let n = 3 * STRIP_LEN;
            let edge = |&(u, v): &(usize, usize)| {
                let (u, v) = (place_of(u), place_of(v));
                if directed { (u, v) } else { (u.min(v), u.max(v)) }
            };
            let mut all: Vec<Edge> = all.iter().map(edge).collect();
            let tile = |edge: &Edge| tile_of(edge.0, edge.1);
            all.sort_unstable_by_key(|edge| (tile(edge), *edge));
            all.dedup();
            let dead: BTreeSet<Edge> = dead.iter().map(edge).collect();
            let mut hidden_lists = HiddenLists::new(n);
            hidden.iter().for_each(|&k| hidden_lists.insert(place_of(k)));
            let direction = if directed && incoming { Direction::In } else { Direction::Out };
            // The lists that say so: those of vertices that are not hidden.
            let mut lists: Vec<Edge> = dead.iter().flat_map(|&(u, v)| match (directed, direction) {
                (true, Direction::In) => vec![(v, u)],
                (true, Direction::Out) => vec![(u, v)],
                (false, _) => vec![(u, v), (v, u)],
            }).filter(|list| !hidden_lists.has(list.0)).collect();
            lists.sort_unstable();
            lists.dedup();
            let dead_arcs = DeadArcs::from_sorted(n, &lists);
            let run = esker_graph::Run::with_threads(1).expect("a run");
            let tiles = dead_tiles(n, &dead_arcs, &hidden_lists, directed.then_some(direction), &run);
            let there = End::Taken { exclusive: false };
            let ends = match (directed, direction) {
                (false, _) => [there, there],
                (true, Direction::Out) => [there, End::Skipped],
                (true, Direction::In) => [End::Skipped, there],
            };
            let (mut taken, mut expected) = (Taken::default(), Vec::new());
            for edges in all.chunk_by(|a, b| tile(a) == tile(b)).flat_map(|edges| edges.chunks(batch_len)) {
                hand_over(edges, ends, &tiles, &hidden_lists, &mut taken);
            }
            for &(row, column) in &all {
                let is_dead = dead.contains(&(row, column));
                if ends[0].is_taken() && !is_dead && !hidden_lists.has(row) {
                    expected.push((row, column));
                }
                if ends[1].is_taken() && !is_dead && !hidden_lists.has(column) {
                    expected.push((column, row));
                }
            }
            taken.0.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(taken.0, expected);
        }
    }
}
