//! Gathers what later layers change of a complete layer, before the first scan.
//!
//! All lists that changed are read once along their chains. A list that a later layer holds whole mostly repeats that of the complete layer,
//! so the two are compared: what is kept in memory is in proportion to what changed, not to what was copied. Mapped layers are released
//! range by range.
//!
//! Meanwhile the system does not read ahead by itself; it is asked for what is needed next. Some ten columns of each layer are read at a time, and
//! with megabytes of read-ahead in each, a small page cache would drop pages before they are used.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use esker_format::{Error, PageHint, Result};
use esker_graph::{Direction, Flow, Reservation, Run, STRIP_LEN, VertexId, vertex};

use super::difference::keep_difference;
use super::later::{LaterRows, LaterUnit};
use super::needs::{MAPPED_BYTES, compares};
use super::overlay::{RangeChanges, RangeMaker, too_many};
use crate::graph::chains::{ChainArcs, ChainBuffers, LaterLayers};
use crate::graph::layered::Layered;
use crate::graph::missing::UNIT_LEN;
use crate::graph::points::PointReads;
use crate::graph::weight::ColumnWeight;
use crate::stack::Stack;
use crate::tiles::{StripEdges, StripMaker, TileEdges};

/// What gathers.
pub(super) struct ChangeGatherer<'g, 'a, W> {
    of: &'g Layered<'a, W>,
    /// `None`: chains are followed one by one.
    chains: Option<LaterLayers<'a, W>>,
    /// The lists of the complete layer. `None`: lists that were copied are not compared with them.
    base: Option<PointReads<'a>>,
    /// Mapped bytes that were read since the later layers were released last.
    touched: AtomicU64,
}

/// What a thread keeps from one range of vertices to the next.
#[derive(Default)]
struct Worker<W> {
    chains: ChainBuffers,
    arcs: ChainArcs<W>,
    left_out: Vec<VertexId>,
    /// The block of the complete layer's targets that was read last.
    block: usize,
}

/// What changed of one list.
enum ListChange<'w> {
    /// Nothing but what was added.
    Added,
    /// The targets are left out, with all their copies.
    Dead(&'w [VertexId]),
    /// The whole list is left out.
    Gone,
}

impl<'g, 'a, W: ColumnWeight> ChangeGatherer<'g, 'a, W> {
    /// Of the layers above the complete one.
    pub(super) fn new(of: &'g Layered<'a, W>, property: u32, run: &Run) -> Result<Self> {
        let chains = LaterLayers::new(of, Some(property), run)?;
        let base = if compares(of.stack) {
            let lists = of.stack.section(0, of.direction)?.main();
            Some(PointReads::new(lists, property, true))
        } else {
            None
        };
        let gathering = Self { of, chains, base, touched: AtomicU64::new(0) };
        gathering.read_at_random(true)?;
        gathering.release()?;
        Ok(gathering)
    }

    /// One list of added arcs a vertex, and what is left out of the complete layer's lists, of consecutive ranges of vertices.
    pub(super) fn rows(
        &self,
        memory: Reservation,
        run: &Run,
    ) -> Result<(LaterRows<W>, Vec<RangeChanges<W>>)> {
        let n = self.of.stack.num_vertices();
        let workers = run.share(n.div_ceil(UNIT_LEN), Default::default, |into, unit| {
            let (worker, units): &mut (Worker<W>, Vec<_>) = into;
            let first = unit * UNIT_LEN;
            let (mut lists, mut left_out) = (Vec::new(), RangeMaker::default());
            self.for_each(worker, first..n.min(first + UNIT_LEN), |v, arcs, start, change| {
                match change {
                    ListChange::Added => {}
                    ListChange::Dead(dead) => left_out.add(v, dead)?,
                    ListChange::Gone => left_out.add_gone(v),
                }
                let end = u32::try_from(arcs.targets.len());
                let end = end.map_err(|_| too_many(v))?;
                if end as usize > start {
                    lists.push((v, end));
                }
                Ok(())
            })?;
            units.push((unit, LaterUnit::new(first, &lists, &worker.arcs), left_out.finish()));
            Ok::<_, Error>(())
        })?;
        self.release()?;
        let mut units: Vec<_> = workers.into_iter().flat_map(|worker| worker.1).collect();
        units.sort_unstable_by_key(|unit| unit.0);
        let (units, left_out) = units.into_iter().map(|unit| (unit.1, unit.2)).unzip();
        Ok((LaterRows::new(units, memory), left_out))
    }

