//! Gathers the edges of tiles from lists, on all threads.
//!
//! Lists are sorted, so edges need no sorting: the entries of a list in a column of tiles follow one another.
//! The lists of a row of groups are cut into pieces of similar length. One pass over them counts the edges of
//! each piece in each tile (G-Store [1], IV-B, does the same for the whole graph); a second one gathers the
//! edges of as many tiles as fit the memory. Nothing but the memory depends on how much there is: the edges
//! come in the order of the file.
//!
//! [1] P. Kumar, H. Huang, "G-Store: High-Performance Graph Store for Trillion-Edge Processing", SC 2016.

use parking_lot::Mutex;
use std::ops::Range;

use esker_format::memory::filled;
use esker_format::{Error, Result};
use esker_graph::{Direction, Lists, Operation, Run, Tile, VertexId, message, vertex};

use super::strip::{STRIP_BITS, STRIP_LEN};

/// Arcs of the lists of a piece, unless it is a single vertex. Few in tests, so that there are several
/// pieces.
const PIECE_ARCS: usize = if cfg!(test) { 1 << 10 } else { 1 << 18 };

/// Edges of one tile, or of a part of it, in ascending order of position.
#[derive(Debug, Clone, Copy)]
pub(super) struct TilePart<'a, W> {
    pub(super) tile: Tile,
    pub(super) positions: &'a [u32],
    pub(super) weights: &'a [W],
}

/// The lists of successive vertices of a strip.
struct Piece {
    vertices: Range<usize>,
    /// Its edges in each column of tiles from the first one of the row of groups on.
    counts: Vec<usize>,
}

impl Piece {
    fn row(&self) -> usize {
        self.vertices.start >> STRIP_BITS
    }
}

/// The edges of a piece in some columns of tiles.
struct Gathered<W> {
    /// Where the edges of each column begin; one more at the end.
    starts: Vec<usize>,
    positions: Vec<u32>,
    weights: Vec<W>,
}

/// Edges that are gathered at a time: those of some pieces in some columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GatherWindow {
    pieces: Range<usize>,
    columns: Range<usize>,
}

/// The lists of a row of groups, and their edges in some columns of tiles.
pub(super) struct GroupRow<'a, G: Lists> {
    graph: &'a G,
    run: &'a Run,
    group: usize,
    /// The first column of tiles.
    first: usize,
    /// Successive columns whose edges are gathered.
    spans: Vec<Range<usize>>,
    pieces: Vec<Piece>,
}

