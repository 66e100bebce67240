//! Leaves the arcs that a version lacks out of the pieces of its complete layer.

use parking_lot::Mutex;
use std::ops::Range;

use esker_graph::{AnyVisitor, Patch, Piece, Sink, Tile, VertexId};

use super::overlay::{LeftOutBy, Overlay};
use super::patches::PatchParts;
use crate::graph::versions::living::below;
use crate::graph::weight::ColumnWeight;
use crate::tiles::gallop;

/// A visitor whose workers go on with the states that they have: the scans of one visitor that follow each
/// other need no more states than threads.
pub(super) struct Reusing<'v, W> {
    visitor: &'v dyn AnyVisitor<W>,
    idle: Mutex<Vec<Box<dyn Sink<W> + 'v>>>,
}

/// Gives its sink back when dropped.
struct ReusedSink<'r, 'v, W> {
    reusing: &'r Reusing<'v, W>,
    /// Present until it is dropped.
    sink: Option<Box<dyn Sink<W> + 'v>>,
}

impl<'v, W> Reusing<'v, W> {
    pub(super) fn new(visitor: &'v dyn AnyVisitor<W>) -> Self {
        Self { visitor, idle: Mutex::default() }
    }
}

impl<W: ColumnWeight> AnyVisitor<W> for Reusing<'_, W> {
    fn stops(&self) -> bool {
        self.visitor.stops()
    }

    fn wants(&self, v: VertexId) -> bool {
        self.visitor.wants(v)
    }

    fn wanted(&self, first: usize, selected: u64) -> u64 {
        self.visitor.wanted(first, selected)
    }

    fn minds_any(&self, vertices: Range<usize>) -> bool {
        self.visitor.minds_any(vertices)
    }

    fn left_out(&self, tile: Tile) -> &[u32] {
        self.visitor.left_out(tile)
    }

    fn sink(&self) -> Box<dyn Sink<W> + '_> {
        let idle = self.idle.lock().pop();
        Box::new(ReusedSink { reusing: self, sink: Some(idle.unwrap_or_else(|| self.visitor.sink())) })
    }
}

impl<W> Drop for ReusedSink<'_, '_, W> {
    fn drop(&mut self) {
        self.reusing.idle.lock().extend(self.sink.take());
    }
}

impl<W: ColumnWeight> Sink<W> for ReusedSink<'_, '_, W> {
    fn visit(&mut self, batch: &[(VertexId, Piece<'_, W>)]) -> u64 {
        self.sink.as_mut().map_or(0, |sink| sink.visit(batch))
    }

    fn visit_back(&mut self, u: VertexId, vertices: Piece<'_, W>) {
        if let Some(sink) = &mut self.sink {
            sink.visit_back(u, vertices);
        }
    }

    fn visit_patch(&mut self, patch: &Patch<'_, W>) {
        if let Some(sink) = &mut self.sink {
            sink.visit_patch(patch);
        }
    }
}

/// A visitor of the complete layer. Its vertices are those of the layer, which may be more than those of the
/// version.
pub(super) struct Filtering<'f, W> {
    pub(super) visitor: &'f dyn AnyVisitor<W>,
    pub(super) overlay: &'f Overlay<W>,
    /// The number of vertices of the version.
    pub(super) num_vertices: usize,
}

struct FilteringSink<'f, W> {
    sink: Box<dyn Sink<W> + 'f>,
    overlay: &'f Overlay<W>,
    buffer: RemainingArcs<W>,
    parts: PatchParts<W>,
    /// Tiles leave dead edges out themselves, but lists that are read one by one over tiles do not.
    is_tiled: bool,
}

/// The arcs of pieces that remain.
struct RemainingArcs<W> {
    targets: Vec<VertexId>,
    weights: Vec<W>,
}

impl<W: ColumnWeight> AnyVisitor<W> for Filtering<'_, W> {
    fn stops(&self) -> bool {
        self.visitor.stops()
    }

    fn wants(&self, v: VertexId) -> bool {
        !self.overlay.hidden().has(v) && self.visitor.wants(v)
    }

    fn wanted(&self, first: usize, selected: u64) -> u64 {
        let remaining = selected & !self.overlay.hidden().word(first / 64);
        if remaining == 0 { 0 } else { self.visitor.wanted(first, remaining) }
    }

    fn minds_any(&self, vertices: Range<usize>) -> bool {
        self.visitor.minds_any(vertices.start..vertices.end.min(self.num_vertices))
    }

    fn left_out(&self, tile: Tile) -> &[u32] {
        self.overlay.dead_tiles().map_or(&[], |dead| dead.of_tile(tile))
    }

    fn sink(&self) -> Box<dyn Sink<W> + '_> {
        if self.overlay.by() != LeftOutBy::Filter {
            // Vertices whose lists are hidden are not wanted, so no piece of theirs is handed over.
            return self.visitor.sink();
        }
        let buffer = RemainingArcs { targets: Vec::new(), weights: Vec::new() };
        Box::new(FilteringSink {
            sink: self.visitor.sink(),
            overlay: self.overlay,
            buffer,
            parts: PatchParts::new(),
            is_tiled: self.overlay.dead_tiles().is_some(),
        })
    }
}

