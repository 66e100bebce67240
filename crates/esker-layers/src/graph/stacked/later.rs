//! What later layers add to a complete layer, gathered in memory: one list a vertex, without what was deleted since.
//!
//! Scans that follow chains take several times as long as scans of these lists.

use std::ops::Range;

use esker_format::{Error, Result};
use esker_graph::{
    AnyVisitor, Bitmap, Flow, Piece, Reservation, Run, SINK_BATCH_MAX, Select, Sink, VertexId, vertex,
};

use crate::graph::chains::ChainArcs;
use crate::graph::missing::UNIT_LEN;
use crate::graph::weight::ColumnWeight;
use crate::tiles::reach;

/// Arcs that a thread takes of a scan at a time, or more by the last 64 vertices.
const STRETCH_ARCS: usize = 1 << 15;
/// Arcs that are handed over at once, so that cancellation is never late.
const PIECE_LEN_MAX: usize = 1 << 20;
/// Vertices of a selected list that a thread takes at a time.
const LIST_LEN: usize = 1 << 10;

/// The gathered lists of one direction.
#[derive(Debug)]
pub(super) struct LaterRows<W> {
    /// One for each [`UNIT_LEN`] vertices.
    units: Vec<LaterUnit<W>>,
    /// Units of work for threads: a unit and a range of its lists. No two share a group of 64 vertices, so their bitmap words are apart.
    stretches: Vec<(usize, Range<usize>)>,
    _memory: Reservation,
}

/// The lists of some vertices.
#[derive(Debug, Default)]
pub(super) struct LaterUnit<W> {
    /// The first vertex.
    first: usize,
    /// Those with lists, ascending, less the first.
    vertices: Box<[u16]>,
    /// Where the list of each ends.
    ends: Box<[u32]>,
    targets: Box<[VertexId]>,
    weights: Box<[W]>,
}

impl<W: ColumnWeight> LaterRows<W> {
    /// Bytes of `num_arcs` arcs of `num_vertices` vertices, at most.
    pub(super) fn bytes(num_vertices: u64, num_arcs: u64) -> u64 {
        let lists = num_arcs.min(num_vertices) * (size_of::<u16>() + size_of::<u32>()) as u64;
        lists + num_arcs * (size_of::<VertexId>() + size_of::<W>()) as u64
    }

    /// Of consecutive units, from the first vertex on.
    pub(super) fn new(units: Vec<LaterUnit<W>>, memory: Reservation) -> Self {
        let stretches = units
            .iter()
            .enumerate()
            .flat_map(|(at, unit)| unit.stretches().into_iter().map(move |range| (at, range)));
        Self { stretches: stretches.collect(), units, _memory: memory }
    }

    /// Hands over the lists of the selected vertices that are not `done`.
    pub(super) fn scan(
        &self,
        run: &Run,
        select: Select<'_>,
        done: Option<&Bitmap>,
        visitor: &dyn AnyVisitor<W>,
    ) -> Result<()> {
        let bits = match select {
            Select::All => None,
            Select::Bits(bits) => Some(bits),
            Select::List(list) => return self.scan_list(run, list, done, visitor),
        };
        let is_selected = |v| bits.is_none_or(|bits| bits.get(v)) && done.is_none_or(|done| !done.get(v));
        run.share(
            self.stretches.len(),
            || visitor.sink(),
            |sink, at| {
                let (unit, range) = &self.stretches[at];
                self.units[*unit].hand_over(&mut **sink, range.clone(), is_selected);
                Ok::<_, Error>(())
            },
        )?;
        Ok(())
    }

    fn scan_list(
        &self,
        run: &Run,
        list: &[VertexId],
        done: Option<&Bitmap>,
        visitor: &dyn AnyVisitor<W>,
    ) -> Result<()> {
        let is_wanted = |v| done.is_none_or(|done| !done.get(v)) && visitor.wants(v);
        let chunks: Vec<_> = list.chunks(LIST_LEN).collect();
        run.share(
            chunks.len(),
            || visitor.sink(),
            |sink, at| {
                let mut cursor = RowCursor::default();
                for &v in chunks[at].iter().filter(|&&v| is_wanted(v)) {
                    self.hand_over_list(&mut **sink, v, &mut cursor);
                }
                Ok::<_, Error>(())
            },
        )?;
        Ok(())
    }

