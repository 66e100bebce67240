//! What later layers add to a complete layer, gathered in memory: one list a vertex, without what was deleted since.
//!
//! Lists with tombstones are assembled along their chains, fragment by fragment. Scans that follow chains take several times as long as
//! scans of these lists, so all chains are followed once, before the first scan. Later layers are small beside the complete one.

use std::ops::Range;

use esker_format::{Error, Result};
use esker_graph::{
    AnyVisitor, Bitmap, Flow, Piece, Reservation, Run, SINK_BATCH_MAX, Select, Sink, VertexId, vertex,
};

use super::overlay::RangeChanges;
use crate::graph::chains::{ChainBuffers, LaterLayers};
use crate::graph::layered::Layered;
use crate::graph::weight::ColumnWeight;
use crate::stack::Stack;

/// Vertices whose lists are gathered in one step.
const UNIT_LEN: usize = 1 << 13;
/// Steps after which the mapped layers are released, so that they and the gathered lists are not in memory together.
const UNITS_MAPPED: usize = 32;
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
struct LaterUnit<W> {
    /// Those with lists, ascending.
    vertices: Box<[VertexId]>,
    /// Where the list of each ends.
    ends: Box<[usize]>,
    targets: Box<[VertexId]>,
    weights: Box<[W]>,
}

/// The lists of a unit while they are gathered; each unit then gets a copy without spare room.
#[derive(Default)]
struct LaterMaker<W> {
    vertices: Vec<VertexId>,
    ends: Vec<usize>,
    targets: Vec<VertexId>,
    weights: Vec<W>,
    chains: ChainBuffers,
    /// The units that this worker has finished, and what is left out of the complete layer's lists of their vertices.
    units: Vec<(usize, LaterUnit<W>, RangeChanges<W>)>,
}

impl<W: ColumnWeight> LaterRows<W> {
    /// Bytes of the lists, at most.
    fn bytes(of: &Layered<'_, W>) -> Result<u64> {
        let mut bytes = 0;
        for layer in 1..of.stack.layers().len() {
            let lists = of.stack.section(layer, of.direction)?.main();
            let past = of
                .stack
                .section(layer, of.direction)?
                .past()
                .map_or((0, 0), |past| (past.lists.num_lists(), past.lists.num_arcs()));
            let (lists, arcs) = (lists.num_lists() + past.0, lists.num_arcs() + past.1);
            bytes += lists * (size_of::<VertexId>() + size_of::<usize>());
            bytes += arcs * (size_of::<VertexId>() + size_of::<W>());
        }
        Ok(bytes as u64)
    }

    /// Gathers the lists. Their chains also say what is left out of the complete layer's lists, of consecutive ranges of vertices. `None` if
    /// there is no memory for the lists, or the complete layer is the only one: its past is not on chains.
    pub(super) fn gather(
        of: &Layered<'_, W>,
        property: u32,
        run: &Run,
    ) -> Result<Option<(Self, Vec<RangeChanges<W>>)>> {
        if of.stack.layers().len() < 2 {
            return Ok(None);
        }
        let Ok(memory) = run.budget().reserve("the arcs of later layers", Self::bytes(of)?) else {
            return Ok(None);
        };
        let n = of.stack.num_vertices();
        let layers = LaterLayers::new(of, run)?;
        release(of.stack, of, property)?;
        let workers = run.share(n.div_ceil(UNIT_LEN), LaterMaker::default, |into, unit| {
            if unit % UNITS_MAPPED == UNITS_MAPPED - 1 {
                release(of.stack, of, property)?;
            }
            into.gather(of, layers.as_ref(), unit, unit * UNIT_LEN..n.min((unit + 1) * UNIT_LEN))
        })?;
        release(of.stack, of, property)?;
        let mut units: Vec<_> = workers.into_iter().flat_map(|worker| worker.units).collect();
        units.sort_unstable_by_key(|unit| unit.0);
        let (units, left_out): (Vec<_>, Vec<_>) = units.into_iter().map(|unit| (unit.1, unit.2)).unzip();
        let stretches = units
            .iter()
            .enumerate()
            .flat_map(|(at, unit)| unit.stretches().into_iter().map(move |range| (at, range)));
        Ok(Some((Self { stretches: stretches.collect(), units, _memory: memory }, left_out)))
    }

