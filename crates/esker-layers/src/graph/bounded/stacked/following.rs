//! Hands over the arcs that later layers add to a list, right after its head.
//!
//! A visitor that has enough with a head, as most have, then looks at no added arcs; and one that has enough
//! with these reads no tail.

use std::ops::Range;

use esker_graph::{AnyVisitor, Bitmap, Flow, Patch, Piece, Sink, Tile, VertexId};

use super::later::LaterRows;
use crate::graph::weight::ColumnWeight;

/// A visitor of lists whose first pieces are their heads.
pub(super) struct AppendingVisitor<'f, W> {
    pub(super) visitor: &'f dyn AnyVisitor<W>,
    pub(super) rows: &'f LaterRows<W>,
    /// The vertices that were handed a piece, and what was added if they had not enough with it.
    pub(super) done: &'f Bitmap,
}

struct AppendingSink<'f, W> {
    sink: Box<dyn Sink<W> + 'f>,
    rows: &'f LaterRows<W>,
    done: &'f Bitmap,
}

impl<W: ColumnWeight> AnyVisitor<W> for AppendingVisitor<'_, W> {
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
        Box::new(AppendingSink { sink: self.visitor.sink(), rows: self.rows, done: self.done })
    }
}

impl<W: ColumnWeight> Sink<W> for AppendingSink<'_, W> {
    fn visit(&mut self, batch: &[(VertexId, Piece<'_, W>)]) -> u64 {
        let mut enough = self.sink.visit(batch);
        for (i, &(v, _)) in batch.iter().enumerate() {
            // Pieces of one list come one after another, by one thread.
            if self.done.get(v) {
                continue;
            }
            self.done.insert(v);
            if enough >> i & 1 == 0 && self.rows.hand_over_list(&mut *self.sink, v) == Flow::Enough {
                enough |= 1 << i;
            }
        }
        enough
    }

    fn visit_back(&mut self, u: VertexId, vertices: Piece<'_, W>) {
        self.sink.visit_back(u, vertices);
    }

    fn visit_patch(&mut self, patch: &Patch<'_, W>) {
        self.sink.visit_patch(patch);
    }
}
