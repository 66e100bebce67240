//! Scans of a version in several layers: layer by layer, without following the chain of each list.
//!
//! Pieces of a list may arrive in any order, so a stretch of vertices is swept through the complete layer,
//! then through each later one. Each layer is read in order, where a chain would jump between layers for
//! every vertex. Only lists with tombstones are assembled along their chains, and all lists where few are
//! wanted.

use std::ops::Range;

use bytemuck::Pod;
use esker_format::{Error, Result};
use esker_graph::{
    AnyVisitor, Bitmap, Flow, Piece, Run, SINK_BATCH_MAX, ScanWorker, Select, Sink, Units, VertexId, drive,
    ones, vertex, wanted_blocks,
};

use crate::graph::mapped::list_decoder::{Decoded, ListDecoder};
use crate::graph::versions::arcs::{ArcSlices, seek};
use crate::graph::versions::born_filter::copy_born;
use crate::graph::versions::layered::{BirthFilter, Layered, OldestLists};
use crate::graph::weight::ColumnWeight;
use crate::layer::{CodeSlice, ListPlaces, for_runs};

/// Vertices of a stretch whose layers are swept one after another: what visitors keep of them stays in the
/// cache.
const STRETCH_LEN: usize = 1 << 13;
/// Arcs that are handed over at once, so that cancellation is never late.
const PIECE_LEN_MAX: usize = 1 << 20;
/// Arcs of a list that are filtered first for visitors that may have enough; each next time four times as
/// many.
const FILTER_FIRST: usize = 16;
const FILTER_MAX: usize = 1 << 14;
/// Vertices are visited along their chains if they are at most one in `FEW_DIVISOR` of those with chains.
const FEW_DIVISOR: usize = 8;

/// Scans the lists of selected vertices.
pub(crate) fn sweep<W: ColumnWeight>(
    layered: &Layered<'_, W>,
    run: &Run,
    select: Select<'_>,
    visitor: &dyn AnyVisitor<W>,
) -> Result<()> {
    // With many layers, larger units: each layer is located once a unit.
    let units = Units::default();
    let units = Units { entries: units.entries * (layered.layers.len() / 8).clamp(1, 16), ..units };
    drive(run, layered, units, select, &|| Box::new(Sweeper::new(layered, run, visitor)))
}

/// A visitor's sink, the worker's place in each layer (and in the past of the newest), and buffers.
struct Sweeper<'p, 'a, W> {
    layered: &'p Layered<'a, W>,
    visitor: &'p dyn AnyVisitor<W>,
    sink: Box<dyn Sink<W> + 'p>,
    cursors: Vec<usize>,
    batch: Vec<(VertexId, Piece<'a, W>)>,
    wanted: Vec<VertexId>,
    born_arcs: BornArcs<W>,
    decoded: Decoded,
    places: ListPlaces,
}

/// Arcs that were born by the version, to be handed over.
#[derive(Default)]
struct BornArcs<W> {
    targets: Vec<VertexId>,
    weights: Vec<W>,
    /// Number of arcs in the buffers.
    len: usize,
    /// The vertex of each piece, and where it begins.
    pieces: Vec<(VertexId, usize)>,
}

impl<'p, 'a, W: ColumnWeight> Sweeper<'p, 'a, W> {
    fn new(layered: &'p Layered<'a, W>, run: &Run, visitor: &'p dyn AnyVisitor<W>) -> Self {
        Self {
            layered,
            visitor,
            sink: visitor.sink(),
            cursors: vec![0; layered.layers.len() + 1],
            batch: Vec::with_capacity(SINK_BATCH_MAX),
            wanted: Vec::new(),
            born_arcs: BornArcs { targets: Vec::new(), weights: Vec::new(), len: 0, pieces: Vec::new() },
            decoded: Decoded::new(visitor.stops(), run.deterministic()),
            places: ListPlaces::default(),
        }
    }

