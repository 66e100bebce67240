//! Scans over one complete layer whose lists are compressed.
//!
//! Each worker decodes into a buffer of its own: lists as a whole, so that a visit sees what it would see of
//! an array; but only a few arcs first for visitors that soon have enough. Only the loop around the decoder
//! is compiled for each visitor. Pieces of a huge list begin with blocks, which decode independently.

use std::cell::RefCell;
use std::ops::Range;

use esker_graph::{
    BATCH_LEN, Extents, Flow, HUGE_LEN, Layout, Run, Select, Stop, VertexId, Visitor, scan, vertex,
};

use crate::graph::mapped::list_decoder::{ArcRange, Decoded, ListDecoder};
use crate::graph::weight::ColumnWeight;
use crate::layer::{CodedLists, Index, ListPlace, ListPlaces};

thread_local! {
    /// Buffers for point reads. Several, because such reads are nested.
    static BUFFERS: RefCell<Vec<Vec<VertexId>>> = const { RefCell::new(Vec::new()) };
}

/// One direction of a compressed layer, verified.
#[derive(Debug)]
pub(crate) struct Compressed<'a, W> {
    offer: ListDecoder<'a, W>,
    huge_len: usize,
}

impl<'a, W: ColumnWeight> Compressed<'a, W> {
    pub(crate) fn new(lists: CodedLists<'a>, weights: &'a [W]) -> Self {
        Self { offer: ListDecoder::new(lists, weights), huge_len: HUGE_LEN }
    }

    /// Shares lists that are longer than this.
    #[cfg(test)]
    pub(crate) fn with_huge_len(self, huge_len: usize) -> Self {
        Self { huge_len, ..self }
    }

    pub(crate) fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>, Stop> {
        scan(self, run, select, visitor)
    }

    /// Calls `f` with a whole list.
    #[inline]
    pub(crate) fn with_list<R>(&self, v: VertexId, f: impl FnOnce(&[VertexId], &[W]) -> R) -> R {
        let place = self.index().place(v as usize);
        let mut buffer = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
        let targets = self.offer.lists.piece(v, place, 0..place.degree, &mut buffer);
        let result = f(targets, &self.offer.weights[place.arc..place.arc + place.degree]);
        BUFFERS.with_borrow_mut(|buffers| buffers.push(buffer));
        result
    }

    /// Decodes its lists and hands them over.
    pub(crate) fn offers(&self) -> &ListDecoder<'a, W> {
        &self.offer
    }

    /// The longest list that one worker hands over by itself.
    pub(crate) fn huge_len(&self) -> usize {
        self.huge_len
    }

    #[inline(always)]
    fn index(&self) -> Index<'a> {
        self.offer.lists.index()
    }

    /// Hands over the list of `v`, unless it is huge.
    #[inline(always)]
    fn offer<V: Visitor<W>>(
        &self,
        visitor: &V,
        state: &mut V::State,
        decoded: &mut Decoded,
        v: VertexId,
        place: ListPlace,
        huge: &mut Vec<VertexId>,
    ) {
        if !visitor.wants(v) {
            return;
        }
        if place.degree > self.huge_len {
            huge.push(v);
        } else {
            self.offer.arcs(visitor, state, decoded, ArcRange::whole(v, place));
        }
    }
}

/// A worker's buffer for decoded targets, and the places of the current block.
pub(crate) struct Buffer {
    decoded: Decoded,
    places: ListPlaces,
}

impl<W: ColumnWeight> Extents for Compressed<'_, W> {
    fn num_vertices(&self) -> usize {
        self.index().len()
    }

    fn entries_before(&self, v: usize) -> usize {
        v + self.index().before(v)
    }

    fn degree(&self, v: VertexId) -> usize {
        self.index().degree(v as usize)
    }
}

impl<W: ColumnWeight> Layout<W> for Compressed<'_, W> {
    type Buffer = Buffer;

    const ROWS: bool = true;

    fn new_buffer(&self, stops: bool, deterministic: bool) -> Buffer {
        Buffer { decoded: Decoded::new(stops, deterministic), places: ListPlaces::default() }
    }

    #[inline(always)]
    fn visit_block<V: Visitor<W>>(
        &self,
        visitor: &V,
        state: &mut V::State,
        buffer: &mut Buffer,
        first: usize,
        mut wanted: u64,
        huge: &mut Vec<VertexId>,
    ) {
        let Buffer { decoded, places } = buffer;
        self.offer.lists.places(first, places);
        let decodes_whole = !V::STOPS || decoded.is_whole();
        while wanted != 0 {
            let index = wanted.trailing_zeros() as usize;
            let (v, place) = (vertex(first + index), places.at(index));
            if decodes_whole && place.degree <= self.huge_len {
                wanted &= !self.offer.group(visitor, state, decoded, places, wanted, self.huge_len);
            } else {
                wanted &= wanted - 1;
                self.offer(visitor, state, decoded, v, place, huge);
            }
        }
    }

    /// The lists of a batch are located first, so that the processor's waits for memory overlap.
    #[inline(always)]
    fn visit_batch<V: Visitor<W>>(
        &self,
        visitor: &V,
        state: &mut V::State,
        buffer: &mut Buffer,
        batch: &[VertexId],
        huge: &mut Vec<VertexId>,
    ) {
        let mut places = [ListPlace::default(); BATCH_LEN];
        for (place, &v) in places.iter_mut().zip(batch) {
            *place = self.index().place(v as usize);
        }
        places[..batch.len()].iter().for_each(|&place| self.offer.lists.touch(place));
        for (&place, &v) in places.iter().zip(batch) {
            self.offer(visitor, state, &mut buffer.decoded, v, place, huge);
        }
    }

    fn visit_piece<V: Visitor<W>>(
        &self,
        visitor: &V,
        state: &mut V::State,
        buffer: &mut Buffer,
        v: VertexId,
        arcs: Range<usize>,
        exclusive: bool,
    ) -> Flow {
        let place = self.index().place(v as usize);
        let part = ArcRange { v, place, arcs, exclusive };
        self.offer.arcs(visitor, state, &mut buffer.decoded, part)
    }
}
