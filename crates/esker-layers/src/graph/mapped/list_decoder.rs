//! Decodes compressed lists and hands them to visitors.

use std::ops::Range;

use esker_graph::{Flow, Piece, RowBlock, Sink, VertexId, Visitor, ones, vertex};

use crate::graph::weight::ColumnWeight;
use crate::layer::{BLOCK_LEN, CodedLists, ListPlace, ListPlaces};

/// The longest pieces of lists: of whole blocks, and the same whatever the number of threads.
pub(crate) const PIECE_LEN: usize = 1 << 16;
/// Arcs that are decoded first for a visitor that may have enough: those of one step of the decoder.
const FIRST_LEN: usize = 17;
/// Arcs that are decoded next for such a visitor; then four times as many. Of whole blocks.
const SECOND_LEN: usize = 4 * BLOCK_LEN;

/// Whether some bits are one, and all of these are neighbours.
#[inline(always)]
fn is_run(bits: u64) -> bool {
    let shifted = bits >> bits.trailing_zeros().min(63);
    bits != 0 && shifted & shifted.wrapping_add(1) == 0
}

/// A worker's buffer for decoded targets, and how much to decode at a time: whole lists, or few arcs first.
/// Few arcs first pay only for visitors that often stop early, so the answers of the visitor decide how the
/// next list begins.
#[derive(Debug)]
pub(crate) struct Decoded {
    targets: Vec<VertexId>,
    /// Lists are decoded as a whole while it is positive.
    score: i8,
    learns: bool,
}

impl Decoded {
    /// `stops`: whether the visitor may have enough. In a deterministic run, pieces must not depend on what a
    /// worker met before.
    pub(crate) fn new(stops: bool, deterministic: bool) -> Self {
        let learns = stops && !deterministic;
        Self { targets: Vec::new(), score: if learns { 0 } else { 1 }, learns }
    }

    /// Whether lists are decoded as a whole.
    #[inline(always)]
    pub(crate) fn is_whole(&self) -> bool {
        self.score > 0
    }

    /// A list has been handed over, as far as it was wanted.
    #[inline(always)]
    fn learn(&mut self, flow: Flow) {
        if self.learns {
            let change = if flow == Flow::Enough { -4 } else { 1 };
            self.score = (self.score + change).clamp(-16, 16);
        }
    }

    /// Lists have been handed over: some had enough, of others more was wanted.
    fn learn_all(&mut self, enough: u32, more: u32) {
        if self.learns {
            self.score = (i32::from(self.score) - 4 * enough as i32 + more as i32).clamp(-16, 16) as i8;
        }
    }

    /// Room for targets.
    pub(crate) fn targets(&mut self) -> &mut Vec<VertexId> {
        &mut self.targets
    }
}

/// A range of the arcs of a compressed list.
#[derive(Debug, Clone)]
pub(crate) struct ArcRange {
    pub(crate) v: VertexId,
    pub(crate) place: ListPlace,
    pub(crate) arcs: Range<usize>,
    /// Whether no other thread holds another part of the list: see [`Piece::exclusive`].
    pub(crate) exclusive: bool,
}

impl ArcRange {
    /// The whole list of `v`.
    #[inline(always)]
    pub(crate) fn whole(v: VertexId, place: ListPlace) -> Self {
        Self { v, place, arcs: 0..place.degree, exclusive: true }
    }
}

/// Decodes lists and hands them over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListDecoder<'a, W> {
    pub(crate) lists: CodedLists<'a>,
    /// Beside the arcs from the first on.
    pub(crate) weights: &'a [W],
    first_arc: usize,
    second_len: usize,
}

impl<'a, W: ColumnWeight> ListDecoder<'a, W> {
    /// Hands over all lists.
    pub(crate) fn new(lists: CodedLists<'a>, weights: &'a [W]) -> Self {
        Self { lists, weights, first_arc: 0, second_len: SECOND_LEN }
    }

    /// Hands over some lists. Their pieces begin with their first blocks. `weights` begin with that of
    /// `first_arc`.
    pub(crate) fn some(lists: CodedLists<'a>, weights: &'a [W], first_arc: usize) -> Self {
        Self { lists, weights, first_arc, second_len: PIECE_LEN }
    }