    /// Hands over the lists of the selected vertices.
    pub(super) fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        let bits = match select {
            Select::All => None,
            Select::Bits(bits) => Some(bits),
            Select::List(list) => return self.scan_list(run, list, visitor),
        };
        run.share(
            self.stretches.len(),
            || visitor.sink(),
            |sink, at| {
                let (unit, range) = &self.stretches[at];
                self.units[*unit].hand_over(&mut **sink, range.clone(), bits);
                Ok::<_, Error>(())
            },
        )?;
        Ok(())
    }

    fn scan_list(&self, run: &Run, list: &[VertexId], visitor: &dyn AnyVisitor<W>) -> Result<()> {
        let chunks: Vec<_> = list.chunks(LIST_LEN).collect();
        run.share(
            chunks.len(),
            || visitor.sink(),
            |sink, at| {
                for &v in chunks[at].iter().filter(|&&v| visitor.wants(v)) {
                    let Some(unit) = self.units.get(v as usize / UNIT_LEN) else { continue };
                    if let Ok(slot) = unit.vertices.binary_search(&v) {
                        unit.hand_over(&mut **sink, slot..slot + 1, None);
                    }
                }
                Ok::<_, Error>(())
            },
        )?;
        Ok(())
    }
}

/// Gives up the memory of the mapped later layers.
fn release<W: ColumnWeight>(stack: &Stack, of: &Layered<'_, W>, property: u32) -> Result<()> {
    for layer in 1..stack.layers().len() {
        let section = stack.section(layer, of.direction)?;
        section.main().release();
        W::release(section.main(), property);
        section.dead().into_iter().for_each(|dead| dead.lists.release());
        section.past().into_iter().for_each(|past| past.lists.release());
    }
    Ok(())
}

impl<W: ColumnWeight> LaterMaker<W> {
    fn gather(
        &mut self,
        of: &Layered<'_, W>,
        layers: Option<&LaterLayers<'_, W>>,
        unit: usize,
        vertices: Range<usize>,
    ) -> Result<()> {
        let Self { vertices: sources, ends, targets, weights, units, chains } = self;
        sources.clear();
        ends.clear();
        targets.clear();
        weights.clear();
        let mut left_out = RangeChanges::default();
        let mut end_list = |v: VertexId, len: usize, dead: Option<&[VertexId]>| {
            if of.table.skipped(0).has(v as usize) {
                left_out.replace(v, dead.filter(|_| of.table.special().has(v as usize)));
            }
            if len > ends.last().copied().unwrap_or(0) {
                sources.push(v);
                ends.push(len);
            }
        };
        if let Some(layers) = layers {
            layers.for_each(vertices, chains, (targets, weights), end_list);
        } else {
            for v in of.table.chained().iter_range(vertices.start, vertices.end).map(vertex) {
                let dead = of.visit_chain(v, |stretch, some| {
                    targets.extend_from_slice(&stretch.targets);
                    weights.extend_from_slice(some);
                    Ok(Flow::More)
                })?;
                end_list(v, targets.len(), dead.as_deref());
            }
        }
        let made = LaterUnit {
            vertices: sources.as_slice().into(),
            ends: ends.as_slice().into(),
            targets: targets.as_slice().into(),
            weights: weights.as_slice().into(),
        };
        units.push((unit, made, left_out));
        Ok(())
    }
}

impl<W: ColumnWeight> LaterUnit<W> {
    fn list(&self, slot: usize) -> Range<usize> {
        let start = if slot == 0 { 0 } else { self.ends[slot - 1] };
        start..self.ends[slot]
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

    fn hand_over(&self, sink: &mut dyn Sink<W>, slots: Range<usize>, bits: Option<&Bitmap>) {
        let mut batch = Vec::with_capacity(SINK_BATCH_MAX);
        for slot in slots {
            let (v, list) = (self.vertices[slot], self.list(slot));
            if bits.is_some_and(|bits| !bits.get(v)) {
                continue;
            }
            let piece = |range: Range<usize>| Piece {
                targets: &self.targets[range.clone()],
                weights: &self.weights[range],
                exclusive: true,
            };
            if list.len() > PIECE_LEN_MAX {
                for start in list.clone().step_by(PIECE_LEN_MAX) {
                    if sink.visit_one(v, piece(start..list.end.min(start + PIECE_LEN_MAX))) == Flow::Enough {
                        break;
                    }
                }
                continue;
            }
            batch.push((v, piece(list)));
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
        let ends: Vec<usize> = lengths
            .scan(0, |end, len| {
                *end += len + 1;
                Some(*end)
            })
            .collect();
        let num_arcs = ends[ends.len() - 1];
        let unit = LaterUnit {
            vertices: (0..3000).map(|slot| vertex(2 * slot + slot / 5)).collect(),
            ends: ends.into(),
            targets: vec![0; num_arcs].into(),
            weights: vec![(); num_arcs].into(),
        };
        let stretches = unit.stretches();
        assert!(stretches.len() > 5, "{} stretches", stretches.len());
        assert_eq!((stretches[0].start, stretches[stretches.len() - 1].end), (0, 3000));
        for pair in stretches.windows(2) {
            assert_eq!(pair[0].end, pair[1].start);
            assert!(unit.vertices[pair[0].end - 1] / 64 < unit.vertices[pair[1].start] / 64);
        }
    }
}
