//! Hands over lists with 32-bit weights as lists with 64-bit weights.

use std::sync::Arc;

use esker_format::{Error, Result};
use esker_graph::{AnyVisitor, ListAccess, Patch, Piece, Run, Select, Sink, Source, Tile, VertexId};

use crate::graph::side::GraphSide;

/// One direction. Weights are copied piece by piece to a buffer of the worker.
pub(crate) struct WidenedSide<'a>(Arc<GraphSide<'a, i32>>);

impl<'a> WidenedSide<'a> {
    /// The lists of a side with wider weights.
    pub(crate) fn side(narrow: GraphSide<'a, i32>) -> GraphSide<'a, i64> {
        let narrow = Arc::new(narrow);
        GraphSide::Source(Box::new(Self(Arc::clone(&narrow))), Some(narrow))
    }
}

impl Source<i64, Error> for WidenedSide<'_> {
    fn degree(&self, v: VertexId) -> usize {
        self.0.degree(v)
    }

    fn is_scattered(&self) -> bool {
        self.0.is_scattered()
    }

    fn list_access(&self) -> ListAccess {
        self.0.list_access()
    }

    fn has_lists(&self) -> bool {
        self.0.has_lists()
    }

    fn words_apart(&self) -> bool {
        !matches!(&*self.0, GraphSide::Source(source, _) if !source.words_apart())
    }

    fn prepare(&self, run: &Run) -> Result<()> {
        self.0.prepare(run)
    }

    fn read_bytes(&self) -> u64 {
        self.0.read_bytes()
    }

    fn point_reads(&self) -> (u64, u64) {
        self.0.point_reads()
    }

    fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<i64>) -> Result<()> {
        self.0.scan_any(run, select, &Widening(visitor))
    }

    fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[i64])) -> Result<()> {
        self.0.with_list(v, |targets, weights| {
            let weights: Vec<_> = weights.iter().copied().map(i64::from).collect();
            take(targets, &weights);
        })
    }
}

/// A visitor of 64-bit weights among 32-bit ones.
struct Widening<'v>(&'v dyn AnyVisitor<i64>);

struct WideningSink<'v> {
    sink: Box<dyn Sink<i64> + 'v>,
    weights: Vec<i64>,
}

impl AnyVisitor<i32> for Widening<'_> {
    fn stops(&self) -> bool {
        self.0.stops()
    }

    fn wants(&self, v: VertexId) -> bool {
        self.0.wants(v)
    }

    fn wanted(&self, first: usize, selected: u64) -> u64 {
        self.0.wanted(first, selected)
    }

    fn minds_any(&self, vertices: std::ops::Range<usize>) -> bool {
        self.0.minds_any(vertices)
    }

    fn left_out(&self, tile: Tile) -> &[u32] {
        self.0.left_out(tile)
    }

    fn sink(&self) -> Box<dyn Sink<i32> + '_> {
        Box::new(WideningSink { sink: self.0.sink(), weights: Vec::new() })
    }
}

impl WideningSink<'_> {
    fn widen(&mut self, weights: &[i32]) {
        self.weights.extend(weights.iter().copied().map(i64::from));
    }
}

impl Sink<i32> for WideningSink<'_> {
    fn visit(&mut self, batch: &[(VertexId, Piece<'_, i32>)]) -> u64 {
        self.weights.clear();
        batch.iter().for_each(|(_, piece)| self.widen(piece.weights));
        let mut start = 0;
        let widened = batch.iter().map(|&(v, Piece { targets, exclusive, .. })| {
            let weights = &self.weights[start..start + targets.len()];
            start += targets.len();
            (v, Piece { targets, weights, exclusive })
        });
        let widened: Vec<_> = widened.collect();
        self.sink.visit(&widened)
    }

    fn visit_back(&mut self, u: VertexId, Piece { targets, weights, exclusive }: Piece<'_, i32>) {
        self.weights.clear();
        self.widen(weights);
        self.sink.visit_back(u, Piece { targets, weights: &self.weights, exclusive });
    }

    fn visit_patch(&mut self, patch: &Patch<'_, i32>) {
        self.weights.clear();
        self.widen(patch.weights);
        let Patch { rows, ends, columns, to_rows, to_columns, .. } = *patch;
        self.sink.visit_patch(&Patch { rows, ends, columns, weights: &self.weights, to_rows, to_columns });
    }
}