    /// Hands over the lists of a stretch of vertices.
    fn sweep(&mut self, bits: Option<&Bitmap>, first: usize, end: usize) -> Result<()> {
        let layered = self.layered;
        let special = layered.table.special();
        if layered.layers.len() > 1 && special.near(first, end) {
            for v in special.iter_range(first, end).map(vertex) {
                if bits.is_none_or(|bits| bits.get(v)) {
                    self.offer_chain(v)?;
                }
            }
        }
        if let Some(filter) = layered.filter.as_ref().filter(|_| layered.layers.len() == 1) {
            self.sweep_born(filter, bits, first, end.min(layered.base.extents().len()));
            self.sweep_past(filter, bits, first, end);
            return Ok(());
        }
        let offered = self.sweep_base(bits, first, end.min(layered.base.extents().len()));
        if layered.layers.len() == 1 || self.offer_few(bits, first..end, offered)? {
            return Ok(());
        }
        for layer in 1..layered.layers.len() {
            let vertices = layered.layers[layer].vertices.unwrap_or(&[]);
            let begin = seek(vertices, self.cursors[layer], first);
            let finish = seek(vertices, begin, end);
            self.cursors[layer] = finish;
            self.sweep_sparse(bits, layer, begin..finish);
        }
        Ok(())
    }

    /// Sweeps the oldest layer. Returns the number of lists handed over.
    fn sweep_base(&mut self, bits: Option<&Bitmap>, first: usize, end: usize) -> usize {
        let layered = self.layered;
        let (arcs, skipped) = (&layered.layers[0], layered.table.skipped(0));
        let mut offered = 0;
        for block in (first..end).step_by(64) {
            let selected = Bitmap::selected(bits, block, end) & !skipped.word(block / 64);
            let wanted = if selected == 0 { 0 } else { self.visitor.wanted(block, selected) };
            if wanted == 0 {
                continue;
            }
            match layered.base {
                OldestLists::Arrays { .. } => {
                    for i in ones(wanted) {
                        let range = arcs.range(block + i);
                        if !range.is_empty() {
                            self.batch.push((vertex(block + i), arcs.piece(range)));
                        }
                    }
                    offered += self.batch.len();
                    self.flush();
                }
                OldestLists::Coded(lists) => {
                    let offer = ListDecoder::new(lists, arcs.weights);
                    lists.places(block, &mut self.places);
                    offered += wanted.count_ones() as usize;
                    offer.block_into(&mut *self.sink, &mut self.decoded, &self.places, wanted);
                }
            }
        }
        offered
    }

    /// Hands over the later fragments of a stretch along their chains, if few of its vertices are still
    /// wanted. Returns whether it did. `offered` lists of the oldest layer were wanted: if many were, the
    /// visitor is not asked again.
    fn offer_few(&mut self, bits: Option<&Bitmap>, range: Range<usize>, offered: usize) -> Result<bool> {
        let layered = self.layered;
        let (chained, special) = (layered.table.chained(), layered.table.special());
        let count = chained.count_near(range.start, range.end);
        if offered > count / 2 {
            return Ok(false);
        }
        self.wanted.clear();
        for block in range.clone().step_by(64) {
            let selected = Bitmap::selected(bits, block, range.end)
                & chained.word(block / 64)
                & !special.word(block / 64);
            let wanted = if selected == 0 { 0 } else { self.visitor.wanted(block, selected) };
            self.wanted.extend(ones(wanted).map(|i| vertex(block + i)));
        }
        if self.wanted.len() > count / FEW_DIVISOR {
            return Ok(false);
        }
        for at in 0..self.wanted.len() {
            let v = self.wanted[at];
            let (mut above, mut next) = (layered.layers.len(), layered.table.head(v));
            while let Some(address) = next {
                let Some((layer, slot)) = layered.stack.place(above, address, layered.direction, v)? else {
                    break;
                };
                // The base has handed over its fragment already.
                if layer == 0 {
                    break;
                }
                let arcs = &layered.layers[layer];
                let range = if layered.stack.is_left_out(layer) { 0..0 } else { arcs.range(slot) };
                if !range.is_empty() && self.sink.visit_one(v, arcs.piece(range)) == Flow::Enough {
                    break;
                }
                next = layered.stack.section(layer, layered.direction)?.previous_at(slot)?;
                above = layer;
            }
        }
        Ok(true)
    }