/// A piece without the arcs that the version lacks.
enum FilteredPiece {
    Whole,
    Nothing,
    /// The arcs in this range of the buffer.
    Some(Range<usize>),
}

impl<W: ColumnWeight> Sink<W> for FilteringSink<'_, W> {
    fn visit(&mut self, batch: &[(VertexId, Piece<'_, W>)]) -> u64 {
        let Self { sink, overlay, buffer, .. } = self;
        if !batch.iter().any(|(v, _)| overlay.changes(*v)) {
            return sink.visit(batch);
        }
        buffer.clear();
        let (mut enough, mut remaining) = (0, Vec::with_capacity(batch.len()));
        for (i, (v, piece)) in batch.iter().enumerate() {
            if overlay.hidden().has(*v) {
                enough |= 1 << i;
                continue;
            }
            match buffer.filter(overlay.dead(*v), piece) {
                FilteredPiece::Nothing => {}
                filtered => remaining.push((i, filtered)),
            }
        }
        let pieces = remaining.iter().map(|(i, filtered)| {
            let (v, piece) = batch[*i];
            (v, if let FilteredPiece::Some(range) = filtered { buffer.piece(range, &piece) } else { piece })
        });
        let pieces: Vec<_> = pieces.collect();
        let found = sink.visit(&pieces);
        remaining.iter().enumerate().fold(enough, |enough, (at, (i, _))| enough | (found >> at & 1) << i)
    }

    fn visit_back(&mut self, u: VertexId, vertices: Piece<'_, W>) {
        let Self { sink, overlay, buffer, is_tiled, .. } = self;
        let is_left_out =
            |v| overlay.hidden().has(v) || !*is_tiled && overlay.dead(v).binary_search(&u).is_ok();
        if !vertices.targets.iter().any(|&v| is_left_out(v)) {
            return sink.visit_back(u, vertices);
        }
        buffer.clear();
        let arcs = vertices.targets.iter().zip(vertices.weights);
        for (&v, &weight) in arcs.filter(|(v, _)| !is_left_out(**v)) {
            buffer.targets.push(v);
            buffer.weights.push(weight);
        }
        if !buffer.targets.is_empty() {
            sink.visit_back(u, buffer.piece(&(0..buffer.targets.len()), &vertices));
        }
    }

    fn visit_patch(&mut self, patch: &Patch<'_, W>) {
        if self.is_tiled {
            self.parts.visit(&mut *self.sink, patch, self.overlay.hidden());
        } else {
            (self as &mut dyn Sink<W>).visit_rows(patch);
        }
    }
}

impl<W: ColumnWeight> RemainingArcs<W> {
    fn clear(&mut self) {
        self.targets.clear();
        self.weights.clear();
    }

    fn piece<'b>(&'b self, range: &Range<usize>, like: &Piece<'_, W>) -> Piece<'b, W> {
        let (targets, weights) = (&self.targets[range.clone()], &self.weights[range.clone()]);
        Piece { targets, weights, exclusive: like.exclusive }
    }

    /// Leaves the sorted `dead` out of a piece. Chosen heads are not sorted; all other pieces of lists are.
    fn filter(&mut self, dead: &[VertexId], piece: &Piece<'_, W>) -> FilteredPiece {
        if !dead.is_empty() && !piece.targets.is_sorted() {
            return self.filter_unsorted(dead, piece);
        }
        let (Some(&first), Some(&last)) = (piece.targets.first(), piece.targets.last()) else {
            return FilteredPiece::Whole;
        };
        let dead = &dead[dead.partition_point(|&target| target < first)..];
        let dead = &dead[..dead.partition_point(|&target| target <= last)];
        let (begin, mut start) = (self.targets.len(), 0);
        for &target in dead {
            let end = start + below(&piece.targets[start..], target);
            let next = end + gallop(&piece.targets[end..], |other| other == target);
            if end < next {
                self.targets.extend_from_slice(&piece.targets[start..end]);
                self.weights.extend_from_slice(&piece.weights[start..end]);
                start = next;
            }
        }
        if start == 0 && self.targets.len() == begin {
            return FilteredPiece::Whole;
        }
        self.targets.extend_from_slice(&piece.targets[start..]);
        self.weights.extend_from_slice(&piece.weights[start..]);
        self.appended_since(begin)
    }

    fn filter_unsorted(&mut self, dead: &[VertexId], piece: &Piece<'_, W>) -> FilteredPiece {
        let begin = self.targets.len();
        let arcs = piece.targets.iter().zip(piece.weights);
        for (&target, &weight) in arcs.filter(|(target, _)| dead.binary_search(target).is_err()) {
            self.targets.push(target);
            self.weights.push(weight);
        }
        self.appended_since(begin)
    }

    fn appended_since(&self, begin: usize) -> FilteredPiece {
        let end = self.targets.len();
        if begin == end { FilteredPiece::Nothing } else { FilteredPiece::Some(begin..end) }
    }
}