impl<'a, G: Lists> GroupRow<'a, G>
where
    Error: From<G::Error>,
{
    /// Counts the edges of some strips of rows in some columns, which ascend and begin at or after `first`.
    pub(super) fn new(
        graph: &'a G,
        run: &'a Run,
        group: usize,
        rows: Range<usize>,
        first: usize,
        spans: Vec<Range<usize>>,
    ) -> Result<Self> {
        let mut row = Self { graph, run, group, first, spans, pieces: Vec::new() };
        row.pieces = row.cut(rows);
        let num_columns = row.spans.last().map_or(0, |span| span.end - first);
        let counted = run.share(row.pieces.len(), Vec::new, |counted, piece| {
            counted.push((piece, row.count(row.pieces[piece].vertices.clone(), num_columns)?));
            Ok::<(), Error>(())
        })?;
        for (piece, counts) in counted.into_iter().flatten() {
            row.pieces[piece].counts = counts;
        }
        Ok(row)
    }

    /// Cuts the vertices into pieces that each lie in one strip.
    fn cut(&self, rows: Range<usize>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut end_piece = |vertices: Range<usize>| pieces.push(Piece { vertices, counts: Vec::new() });
        for row in rows {
            let strip = row * STRIP_LEN..self.graph.num_vertices().min((row + 1) * STRIP_LEN);
            let (mut start, mut arcs) = (strip.start, 0);
            for v in strip.clone() {
                arcs += self.graph.degree(Direction::Out, vertex(v));
                if arcs >= PIECE_ARCS {
                    end_piece(start..v + 1);
                    (start, arcs) = (v + 1, 0);
                }
            }
            if start < strip.end {
                end_piece(start..strip.end);
            }
        }
        pieces
    }

    /// The range of a list that lies in some columns; of a symmetric graph, from the diagonal on.
    fn entries(&self, v: VertexId, targets: &[VertexId], columns: &Range<usize>) -> Range<usize> {
        let mut low = columns.start * STRIP_LEN;
        if !self.graph.is_directed() {
            low = low.max(v as usize);
        }
        let high = columns.end * STRIP_LEN;
        let start = if low == 0 { 0 } else { targets.partition_point(|&target| (target as usize) < low) };
        let ends_within = targets.last().is_none_or(|&last| (last as usize) < high);
        let end = if ends_within {
            targets.len()
        } else {
            targets.partition_point(|&target| (target as usize) < high)
        };
        start..end.max(start)
    }

    /// Counts the edges of some vertices in each column.
    fn count(&self, vertices: Range<usize>, num_columns: usize) -> Result<Vec<usize>> {
        let mut counts = filled(0, num_columns)?;
        for v in vertices.map(vertex) {
            self.graph
                .with_list(Direction::Out, v, |targets, _| {
                    for span in &self.spans {
                        let entries = &targets[self.entries(v, targets, span)];
                        for run in in_columns(entries) {
                            let column = column_of(run?[0]);
                            if column >= span.end {
                                return None;
                            }
                            *counts.get_mut(column.checked_sub(self.first)?)? += run?.len();
                        }
                    }
                    Some(())
                })?
                .ok_or_else(unsorted)?;
        }
        Ok(counts)
    }

    /// Number of edges of some pieces in some columns.
    pub(super) fn num_edges(&self, pieces: Range<usize>, columns: &Range<usize>) -> usize {
        let columns = columns.start - self.first..columns.end - self.first;
        self.pieces[pieces].iter().map(|piece| piece.counts[columns.clone()].iter().sum::<usize>()).sum()
    }

    /// Number of groups with edges among some successive ones.
    pub(super) fn num_groups(&self, columns: &Range<usize>) -> u64 {
        let groups =
            columns.clone().step_by(self.group).map(|start| start..columns.end.min(start + self.group));
        groups.filter(|own| self.num_edges(0..self.pieces.len(), own) > 0).count() as u64
    }

    /// Cuts the edges of some successive groups into windows of at most `len_max` edges, or of one piece in
    /// one column, in the order of the file. `columns` are those of the groups.
    pub(super) fn windows(&self, columns: Range<usize>, len_max: usize) -> Vec<GatherWindow> {
        let all = 0..self.pieces.len();
        let (mut windows, mut open) = (Vec::new(), columns.start..columns.start);
        let mut open_len = 0;
        for start in columns.clone().step_by(self.group) {
            let own = start..columns.end.min(start + self.group);
            let len = self.num_edges(all.clone(), &own);
            if open_len + len > len_max {
                self.add(&mut windows, all.clone(), open.clone());
                (open, open_len) = (start..start, 0);
            }
            if len > len_max {
                self.split(own.clone(), len_max, &mut windows);
                open = own.end..own.end;
            } else {
                (open, open_len) = (open.start..own.end, open_len + len);
            }
        }
        self.add(&mut windows, all, open);
        windows
    }

    fn add(&self, windows: &mut Vec<GatherWindow>, pieces: Range<usize>, columns: Range<usize>) {
        if self.num_edges(pieces.clone(), &columns) > 0 {
            windows.push(GatherWindow { pieces, columns });
        }
    }

    /// Cuts the edges of a group: strip by strip, then tile by tile, then piece by piece.
    fn split(&self, columns: Range<usize>, len_max: usize, windows: &mut Vec<GatherWindow>) {
        let mut first = 0;
        for strip in self.pieces.chunk_by(|a, b| a.row() == b.row()) {
            let pieces = first..first + strip.len();
            first = pieces.end;
            if self.num_edges(pieces.clone(), &columns) <= len_max {
                self.add(windows, pieces, columns.clone());
                continue;
            }
            for column in columns.clone() {
                let column = column..column + 1;
                let mut open = pieces.start..pieces.start;
                for piece in pieces.clone() {
                    if self.num_edges(open.start..piece + 1, &column) > len_max {
                        self.add(windows, open, column.clone());
                        open = piece..piece;
                    }
                    open.end = piece + 1;
                }
                self.add(windows, open, column);
            }
        }
    }

    /// Gathers the edges of a window, and hands over all of them, in the order of the file.
    pub(super) fn gather(
        &self,
        window: &GatherWindow,
        mut take: impl FnMut(&[TilePart<'_, G::Weight>]) -> Result<()>,
    ) -> Result<()> {
        let GatherWindow { pieces, columns } = window;
        let slots: Vec<_> = pieces.clone().map(|_| Mutex::new(None)).collect();
        self.run.share(
            slots.len(),
            || (),
            |(), slot| {
                let gathered = self.fill(&self.pieces[pieces.start + slot], columns)?;
                *slots[slot].lock() = Some(gathered);
                Ok::<(), Error>(())
            },
        )?;
        let slots = slots.into_iter().map(Mutex::into_inner);
        let gathered: Vec<(&Piece, Gathered<G::Weight>)> =
            self.pieces[pieces.clone()].iter().zip(slots.flatten()).collect();
        let mut parts = Vec::new();
        for start in columns.clone().step_by(self.group) {
            for strip in gathered.chunk_by(|(a, _), (b, _)| a.row() == b.row()) {
                for column in start..columns.end.min(start + self.group) {
                    let at = column - columns.start;
                    for (piece, gathered) in strip {
                        let range = gathered.starts[at]..gathered.starts[at + 1];
                        if !range.is_empty() {
                            parts.push(TilePart {
                                tile: Tile { row: piece.row() as u32, column: column as u32 },
                                positions: &gathered.positions[range.clone()],
                                weights: &gathered.weights[range],
                            });
                        }
                    }
                }
            }
        }
        take(&parts)
    }

    fn fill(&self, piece: &Piece, columns: &Range<usize>) -> Result<Gathered<G::Weight>> {
        let mut len = 0;
        let mut starts = Vec::with_capacity(columns.len() + 1);
        for count in &piece.counts[columns.start - self.first..columns.end - self.first] {
            starts.push(len);
            len += count;
        }
        let mut ends = starts.clone();
        starts.push(len);
        let mut positions = filled(0, len)?;
        let mut weights = filled(G::Weight::default(), len)?;
        for v in piece.vertices.clone() {
            let row_bits = ((v % STRIP_LEN) as u32) << STRIP_BITS;
            self.graph
                .with_list(Direction::Out, vertex(v), |targets, values| {
                    let entries = self.entries(vertex(v), targets, columns);
                    let (targets, mut values) = (&targets[entries.clone()], &values[entries]);
                    for run in in_columns(targets) {
                        let run = run?;
                        let end = ends.get_mut(column_of(run[0]).checked_sub(columns.start)?)?;
                        let own = *end..*end + run.len();
                        let positions = positions.get_mut(own.clone())?;
                        for (position, &target) in positions.iter_mut().zip(run) {
                            *position = row_bits | (target as usize & 0xFFFF) as u32;
                        }
                        let (first, rest) = values.split_at(run.len());
                        weights.get_mut(own.clone())?.copy_from_slice(first);
                        (*end, values) = (own.end, rest);
                    }
                    Some(())
                })?
                .ok_or_else(unsorted)?;
        }
        // What was counted is what came, unless lists changed meanwhile or do not ascend.
        if ends != starts[1..] { Err(unsorted()) } else { Ok(Gathered { starts, positions, weights }) }
    }
}

/// The column of tiles in which a target lies.
fn column_of(target: VertexId) -> usize {
    target as usize >> STRIP_BITS
}

/// Entries of a list that lie in one column of tiles, column by column; ends with `None` where they do not
/// ascend.
fn in_columns(mut targets: &[VertexId]) -> impl Iterator<Item = Option<&[VertexId]>> {
    std::iter::from_fn(move || {
        let column = column_of(*targets.first()?);
        let mut len = 1;
        let mut last = targets[0];
        while let Some(&target) = targets.get(len)
            && column_of(target) == column
        {
            if target < last {
                targets = &[];
                return Some(None);
            }
            last = target;
            len += 1;
        }
        let (run, rest) = targets.split_at(len);
        targets = rest;
        if rest.first().is_some_and(|&next| next < last) {
            targets = &[];
            return Some(None);
        }
        Some(Some(run))
    })
}

fn unsorted() -> Error {
    Error::invalid(message!["a list does not ascend: check the database with ", Operation::Check])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{csr, random_edges};
    use super::*;

    /// All edges of a graph, tile by tile, gathered with so much memory.
    fn gathered(directed: bool, len_max: usize) -> Vec<(u32, u32, u32, i32)> {
        let n = 400_000;
        let graph = csr(directed, n, &random_edges(n, 20_000, 3));
        let (graph, run) = (graph.graph(), Run::with_threads(2).unwrap());
        let mut edges = Vec::new();
        for rows in [0..2, 2..4, 4..6, 6..7] {
            let first = if directed { 0 } else { rows.start };
            let spans = std::iter::once(first..7).collect();
            let row = GroupRow::new(&graph, &run, 2, rows, first, spans).unwrap();
            for window in row.windows(first..7, len_max) {
                row.gather(&window, |parts| {
                    let len: usize = parts.iter().map(|part| part.positions.len()).sum();
                    assert!(len <= len_max || window.pieces.len() == 1, "{len} {window:?}");
                    for part in parts {
                        let own = part.positions.iter().zip(part.weights);
                        edges.extend(own.map(|(&at, &weight)| (part.tile.row, part.tile.column, at, weight)));
                    }
                    Ok(())
                })
                .unwrap();
            }
        }
        edges
    }

    #[test]
    fn edges_come_in_the_same_order_in_any_memory() {
        for directed in [false, true] {
            let all = gathered(directed, usize::MAX);
            let group = |&(row, column, at, _): &(u32, u32, u32, i32)| (row / 2, column / 2, row, column, at);
            assert!(all.is_sorted_by_key(group) && all.len() > 10_000);
            for len_max in [1, 100, 700, 5000] {
                assert!(gathered(directed, len_max) == all, "{len_max}");
            }
        }
    }
}