    /// Hands over the list of a vertex, if it has one. Fast if the vertex is not far behind that of `cursor`.
    pub(super) fn hand_over_list(&self, sink: &mut dyn Sink<W>, v: VertexId, cursor: &mut RowCursor) -> Flow {
        let (unit, within) = (v as usize / UNIT_LEN, (v as usize % UNIT_LEN) as u16);
        let Some(lists) = self.units.get(unit) else { return Flow::More };
        let is_ahead = cursor.unit == unit && cursor.within <= within;
        let from = if is_ahead { cursor.slot } else { 0 };
        let slot = from + reach(&lists.vertices[from..], |other| other < within);
        *cursor = RowCursor { unit, within, slot };
        match lists.vertices.get(slot) {
            Some(&other) if other == within => lists.hand_over_one(sink, slot),
            _ => Flow::More,
        }
    }
}

/// Where the list of a vertex was sought last.
#[derive(Debug, Default)]
pub(super) struct RowCursor {
    unit: usize,
    /// The vertex in the unit.
    within: u16,
    /// The first list that is not of a vertex before it.
    slot: usize,
}

impl<W: ColumnWeight> LaterUnit<W> {
    /// The lists of some vertices from `first` on, and where each ends.
    pub(super) fn new(first: usize, lists: &[(VertexId, u32)], arcs: &ChainArcs<W>) -> Self {
        Self {
            first,
            vertices: lists.iter().map(|list| (list.0 as usize - first) as u16).collect(),
            ends: lists.iter().map(|list| list.1).collect(),
            targets: arcs.targets.as_slice().into(),
            weights: arcs.weights.as_slice().into(),
        }
    }

    fn vertex(&self, slot: usize) -> VertexId {
        vertex(self.first + usize::from(self.vertices[slot]))
    }

    fn list(&self, slot: usize) -> Range<usize> {
        let start = if slot == 0 { 0 } else { self.ends[slot - 1] as usize };
        start..self.ends[slot] as usize
    }

    /// Ranges of lists with about [`STRETCH_ARCS`] arcs each.
    fn stretches(&self) -> Vec<Range<usize>> {
        let (mut all, mut start, mut arcs) = (Vec::new(), 0, 0);
        for slot in 0..self.vertices.len() {
            let is_other_word = |before: usize| self.vertices[before] / 64 != self.vertices[slot] / 64;
            if arcs >= STRETCH_ARCS && is_other_word(slot - 1) {
                all.push(start..slot);
                (start, arcs) = (slot, 0);
            }
            arcs += self.list(slot).len();
        }
        if start < self.vertices.len() {
            all.push(start..self.vertices.len());
        }
        all
    }

    fn piece(&self, range: Range<usize>) -> Piece<'_, W> {
        Piece { targets: &self.targets[range.clone()], weights: &self.weights[range], exclusive: true }
    }

    fn hand_over_one(&self, sink: &mut dyn Sink<W>, slot: usize) -> Flow {
        let (v, list) = (self.vertex(slot), self.list(slot));
        for start in list.clone().step_by(PIECE_LEN_MAX) {
            if sink.visit_one(v, self.piece(start..list.end.min(start + PIECE_LEN_MAX))) == Flow::Enough {
                return Flow::Enough;
            }
        }
        Flow::More
    }

    fn hand_over(&self, sink: &mut dyn Sink<W>, slots: Range<usize>, is_selected: impl Fn(VertexId) -> bool) {
        let mut batch = Vec::with_capacity(SINK_BATCH_MAX);
        for slot in slots {
            let (v, list) = (self.vertex(slot), self.list(slot));
            if !is_selected(v) {
                continue;
            }
            if list.len() > PIECE_LEN_MAX {
                self.hand_over_one(sink, slot);
                continue;
            }
            batch.push((v, self.piece(list)));
            if batch.len() == SINK_BATCH_MAX {
                sink.visit(&batch);
                batch.clear();
            }
        }
        if !batch.is_empty() {
            sink.visit(&batch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_cover_all_lists_and_share_no_word_of_vertices() {
        let lengths = (0..3000_usize).map(|slot| if slot == 700 { 3 * STRETCH_ARCS } else { slot % 200 });
        let ends = lengths.scan(0, |end, len| {
            *end += len as u32 + 1;
            Some(*end)
        });
        let lists: Vec<_> = (0..3000).map(|slot| vertex(2 * slot + slot / 5)).zip(ends).collect();
        let num_arcs = lists[lists.len() - 1].1 as usize;
        let arcs = ChainArcs { targets: vec![0; num_arcs], weights: vec![(); num_arcs] };
        let unit = LaterUnit::new(0, &lists, &arcs);
        let stretches = unit.stretches();
        assert!(stretches.len() > 5, "{} stretches", stretches.len());
        assert_eq!((stretches[0].start, stretches[stretches.len() - 1].end), (0, 3000));
        for pair in stretches.windows(2) {
            assert_eq!(pair[0].end, pair[1].start);
            assert!(unit.vertices[pair[0].end - 1] / 64 < unit.vertices[pair[1].start] / 64);
        }
    }
}