    /// The edges that were added, and those that are left out, in the order of tiles. Only where copied lists are compared: no list is left out as a whole.
    ///
    /// Of an undirected edge, the lesser end says what changed: the list of the other may say that it was deleted and added again.
    pub(super) fn tiles(&self, run: &Run) -> Result<(TileEdges<W>, TileEdges<()>)> {
        let (n, directed) = (self.of.stack.num_vertices(), self.of.stack.layers()[0].is_directed());
        let by_columns = directed && self.of.direction == Direction::In;
        let edge = |v: VertexId, target: VertexId| match by_columns {
            _ if !directed && target < v => None,
            true => Some((target, v)),
            false => Some((v, target)),
        };
        let workers = run.share(n.div_ceil(STRIP_LEN), Default::default, |into, strip| {
            let (worker, makers, strips): &mut (Worker<W>, (StripMaker<W>, StripMaker<()>), Vec<_>) = into;
            let (added, dead) = makers;
            let first = strip * STRIP_LEN;
            self.for_each(worker, first..n.min(first + STRIP_LEN), |v, arcs, start, change| {
                for (&target, &weight) in arcs.targets[start..].iter().zip(&arcs.weights[start..]) {
                    edge(v, target).into_iter().for_each(|edge| added.push(edge, by_columns, weight));
                }
                arcs.truncate(start);
                if let ListChange::Dead(targets) = change {
                    let edges = targets.iter().filter_map(|&target| edge(v, target));
                    edges.for_each(|edge| dead.push(edge, by_columns, ()));
                }
                Ok(())
            })?;
            strips.push((strip, added.finish(), dead.finish()));
            Ok::<_, Error>(())
        })?;
        self.release()?;
        let mut strips: Vec<_> = workers.into_iter().flat_map(|worker| worker.2).collect();
        strips.sort_unstable_by_key(|strip: &(usize, StripEdges<W>, StripEdges<()>)| strip.0);
        let (added, dead) = strips.into_iter().map(|strip| (strip.1, strip.2)).unzip();
        let shape = (n, directed);
        Ok((TileEdges::new(shape, by_columns, added), TileEdges::new(shape, by_columns, dead)))
    }

    /// Calls `take` with each vertex of a range whose list changed, all arcs that were added so far, where its own begin, and what changed of the complete layer's list.
    fn for_each(
        &self,
        worker: &mut Worker<W>,
        vertices: Range<usize>,
        mut take: impl FnMut(VertexId, &mut ChainArcs<W>, usize, ListChange<'_>) -> Result<()>,
    ) -> Result<()> {
        let Worker { chains, arcs, left_out, block } = worker;
        arcs.clear();
        let mut start = 0;
        let mut end_list = |v: VertexId, arcs: &mut ChainArcs<W>, tombstones: Option<&[VertexId]>| {
            let change = self.change(v, (arcs, start), tombstones, (left_out, block))?;
            take(v, arcs, start, change)?;
            start = arcs.targets.len();
            Ok(())
        };
        if let Some(layers) = &self.chains {
            layers.for_each(vertices, chains, arcs, end_list)?;
        } else {
            let of = self.of;
            for v in of.table.chained().iter_range(vertices.start, vertices.end).map(vertex) {
                let tombstones = of.visit_chain(v, |stretch, some| {
                    chains.read_bytes += stretch.targets.len() * (size_of::<VertexId>() + size_of::<W>());
                    arcs.targets.extend_from_slice(&stretch.targets);
                    arcs.weights.extend_from_slice(some);
                    Ok(Flow::More)
                })?;
                end_list(v, arcs, tombstones.as_deref())?;
            }
        }
        let bytes = std::mem::take(&mut chains.read_bytes) as u64;
        if self.touched.fetch_add(bytes, Relaxed) + bytes > MAPPED_BYTES {
            self.release()?;
        }
        Ok(())
    }

    /// What changed of the complete layer's list of `v`. Keeps of the arcs from `start` on those that it lacks.
    fn change<'w>(
        &self,
        v: VertexId,
        (arcs, start): (&mut ChainArcs<W>, usize),
        tombstones: Option<&[VertexId]>,
        (left_out, block): (&'w mut Vec<VertexId>, &mut usize),
    ) -> Result<ListChange<'w>> {
        let table = &self.of.table;
        if !table.skipped(0).has(v as usize) {
            return Ok(ListChange::Added);
        }
        left_out.clear();
        if let Some(dead) = tombstones.filter(|_| table.special().has(v as usize)) {
            left_out.extend(dead.chunk_by(|a, b| a == b).map(|same| same[0]));
            return Ok(ListChange::Dead(left_out));
        }
        let Some(base) = &self.base else { return Ok(ListChange::Gone) };
        base.with_next_list(v, block, |targets, weights| {
            keep_difference(arcs, start, (targets, weights), left_out);
        })?;
        Ok(ListChange::Dead(left_out))
    }

    /// Gives up the memory of the mapped later layers.
    fn release(&self) -> Result<()> {
        self.touched.store(0, Relaxed);
        release_later(self.of.stack, self.of.direction)
    }
}

impl<W> ChangeGatherer<'_, '_, W> {
    /// Turns the read-ahead of the system off, or on again, for all layers that are gathered. Where chains are followed one by one, nothing
    /// else reads ahead, so it stays on.
    fn read_at_random(&self, at_random: bool) -> Result<()> {
        if self.chains.is_none() {
            return Ok(());
        }
        let first = usize::from(self.base.is_none());
        (first..self.of.stack.layers().len()).try_for_each(|layer| {
            self.of.stack.section(layer, self.of.direction)?.hint(PageHint::AtRandom(at_random));
            Ok(())
        })
    }
}

impl<W> Drop for ChangeGatherer<'_, '_, W> {
    fn drop(&mut self) {
        let _ = self.read_at_random(false); // The sections were found before.
    }
}

/// Gives up the memory of the mapped layers above the complete one.
pub(super) fn release_later(stack: &Stack, direction: Direction) -> Result<()> {
    (1..stack.layers().len()).try_for_each(|layer| {
        stack.section(layer, direction)?.release();
        Ok(())
    })
}
