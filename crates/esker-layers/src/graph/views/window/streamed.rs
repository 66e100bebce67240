//! The lists of one direction, filtered by a window as they are read.

use std::ops::Range;

use esker_format::{Error, Result};
use esker_graph::{
    AnyVisitor, Extents, ListAccess, Patch, Piece, Run, Select, Sink, Source, Tile, Units, VertexId, drive,
    ones, vertex,
};

use super::copies::{Selected, TimeWindow};
use super::lists::TimedLists;
use crate::graph::list_by_list::ListByList;
use crate::graph::side::GraphSide;
use crate::graph::weight::ColumnWeight;

/// Lists of a window. Where every edge counts and no weights are read, pieces are filtered as they come, in
/// any residency; else the list of each vertex is read whole, and memory is that of the longest.
pub(crate) struct WindowSide<'a, W> {
    pub(crate) lists: TimedLists<'a, W>,
    pub(crate) window: TimeWindow,
    /// Arcs in the window before each vertex, and in all.
    pub(crate) sums: &'a [u64],
}

impl<W: ColumnWeight> Extents for WindowSide<'_, W> {
    fn num_vertices(&self) -> usize {
        self.sums.len() - 1
    }

    fn entries_before(&self, v: usize) -> usize {
        v + self.sums[v] as usize
    }

    fn degree(&self, v: VertexId) -> usize {
        (self.sums[v as usize + 1] - self.sums[v as usize]) as usize
    }
}

impl<W: ColumnWeight> Source<W, Error> for WindowSide<'_, W> {
    fn degree(&self, v: VertexId) -> usize {
        Extents::degree(self, v)
    }

    fn is_scattered(&self) -> bool {
        self.lists.streamed(&self.window).is_some_and(GraphSide::is_scattered)
    }

    /// Where edges are joined or weighted, scans read whole lists too.
    fn list_access(&self) -> ListAccess {
        self.lists.streamed(&self.window).map_or(ListAccess::Single, GraphSide::list_access)
    }

    fn has_lists(&self) -> bool {
        self.lists.has_lists()
    }

    fn prepare(&self, run: &Run) -> Result<()> {
        self.lists.prepare(run)
    }

    fn read_bytes(&self) -> u64 {
        self.lists.read_bytes()
    }

    fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        if let Some(lists) = self.lists.streamed(&self.window) {
            return lists.scan_any(run, select, &WindowVisitor { visitor, side: self });
        }
        self.prepare(run)?;
        scan_lists(run, self, select, visitor, |v, selected| self.lists.select(&self.window, v, selected))
    }

    fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[W])) -> Result<()> {
        let mut selected = Selected::new();
        self.lists.select(&self.window, v, &mut selected)?;
        take(&selected.targets, &selected.weights);
        Ok(())
    }
}

/// Reads whole lists and hands over what `take` selects of them.
pub(super) fn scan_lists<W: ColumnWeight>(
    run: &Run,
    extents: &dyn Extents,
    select: Select<'_>,
    visitor: &dyn AnyVisitor<W>,
    take: impl Fn(VertexId, &mut Selected<W>) -> Result<()> + Sync,
) -> Result<()> {
    let take = &take;
    drive(run, extents, Units::default(), select, &|| {
        let mut selected = Selected::new();
        ListByList::boxed(visitor, move |v, sink| {
            if extents.degree(v) > 0 {
                selected.clear();
                take(v, &mut selected)?;
                let Selected { targets, weights, .. } = &selected;
                sink.visit_one(v, Piece { targets, weights, exclusive: true });
            }
            Ok(())
        })
    })
}

/// A visitor of all arcs that hands on those in the window.
struct WindowVisitor<'f, 'a, W> {
    visitor: &'f dyn AnyVisitor<W>,
    side: &'f WindowSide<'a, W>,
}

struct WindowSink<'f, W> {
    sink: Box<dyn Sink<W> + 'f>,
    window: TimeWindow,
    targets: Vec<VertexId>,
    /// Zeros, as many as pieces needed so far.
    weights: Vec<W>,
}

