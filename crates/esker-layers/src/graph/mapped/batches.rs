//! Scans one complete mapped layer for visitors of any type, many lists a call.
//!
//! Sources that read such a layer through a filter or a translation use these. They are compiled once for
//! each type of weight, where the static scans of [`esker_graph::Layout`] are compiled for each visitor. A
//! call hands over up to 64 lists of a scan of many vertices.

use std::ops::Range;

use esker_format::{Error, Result};
use esker_graph::{
    AnyVisitor, BATCH_LEN, Bitmap, Flow, HUGE_LEN, Piece, Rows, Run, SINK_BATCH_MAX, ScanWorker, Select,
    Sink, Units, VertexId, drive, ones, vertex, wanted_blocks,
};

use crate::graph::mapped::compressed::Compressed;
use crate::graph::mapped::list_decoder::{ArcRange, Decoded};
use crate::graph::weight::ColumnWeight;
use crate::layer::{ListPlace, ListPlaces};

/// Scans plain lists.
pub(crate) fn scan_rows<W: ColumnWeight>(
    rows: &Rows<'_, W>,
    run: &Run,
    select: Select<'_>,
    visitor: &dyn AnyVisitor<W>,
) -> Result<()> {
    drive(run, rows, Units::default(), select, &|| {
        Box::new(RowsWorker {
            rows,
            visitor,
            sink: visitor.sink(),
            batch: Vec::with_capacity(SINK_BATCH_MAX),
        })
    })
}

struct RowsWorker<'p, 'a, W> {
    rows: &'p Rows<'a, W>,
    visitor: &'p dyn AnyVisitor<W>,
    sink: Box<dyn Sink<W> + 'p>,
    batch: Vec<(VertexId, Piece<'a, W>)>,
}

impl<W: ColumnWeight> RowsWorker<'_, '_, W> {
    /// Hands over the lists of at most [`SINK_BATCH_MAX`] vertices.
    fn offer(&mut self, vertices: impl Iterator<Item = VertexId>, huge: &mut Vec<VertexId>) {
        self.batch.clear();
        for v in vertices {
            let (targets, weights) = self.rows.list(v);
            if targets.len() > HUGE_LEN {
                huge.push(v);
            } else if !targets.is_empty() {
                self.batch.push((v, Piece { targets, weights, exclusive: true }));
            }
        }
        if !self.batch.is_empty() {
            self.sink.visit(&self.batch);
        }
    }
}

impl<W: ColumnWeight> ScanWorker<Error> for RowsWorker<'_, '_, W> {
    fn range(
        &mut self,
        vertices: Range<usize>,
        bits: Option<&Bitmap>,
        huge: &mut Vec<VertexId>,
    ) -> Result<()> {
        for (first, wanted) in wanted_blocks(self.visitor, vertices, bits) {
            self.offer(ones(wanted).map(|i| vertex(first + i)), huge);
        }
        Ok(())
    }

    fn list(&mut self, vertices: &[VertexId], huge: &mut Vec<VertexId>) -> Result<()> {
        for batch in vertices.chunks(BATCH_LEN) {
            self.rows.touch(batch);
            self.offer(batch.iter().copied(), huge);
        }
        Ok(())
    }

    fn piece(&mut self, v: VertexId, arcs: Range<usize>, exclusive: bool) -> Result<Flow> {
        let (targets, weights) = self.rows.list(v);
        Ok(self
            .sink
            .visit_one(v, Piece { targets: &targets[arcs.clone()], weights: &weights[arcs], exclusive }))
    }
}

/// Scans compressed lists.
pub(crate) fn scan_compressed<W: ColumnWeight>(
    lists: &Compressed<'_, W>,
    run: &Run,
    select: Select<'_>,
    visitor: &dyn AnyVisitor<W>,
) -> Result<()> {
    drive(run, lists, Units::default(), select, &|| {
        Box::new(CompressedWorker {
            lists,
            visitor,
            sink: visitor.sink(),
            decoded: Decoded::new(visitor.stops(), run.deterministic()),
            places: ListPlaces::default(),
        })
    })
}

struct CompressedWorker<'p, 'a, W> {
    lists: &'p Compressed<'a, W>,
    visitor: &'p dyn AnyVisitor<W>,
    sink: Box<dyn Sink<W> + 'p>,
    decoded: Decoded,
    places: ListPlaces,
}

impl<W: ColumnWeight> ScanWorker<Error> for CompressedWorker<'_, '_, W> {
    fn range(
        &mut self,
        vertices: Range<usize>,
        bits: Option<&Bitmap>,
        huge: &mut Vec<VertexId>,
    ) -> Result<()> {
        let Self { lists, visitor, sink, decoded, places } = self;
        let offer = lists.offers();
        for (first, mut wanted) in wanted_blocks(*visitor, vertices, bits) {
            offer.lists.places(first, places);
            for i in ones(wanted).filter(|&i| places.at(i).degree > lists.huge_len()) {
                huge.push(vertex(first + i));
                wanted &= !(1 << i);
            }
            offer.block_into(&mut **sink, decoded, places, wanted);
        }
        Ok(())
    }

    fn list(&mut self, vertices: &[VertexId], huge: &mut Vec<VertexId>) -> Result<()> {
        let Self { lists, visitor, sink, decoded, .. } = self;
        let offer = lists.offers();
        for batch in vertices.chunks(BATCH_LEN) {
            let mut found = [ListPlace::default(); BATCH_LEN];
            for (place, &v) in found.iter_mut().zip(batch) {
                *place = offer.lists.index().place(v as usize);
            }
            found[..batch.len()].iter().for_each(|&place| offer.lists.touch(place));
            for (&place, &v) in found.iter().zip(batch) {
                if !visitor.wants(v) {
                    continue;
                }
                if place.degree > lists.huge_len() {
                    huge.push(v);
                } else {
                    offer.list_into(&mut **sink, decoded, v, place);
                }
            }
        }
        Ok(())
    }

    fn piece(&mut self, v: VertexId, arcs: Range<usize>, exclusive: bool) -> Result<Flow> {
        if !self.visitor.wants(v) {
            return Ok(Flow::Enough);
        }
        let Self { lists, sink, decoded, .. } = self;
        let place = lists.offers().lists.index().place(v as usize);
        Ok(lists.offers().piece_into(&mut **sink, decoded, ArcRange { v, place, arcs, exclusive }))
    }
}
