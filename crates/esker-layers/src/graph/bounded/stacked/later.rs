//! The arcs that later layers add to a complete layer, gathered in memory: one list a vertex, without the
//! arcs that were deleted since.
//!
//! Scans that follow chains take several times as long as scans of these lists.

use std::ops::Range;

use esker_format::{Error, Result};
use esker_graph::{
    AnyVisitor, Bitmap, Flow, Piece, Reservation, Run, SINK_BATCH_MAX, Select, Sink, VertexId, vertex,
};

use super::growing::GrowingArcs;
use crate::graph::arc_sets::unit::{UNIT_LEN, UnitLists};
use crate::graph::weight::ColumnWeight;

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
    /// The units of work of threads: the number of a unit, and some of its groups of 64 vertices. No two
    /// threads write to one word of a bitmap.
    stretches: Vec<(usize, Range<usize>)>,
    _memory: Reservation,
}

/// The lists of some vertices.
#[derive(Debug, Default)]
pub(super) struct LaterUnit<W> {
    /// The first vertex.
    first: usize,
    lists: UnitLists,
    targets: Box<[VertexId]>,
    weights: Box<[W]>,
}

impl<W: ColumnWeight> LaterRows<W> {
    /// Bytes of `num_arcs` arcs of `num_vertices` vertices, at most.
    pub(super) fn bytes(num_vertices: u64, num_arcs: u64) -> u64 {
        let lists = UnitLists::bytes(num_vertices, num_arcs.min(num_vertices), num_arcs);
        lists + num_arcs * (size_of::<VertexId>() + size_of::<W>()) as u64
    }

    /// The rows of consecutive units, from the first vertex on.
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
                for &v in chunks[at].iter().filter(|&&v| is_wanted(v)) {
                    self.hand_over_list(&mut **sink, v);
                }
                Ok::<_, Error>(())
            },
        )?;
        Ok(())
    }

    /// Hands over the list of a vertex, if it has one.
    pub(super) fn hand_over_list(&self, sink: &mut dyn Sink<W>, v: VertexId) -> Flow {
        let Some(unit) = self.units.get(v as usize / UNIT_LEN) else { return Flow::More };
        let list = unit.lists.entries(v as usize % UNIT_LEN);
        if list.is_empty() { Flow::More } else { unit.hand_over_one(sink, v, list) }
    }
}

impl<W: ColumnWeight> LaterUnit<W> {
    /// The lists of some vertices from `first` on, and where each ends.
    pub(super) fn new(first: usize, lists: &[(VertexId, u32)], arcs: GrowingArcs<W>) -> Self {
        let (targets, weights) = arcs.into_boxes();
        Self { first, lists: UnitLists::new(lists), targets, weights }
    }

    /// Ranges of groups of 64 vertices whose lists have about [`STRETCH_ARCS`] arcs each.
    fn stretches(&self) -> Vec<Range<usize>> {
        let (mut all, mut start) = (Vec::new(), 0);
        for word in 0..self.lists.num_words() {
            if self.lists.entries_of_words(start..word + 1).len() >= STRETCH_ARCS {
                all.push(start..word + 1);
                start = word + 1;
            }
        }
        if !self.lists.entries_of_words(start..self.lists.num_words()).is_empty() {
            all.push(start..self.lists.num_words());
        }
        all
    }

    fn piece(&self, range: Range<usize>) -> Piece<'_, W> {
        Piece { targets: &self.targets[range.clone()], weights: &self.weights[range], exclusive: true }
    }

    fn hand_over_one(&self, sink: &mut dyn Sink<W>, v: VertexId, list: Range<usize>) -> Flow {
        for start in list.clone().step_by(PIECE_LEN_MAX) {
            if sink.visit_one(v, self.piece(start..list.end.min(start + PIECE_LEN_MAX))) == Flow::Enough {
                return Flow::Enough;
            }
        }
        Flow::More
    }

    fn hand_over(&self, sink: &mut dyn Sink<W>, words: Range<usize>, is_selected: impl Fn(VertexId) -> bool) {
        let mut batch = Vec::with_capacity(SINK_BATCH_MAX);
        for (within, list) in self.lists.iter_words(words) {
            let v = vertex(self.first + within);
            if !is_selected(v) {
                continue;
            }
            if list.len() > PIECE_LEN_MAX {
                self.hand_over_one(sink, v, list);
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
        let lengths = (0..3000_usize).map(|list| if list == 700 { 3 * STRETCH_ARCS } else { list % 200 });
        let ends = lengths.scan(0, |end, len| {
            *end += len as u32 + 1;
            Some(*end)
        });
        let lists: Vec<_> = (0..3000).map(|list| vertex(2 * list + list / 5)).zip(ends).collect();
        let num_arcs = lists[lists.len() - 1].1 as usize;
        let mut arcs = GrowingArcs::default();
        arcs.append(&vec![0; num_arcs], &vec![(); num_arcs]);
        let unit = LaterUnit::new(0, &lists, arcs);
        let stretches = unit.stretches();
        assert!(stretches.len() > 5, "{} stretches", stretches.len());
        let found: Vec<_> = stretches
            .iter()
            .flat_map(|words| unit.lists.iter_words(words.clone()))
            .map(|list| vertex(list.0))
            .collect();
        assert!(found.iter().eq(lists.iter().map(|list| &list.0)));
        assert!(stretches.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
}