impl<W: ColumnWeight> AnyVisitor<i64> for WindowVisitor<'_, '_, W> {
    fn stops(&self) -> bool {
        self.visitor.stops()
    }

    fn wants(&self, v: VertexId) -> bool {
        Extents::degree(self.side, v) > 0 && self.visitor.wants(v)
    }

    fn wanted(&self, first: usize, selected: u64) -> u64 {
        let has_arcs = |i: &usize| Extents::degree(self.side, vertex(first + i)) > 0;
        let remaining = ones(selected).filter(has_arcs).fold(0, |remaining, i| remaining | 1 << i);
        if remaining == 0 { 0 } else { self.visitor.wanted(first, remaining) }
    }

    fn minds_any(&self, vertices: Range<usize>) -> bool {
        self.visitor.minds_any(vertices)
    }

    fn left_out(&self, tile: Tile) -> &[u32] {
        self.visitor.left_out(tile)
    }

    fn sink(&self) -> Box<dyn Sink<i64> + '_> {
        let (sink, window) = (self.visitor.sink(), self.side.window);
        Box::new(WindowSink { sink, window, targets: Vec::new(), weights: Vec::new() })
    }
}

impl<W: ColumnWeight> WindowSink<'_, W> {
    /// Appends the targets that are in the window. Returns where they lie.
    fn filter(&mut self, targets: &[VertexId], times: &[i64]) -> Range<usize> {
        let start = self.targets.len();
        self.targets.resize(start + targets.len(), 0);
        let mut end = start;
        // Without a branch that depends on the data: it would be mispredicted at every other arc.
        for (&target, &time) in targets.iter().zip(times) {
            self.targets[end] = target;
            end += usize::from(self.window.contains(time));
        }
        self.targets.truncate(end);
        start..end
    }
}

impl<W: ColumnWeight> Sink<i64> for WindowSink<'_, W> {
    fn visit(&mut self, batch: &[(VertexId, Piece<'_, i64>)]) -> u64 {
        self.targets.clear();
        let mut remaining = Vec::with_capacity(batch.len());
        for (i, (v, piece)) in batch.iter().enumerate() {
            let range = self.filter(piece.targets, piece.weights);
            if !range.is_empty() {
                remaining.push((i, *v, range, piece.exclusive));
            }
        }
        self.weights.resize(self.targets.len().max(self.weights.len()), W::default());
        let pieces = remaining.iter().map(|(_, v, range, exclusive)| {
            let (targets, weights) = (&self.targets[range.clone()], &self.weights[range.clone()]);
            (*v, Piece { targets, weights, exclusive: *exclusive })
        });
        let pieces: Vec<_> = pieces.collect();
        let found = self.sink.visit(&pieces);
        remaining.iter().enumerate().fold(0, |enough, (at, (i, ..))| enough | (found >> at & 1) << i)
    }

    fn visit_back(&mut self, u: VertexId, vertices: Piece<'_, i64>) {
        self.targets.clear();
        let range = self.filter(vertices.targets, vertices.weights);
        self.weights.resize(range.end.max(self.weights.len()), W::default());
        if !range.is_empty() {
            let (targets, weights) = (&self.targets[range.clone()], &self.weights[range]);
            self.sink.visit_back(u, Piece { targets, weights, exclusive: vertices.exclusive });
        }
    }

    fn visit_patch(&mut self, patch: &Patch<'_, i64>) {
        self.targets.clear();
        let (mut rows, mut ends) =
            (Vec::with_capacity(patch.rows.len()), Vec::with_capacity(patch.rows.len()));
        for (row, range) in patch.iter() {
            let kept = self.filter(&patch.columns[range.clone()], &patch.weights[range]);
            if !kept.is_empty() {
                rows.push(row);
                ends.push(kept.end as u32);
            }
        }
        self.weights.resize(self.targets.len().max(self.weights.len()), W::default());
        let Patch { to_rows, to_columns, .. } = *patch;
        let (columns, weights) = (&self.targets[..], &self.weights[..self.targets.len()]);
        self.sink.visit_patch(&Patch { rows: &rows, ends: &ends, columns, weights, to_rows, to_columns });
    }
}
