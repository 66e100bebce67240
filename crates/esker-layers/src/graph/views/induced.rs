//! A version without its removed vertices: the others are renumbered without gaps and in the same order, so
//! sorted lists stay sorted.

use esker_format::{Error, Result};
use esker_graph::{
    AnyVisitor, Bitmap, ListAccess, Patch, Piece, Remaining, Run, Select, Sink, Source, Tile, VertexId, ones,
    vertex,
};

use crate::graph::side::GraphSide;
use crate::graph::weight::ColumnWeight;

/// One direction. Every piece is translated, whole, into a buffer of the worker before it is visited: about a
/// nanosecond an arc. Memory: that buffer, as long as the longest piece; in a scan of selected vertices, the
/// selection once more.
pub(crate) struct InducedSide<'a, W> {
    pub(crate) inner: GraphSide<'a, W>,
    pub(crate) remaining: &'a Remaining,
    /// The number of vertices of the inner graph.
    pub(crate) num_vertices: usize,
}

impl<W: ColumnWeight> Source<W, Error> for InducedSide<'_, W> {
    fn degree(&self, v: VertexId) -> usize {
        self.inner.degree(self.remaining.origin(v))
    }

    fn is_scattered(&self) -> bool {
        self.inner.is_scattered()
    }

    fn list_access(&self) -> ListAccess {
        self.inner.list_access()
    }

    fn has_lists(&self) -> bool {
        self.inner.has_lists()
    }

    /// The inner lists keep the words of their own vertices apart, and those are other words.
    fn words_apart(&self) -> bool {
        false
    }

    fn prepare(&self, run: &Run) -> Result<()> {
        self.inner.prepare(run)
    }

    fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        let visitor = Translating { visitor, remaining: self.remaining };
        match select {
            Select::All => self.inner.scan_any(run, Select::All, &visitor),
            Select::List(list) => {
                let list: Vec<_> = list.iter().map(|&v| self.remaining.origin(v)).collect();
                self.inner.scan_any(run, Select::List(&list), &visitor)
            }
            Select::Bits(bits) => {
                let inner = Bitmap::new(self.num_vertices);
                bits.iter().for_each(|v| inner.insert_alone(self.remaining.origin(v)));
                self.inner.scan_any(run, Select::Bits(&inner), &visitor)
            }
        }
    }

    fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[W])) -> Result<()> {
        self.inner.with_list(self.remaining.origin(v), |targets, weights| {
            let ranks: Vec<_> = targets.iter().map(|&target| self.remaining.rank(target)).collect();
            take(&ranks, weights);
        })
    }
}

/// Translates inner ids to renumbered ids.
struct Translating<'a, W> {
    visitor: &'a dyn AnyVisitor<W>,
    remaining: &'a Remaining,
}

struct TranslatingSink<'a, W> {
    sink: Box<dyn Sink<W> + 'a>,
    remaining: &'a Remaining,
    targets: Vec<VertexId>,
}

impl<W: ColumnWeight> AnyVisitor<W> for Translating<'_, W> {
    fn stops(&self) -> bool {
        self.visitor.stops()
    }

    fn wants(&self, v: VertexId) -> bool {
        self.remaining.place(v).is_some_and(|v| self.visitor.wants(v))
    }

    fn wanted(&self, first: usize, selected: u64) -> u64 {
        ones(selected).fold(0, |wanted, i| wanted | u64::from(self.wants(vertex(first + i))) << i)
    }

    fn minds_any(&self, vertices: std::ops::Range<usize>) -> bool {
        let minds = |v: usize| self.visitor.minds_any(v..v + 1);
        vertices.into_iter().any(|u| self.remaining.place(vertex(u)).is_some_and(|u| minds(u as usize)))
    }

    /// The visitor knows the vertices by other numbers.
    fn left_out(&self, _tile: Tile) -> &[u32] {
        &[]
    }

    fn sink(&self) -> Box<dyn Sink<W> + '_> {
        let (sink, remaining) = (self.visitor.sink(), self.remaining);
        Box::new(TranslatingSink { sink, remaining, targets: Vec::new() })
    }
}

impl<W: ColumnWeight> Sink<W> for TranslatingSink<'_, W> {
    fn visit(&mut self, batch: &[(VertexId, Piece<'_, W>)]) -> u64 {
        self.targets.clear();
        for (_, piece) in batch {
            self.targets.extend(piece.targets.iter().map(|&target| self.remaining.rank(target)));
        }
        let mut start = 0;
        let translated = batch.iter().map(|&(v, piece)| {
            let targets = &self.targets[start..start + piece.targets.len()];
            start += piece.targets.len();
            (self.remaining.rank(v), Piece { targets, ..piece })
        });
        let translated: Vec<_> = translated.collect();
        self.sink.visit(&translated)
    }

    fn visit_back(&mut self, u: VertexId, vertices: Piece<'_, W>) {
        self.targets.clear();
        self.targets.extend(vertices.targets.iter().map(|&v| self.remaining.rank(v)));
        self.sink.visit_back(self.remaining.rank(u), Piece { targets: &self.targets, ..vertices });
    }

    /// Row by row: rows and columns keep their order but may cross the border of a strip.
    fn visit_patch(&mut self, patch: &Patch<'_, W>) {
        (self as &mut dyn Sink<W>).visit_rows(patch);
    }
}
