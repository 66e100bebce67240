//! Scans compiled for each visitor: arrays in memory and mapped files, plain or compressed.
//!
//! A [`Layout`] says where lists lie and how they are decoded; [`scan`] gives its loops to the driver. Graphs
//! whose lists come from elsewhere are a [`crate::Source`].

use parking_lot::Mutex;
use std::ops::Range;

use crate::bitmap::Bitmap;
use crate::drive::{Extents, ScanWorker, Units, drive};
use crate::graph::{Flow, Select, Visitor};
use crate::id::{VertexId, vertex};
use crate::run::Run;
use crate::stop::Stop;

/// Longer lists are handed over last, in pieces that all threads share: a thread that met one within a unit
/// of work would still be busy with it when the others are done.
pub const HUGE_LEN: usize = 1 << 18;
/// Vertices of a selected list that are located side by side.
pub const BATCH_LEN: usize = 16;
/// Where fewer vertices of a block of 64 are wanted, the sizes of their lists are read one by one.
const FEW_WANTED: u32 = 16;

/// Where the lists of one direction lie, and how they are decoded.
pub trait Layout<W>: Extents {
    /// What a worker decodes into.
    type Buffer: Send;

    /// Whether blocks of vertices are handed over by [`Visitor::visit_rows`] to visitors that have it.
    /// Vertices that have no neighbours may then be among those wanted.
    const ROWS: bool = false;

    /// A buffer; `stops` is [`Visitor::STOPS`].
    fn new_buffer(&self, stops: bool, deterministic: bool) -> Self::Buffer;

    /// Whether `v` may have neighbours; cheap.
    #[inline(always)]
    fn may_have_arcs(&self, _v: usize) -> bool {
        true
    }

    /// Hands over lists of the 64 vertices from `first` on: those whose bits are set in `wanted`. Lists of
    /// more than [`HUGE_LEN`] arcs go to `huge`.
    fn visit_block<V: Visitor<W>>(
        &self,
        visitor: &V,
        state: &mut V::State,
        buffer: &mut Self::Buffer,
        first: usize,
        wanted: u64,
        huge: &mut Vec<VertexId>,
    );

    /// Hands over the lists of at most [`BATCH_LEN`] vertices, in any order of vertices, if they are still
    /// wanted.
    fn visit_batch<V: Visitor<W>>(
        &self,
        visitor: &V,
        state: &mut V::State,
        buffer: &mut Self::Buffer,
        batch: &[VertexId],
        huge: &mut Vec<VertexId>,
    );

    /// Hands over some arcs of a list; `exclusive`: see [`crate::Piece`].
    fn visit_piece<V: Visitor<W>>(
        &self,
        visitor: &V,
        state: &mut V::State,
        buffer: &mut Self::Buffer,
        v: VertexId,
        arcs: Range<usize>,
        exclusive: bool,
    ) -> Flow;
}

/// Scans a layout: see [`crate::Graph::scan`].
///
/// # Errors
/// [`Stop::Cancelled`].
pub fn scan<W, L: Layout<W>, V: Visitor<W>>(
    layout: &L,
    run: &Run,
    select: Select<'_>,
    visitor: &V,
) -> Result<Vec<V::State>, Stop> {
    let states = Mutex::new(Vec::new());
    drive(run, layout, Units::default(), select, &|| {
        let (state, buffer) = (visitor.new_state(), layout.new_buffer(V::STOPS, run.deterministic()));
        Box::new(LayoutWorker { layout, visitor, state: Some(state), buffer, states: &states })
    })?;
    Ok(states.into_inner())
}

struct LayoutWorker<'p, W, L: Layout<W>, V: Visitor<W>> {
    layout: &'p L,
    visitor: &'p V,
    /// Present until the worker is dropped.
    state: Option<V::State>,
    buffer: L::Buffer,
    /// Takes the state when the worker is dropped.
    states: &'p Mutex<Vec<V::State>>,
}

impl<W, L: Layout<W>, V: Visitor<W>> Drop for LayoutWorker<'_, W, L, V> {
    fn drop(&mut self) {
        self.states.lock().extend(self.state.take());
    }
}

impl<W, L: Layout<W>, V: Visitor<W>> ScanWorker<Stop> for LayoutWorker<'_, W, L, V> {
    /// Which vertices of a block are wanted and have neighbours is found first, without a branch for each.
    fn range(
        &mut self,
        vertices: Range<usize>,
        bits: Option<&Bitmap>,
        huge: &mut Vec<VertexId>,
    ) -> Result<(), Stop> {
        let Self { layout, visitor, state: Some(state), buffer, .. } = self else { return Ok(()) };
        for first in vertices.clone().step_by(64) {
            let wanted = match bits {
                // Such a visitor wants every vertex.
                None if V::ROWS && L::ROWS => u64::MAX >> (64 - (vertices.end - first).min(64)),
                None => {
                    let block = first..vertices.end.min(first + 64);
                    let mut wanted = 0;
                    for (i, v) in block.clone().enumerate() {
                        wanted |= u64::from(visitor.wants(vertex(v))) << i;
                    }
                    // Where little is wanted, the index of the lists is not read for the others.
                    if wanted.count_ones() >= FEW_WANTED {
                        let mut has_arcs = 0;
                        for (i, v) in block.enumerate() {
                            has_arcs |= u64::from(layout.may_have_arcs(v)) << i;
                        }
                        wanted &= has_arcs;
                    }
                    wanted
                }
                Some(bits) => wanted_of(*visitor, first, bits.word(first / 64)),
            };
            if wanted != 0 {
                layout.visit_block(*visitor, state, buffer, first, wanted, huge);
            }
        }
        Ok(())
    }

    fn list(&mut self, vertices: &[VertexId], huge: &mut Vec<VertexId>) -> Result<(), Stop> {
        let Self { layout, visitor, state: Some(state), buffer, .. } = self else { return Ok(()) };
        for batch in vertices.chunks(BATCH_LEN) {
            layout.visit_batch(*visitor, state, buffer, batch, huge);
        }
        Ok(())
    }

    fn piece(&mut self, v: VertexId, arcs: Range<usize>, exclusive: bool) -> Result<Flow, Stop> {
        let Self { layout, visitor, state: Some(state), buffer, .. } = self else { return Ok(Flow::More) };
        if !visitor.wants(v) {
            return Ok(Flow::Enough);
        }
        Ok(layout.visit_piece(*visitor, state, buffer, v, arcs, exclusive))
    }
}

/// Those of the 64 vertices from `first` on that are selected and wanted.
#[inline(always)]
pub(crate) fn wanted_of<W>(visitor: &impl Visitor<W>, first: usize, selected: u64) -> u64 {
    let mut wanted = selected;
    for i in ones(selected) {
        let is = visitor.wants(vertex(first + i));
        wanted &= !(u64::from(!is) << i);
    }
    wanted
}

/// The numbers of the bits of a word that are one, ascending.
#[inline(always)]
pub fn ones(mut word: u64) -> impl Iterator<Item = usize> + Clone {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            bit
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_bits() {
        assert_eq!(ones(0).count(), 0);
        assert_eq!(ones(1 << 63 | 0b101).collect::<Vec<_>>(), [0, 2, 63]);
    }
}