    /// Sweeps some slots of a layer that lists some vertices.
    fn sweep_sparse(&mut self, bits: Option<&Bitmap>, layer: usize, slots: Range<usize>) {
        let arcs = &self.layered.layers[layer];
        let vertices = arcs.vertices.unwrap_or(&[]);
        let skipped = self.layered.table.skipped(layer);
        for (slot, &v) in slots.clone().zip(&vertices[slots]) {
            let range = arcs.range(slot);
            if !range.is_empty() && !skipped.has(slot) && bits.is_none_or(|bits| bits.get(v)) {
                self.batch.push((v, arcs.piece(range)));
                if self.batch.len() == SINK_BATCH_MAX {
                    self.flush();
                }
            }
        }
        self.flush();
    }

    fn flush(&mut self) {
        if !self.batch.is_empty() {
            self.sink.visit(&self.batch);
            self.batch.clear();
        }
    }

    /// Hands over those arcs of a stretch of a complete layer that were born by the rank of the version.
    fn sweep_born(&mut self, filter: &BirthFilter<'_, W>, bits: Option<&Bitmap>, first: usize, end: usize) {
        let layered = self.layered;
        let arcs = &layered.layers[0];
        for (block, wanted) in wanted_blocks(self.visitor, first..end, bits) {
            match layered.base {
                OldestLists::Arrays { .. } => self.offer_born_block(filter, arcs, block, wanted),
                OldestLists::Coded(lists) => {
                    let mut decoded = std::mem::take(self.decoded.targets());
                    for v in ones(wanted).map(|i| vertex(block + i)) {
                        let place = lists.index().place(v as usize);
                        let targets = lists.piece(v, place, 0..place.degree, &mut decoded);
                        self.offer_born(filter, v, place.arc, targets, FILTER_FIRST);
                    }
                    *self.decoded.targets() = decoded;
                }
            }
        }
    }

    /// Filters the lists of some of 64 vertices and hands them over together: whole, or their first arcs if
    /// the visitor may have enough.
    fn offer_born_block(
        &mut self,
        filter: &BirthFilter<'_, W>,
        arcs: &ArcSlices<'a, W>,
        block: usize,
        wanted: u64,
    ) {
        let stops = self.visitor.stops();
        let first_len = if stops { FILTER_FIRST } else { FILTER_MAX };
        for v in ones(wanted).map(|i| vertex(block + i)) {
            let mut range = arcs.range(v as usize);
            while !range.is_empty() {
                let now = range.start..range.end.min(range.start + first_len);
                range.start = now.end;
                self.filter_born(filter, v, &arcs.targets[now.clone()], now);
                if stops {
                    break;
                }
            }
        }
        let enough = self.flush_born();
        if !stops {
            return;
        }
        for (i, v) in ones(wanted).map(|i| (i, vertex(block + i))) {
            let range = arcs.range(v as usize);
            if range.len() > FILTER_FIRST && enough >> i & 1 == 0 {
                let start = range.start + FILTER_FIRST;
                let remaining = &arcs.targets[start..range.end];
                self.offer_born(filter, v, start, remaining, 4 * FILTER_FIRST);
            }
        }
    }

    /// Appends those of some arcs that were born by the rank to the buffer. Flushes it when it is full, for
    /// visitors that take all arcs.
    fn filter_born(
        &mut self,
        filter: &BirthFilter<'_, W>,
        v: VertexId,
        targets: &[VertexId],
        arcs: Range<usize>,
    ) {
        let full = self.born_arcs.len + targets.len() > 2 * FILTER_MAX
            || self.born_arcs.pieces.len() == SINK_BATCH_MAX;
        if full && !self.visitor.stops() {
            self.flush_born();
        }
        let weights = &self.layered.layers[0].weights[arcs.clone()];
        self.born_arcs.pieces.push((v, self.born_arcs.len));
        match filter.born {
            CodeSlice::U8(born) => self.born_arcs.push(targets, weights, &born[arcs], filter.rank),
            CodeSlice::U16(born) => self.born_arcs.push(targets, weights, &born[arcs], filter.rank),
            CodeSlice::U32(born) => self.born_arcs.push(targets, weights, &born[arcs], filter.rank),
        }
    }

