//! Scans sources that make each list on demand, by merging two lists or by filtering one.

use std::ops::Range;

use esker_format::{Error, Result};
use esker_graph::{AnyVisitor, Bitmap, ScanWorker, Sink, VertexId, ones, vertex, wanted_blocks};

/// A worker that calls `hand_over` with each wanted vertex; this gives the list of the vertex to the sink.
pub(super) struct ListByList<'s, W, F> {
    visitor: &'s dyn AnyVisitor<W>,
    sink: Box<dyn Sink<W> + 's>,
    hand_over: F,
}

impl<'s, W, F> ListByList<'s, W, F>
where
    F: FnMut(VertexId, &mut dyn Sink<W>) -> Result<()> + Send + 's,
{
    /// A worker of [`esker_graph::drive`].
    pub(super) fn boxed(visitor: &'s dyn AnyVisitor<W>, hand_over: F) -> Box<dyn ScanWorker<Error> + 's> {
        Box::new(Self { visitor, sink: visitor.sink(), hand_over })
    }
}

impl<W, F> ScanWorker<Error> for ListByList<'_, W, F>
where
    F: FnMut(VertexId, &mut dyn Sink<W>) -> Result<()> + Send,
{
    fn range(&mut self, vertices: Range<usize>, bits: Option<&Bitmap>, _: &mut Vec<VertexId>) -> Result<()> {
        let Self { visitor, sink, hand_over } = self;
        wanted_blocks(*visitor, vertices, bits).try_for_each(|(first, wanted)| {
            ones(wanted).try_for_each(|i| hand_over(vertex(first + i), sink.as_mut()))
        })
    }

    fn list(&mut self, vertices: &[VertexId], _: &mut Vec<VertexId>) -> Result<()> {
        let Self { visitor, sink, hand_over } = self;
        let mut wanted = vertices.iter().filter(|&&v| visitor.wants(v));
        wanted.try_for_each(|&v| hand_over(v, sink.as_mut()))
    }
}