    #[inline(always)]
    fn weights(&self, first: usize, len: usize) -> &'a [W] {
        &self.weights[first - self.first_arc..first - self.first_arc + len]
    }

    /// Hands over whole lists of the group at `places`: those whose bits are set in `wanted`, up to the first
    /// of more than `longest` arcs, or as many as are decoded together. Returns the bits of these. First they
    /// are decoded, then they are visited, so that neither waits for the other.
    #[inline(always)]
    pub(crate) fn group<V: Visitor<W>>(
        &self,
        visitor: &V,
        state: &mut V::State,
        decoded: &mut Decoded,
        places: &ListPlaces,
        wanted: u64,
        longest: usize,
    ) -> u64 {
        let (done, first) =
            (self.lists.decode_group(places, wanted, longest, &mut decoded.targets), places.first());
        if V::ROWS && is_run(done) {
            let index = done.trailing_zeros() as usize;
            let bounds = places.bounds(index, done.count_ones() as usize);
            let (begin, end) = (bounds[0] as usize, bounds[bounds.len() - 1] as usize);
            let (targets, weights) = (&decoded.targets[..end - begin], self.weights(begin, end - begin));
            let first = vertex(first + index);
            visitor.visit_rows(state, RowBlock { first, offsets: bounds, targets, weights });
            return done;
        }
        let (mut remaining, mut start) = (done, 0);
        while remaining != 0 {
            let index = remaining.trailing_zeros() as usize;
            remaining &= remaining - 1;
            let place = places.at(index);
            let targets = &decoded.targets[start..start + place.degree];
            start += place.degree;
            let v = vertex(first + index);
            if !targets.is_empty() && visitor.wants(v) {
                let weights = self.weights(place.arc, place.degree);
                let flow = visitor.visit(state, v, Piece { targets, weights, exclusive: true });
                decoded.learn(flow);
            }
        }
        done
    }

    /// As [`ListDecoder::group`], with one call of the sink.
    pub(crate) fn group_into(
        &self,
        sink: &mut dyn Sink<W>,
        decoded: &mut Decoded,
        places: &ListPlaces,
        wanted: u64,
        longest: usize,
    ) -> u64 {
        let done = self.lists.decode_group(places, wanted, longest, &mut decoded.targets);
        let (mut batch, mut start) = (Vec::with_capacity(done.count_ones() as usize), 0);
        for index in ones(done) {
            let place = places.at(index);
            let targets = &decoded.targets[start..start + place.degree];
            start += place.degree;
            if !targets.is_empty() {
                let weights = self.weights(place.arc, place.degree);
                batch.push((vertex(places.first() + index), Piece { targets, weights, exclusive: true }));
            }
        }
        let enough = sink.visit(&batch).count_ones();
        let len = batch.len();
        decoded.learn_all(enough, len as u32 - enough);
        done
    }

    /// Hands over the lists of a block of 64 vertices whose bits are set in `wanted`.
    pub(crate) fn block_into(
        &self,
        sink: &mut dyn Sink<W>,
        decoded: &mut Decoded,
        places: &ListPlaces,
        mut wanted: u64,
    ) {
        while wanted != 0 {
            let index = wanted.trailing_zeros() as usize;
            let place = places.at(index);
            if decoded.is_whole() && place.degree <= PIECE_LEN {
                wanted &= !self.group_into(sink, decoded, places, wanted, PIECE_LEN);
            } else {
                wanted &= wanted - 1;
                self.list_into(sink, decoded, vertex(places.first() + index), place);
            }
        }
    }

    /// Hands over a list in pieces. No other thread holds a part of the list.
    pub(crate) fn list_into(
        &self,
        sink: &mut dyn Sink<W>,
        decoded: &mut Decoded,
        v: VertexId,
        place: ListPlace,
    ) -> Flow {
        for first in (0..place.degree).step_by(PIECE_LEN) {
            let arcs = first..place.degree.min(first + PIECE_LEN);
            if self.piece_into(sink, decoded, ArcRange { v, place, arcs, exclusive: true }) == Flow::Enough {
                return Flow::Enough;
            }
        }
        Flow::More
    }

    /// As [`ListDecoder::arcs`], to a sink.
    pub(crate) fn piece_into(&self, sink: &mut dyn Sink<W>, decoded: &mut Decoded, part: ArcRange) -> Flow {
        let v = part.v;
        self.pieces(!decoded.is_whole(), decoded, part, |piece| sink.visit_one(v, piece))
    }

    /// Hands over a part of a list that begins with a block.
    #[inline(always)]
    pub(crate) fn arcs<V: Visitor<W>>(
        &self,
        visitor: &V,
        state: &mut V::State,
        decoded: &mut Decoded,
        part: ArcRange,
    ) -> Flow {
        let v = part.v;
        let visit = |piece: Piece<'_, W>| visitor.visit(state, v, piece);
        self.pieces(V::STOPS && !decoded.is_whole(), decoded, part, visit)
    }

    /// Calls `visit` with the pieces of a part of a list that begins with a block: with few arcs first if the
    /// visitor may soon have enough.
    #[inline(always)]
    fn pieces(
        &self,
        stops: bool,
        decoded: &mut Decoded,
        part: ArcRange,
        mut visit: impl FnMut(Piece<'_, W>) -> Flow,
    ) -> Flow {
        let ArcRange { v, place, arcs, exclusive } = part;
        let Range { start: mut first, end: last } = arcs;
        if first == last {
            return Flow::More;
        }
        let mut piece = |targets: &[VertexId], first: usize| {
            let weights = self.weights(place.arc + first, targets.len());
            visit(Piece { targets, weights, exclusive })
        };
        if stops && first == 0 {
            // Early exits usually need two neighbours; emit those undecoded.
            let targets = self.lists.first_two(v, place);
            first = last.min(2);
            if piece(&targets[..first], 0) == Flow::Enough {
                decoded.learn(Flow::Enough);
                return Flow::Enough;
            }
        }
        let mut end = if stops { first - first % BLOCK_LEN + FIRST_LEN } else { last };
        let mut next_len = self.second_len;
        let mut flow = Flow::More;
        while first < last && flow == Flow::More {
            flow = piece(self.lists.piece(v, place, first..end.min(last), &mut decoded.targets), first);
            first = end;
            end = end - end % BLOCK_LEN + next_len;
            next_len = (4 * next_len).min(PIECE_LEN);
        }
        decoded.learn(flow);
        flow
    }
}