    /// Hands over the arcs in the buffer. Returns which vertices have enough, by their bits in a block of 64.
    fn flush_born(&mut self) -> u64 {
        let BornArcs { targets, weights, len, pieces } = &mut self.born_arcs;
        let ends = pieces.iter().skip(1).map(|piece| piece.1).chain([*len]);
        let batch =
            pieces.iter().zip(ends).filter(|((_, start), end)| start < end).map(|(&(v, start), end)| {
                (v, Piece { targets: &targets[start..end], weights: &weights[start..end], exclusive: true })
            });
        let batch: Vec<_> = batch.collect();
        let enough = self.sink.visit(&batch);
        let enough = ones(enough).fold(0, |all, i| all | 1 << (batch[i].0 % 64));
        pieces.clear();
        *len = 0;
        enough
    }

    /// Hands over those of the arcs of a vertex that were born by the rank, filtered from the first
    /// `first_chunk` arcs on in growing chunks. `start` is the number of the first arc.
    fn offer_born(
        &mut self,
        filter: &BirthFilter<'_, W>,
        v: VertexId,
        mut start: usize,
        mut rest: &[VertexId],
        first_chunk: usize,
    ) {
        let mut chunk = if self.visitor.stops() { first_chunk } else { FILTER_MAX };
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(chunk));
            let arcs = start..start + now.len();
            (start, rest) = (arcs.end, later);
            chunk = (chunk * 4).min(FILTER_MAX);
            self.filter_born(filter, v, now, arcs);
            if self.flush_born() != 0 && self.visitor.stops() {
                return;
            }
        }
    }

    fn sweep_past(&mut self, filter: &BirthFilter<'_, W>, bits: Option<&Bitmap>, first: usize, end: usize) {
        let cursor = self.layered.layers.len();
        let vertices = filter.past.vertices.unwrap_or(&[]);
        let mut slot = seek(vertices, self.cursors[cursor], first);
        while let Some(&v) = vertices.get(slot).filter(|&&v| (v as usize) < end) {
            if bits.is_none_or(|bits| bits.get(v)) && self.visitor.wants(v) {
                let range = filter.past.range(slot);
                let start = range.start;
                let alive = |i: usize| {
                    filter.past_born.at(start + i) <= filter.rank
                        && filter.past_died.at(start + i) > filter.rank
                };
                let done = for_runs(range, alive, |run| {
                    self.sink.visit_one(v, filter.past.piece(run));
                    Ok(())
                });
                debug_assert!(done.is_ok(), "the closure does not fail");
            }
            slot += 1;
        }
        self.cursors[cursor] = slot;
    }

    /// Hands over the list of one vertex along its chain.
    fn offer_chain(&mut self, v: VertexId) -> Result<()> {
        if !self.visitor.wants(v) {
            return Ok(());
        }
        let sink = &mut self.sink;
        self.layered.visit_chain(v, |stretch, weights| {
            for (targets, weights) in stretch.targets.chunks(PIECE_LEN_MAX).zip(weights.chunks(PIECE_LEN_MAX))
            {
                if sink.visit_one(v, Piece { targets, weights, exclusive: true }) == Flow::Enough {
                    return Ok(Flow::Enough);
                }
            }
            Ok(Flow::More)
        })?;
        Ok(())
    }
}

impl<W: ColumnWeight> BornArcs<W> {
    /// Appends those of some arcs that were born by `rank`.
    fn push<C: Pod + Into<u32>>(&mut self, targets: &[VertexId], weights: &[W], born: &[C], rank: u32) {
        let end = self.len + targets.len();
        if self.targets.len() < end {
            self.targets.resize(end, 0);
            self.weights.resize(end, W::default());
        }
        let room = self.len..end;
        let (into, into_weights) = (&mut self.targets[room.clone()], &mut self.weights[room]);
        self.len += copy_born(targets, weights, born, rank, into, into_weights);
    }
}

impl<W: ColumnWeight> ScanWorker<Error> for Sweeper<'_, '_, W> {
    fn range(
        &mut self,
        vertices: Range<usize>,
        bits: Option<&Bitmap>,
        _huge: &mut Vec<VertexId>,
    ) -> Result<()> {
        let Range { start, end } = vertices;
        (start..end)
            .step_by(STRETCH_LEN)
            .try_for_each(|first| self.sweep(bits, first, end.min(first + STRETCH_LEN)))
    }

    fn list(&mut self, vertices: &[VertexId], _huge: &mut Vec<VertexId>) -> Result<()> {
        vertices.iter().try_for_each(|&v| self.offer_chain(v))
    }
}
