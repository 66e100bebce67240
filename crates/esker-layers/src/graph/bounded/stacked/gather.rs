//! Gathers the changes that later layers make to a complete layer, before the first scan.
//!
//! All lists that changed are read once along their chains. A list that a later layer holds whole mostly
//! repeats that of the complete layer, so the two are compared: what is kept in memory is in proportion to
//! what changed, not to what was copied. Mapped layers are released range by range.
//!
//! Meanwhile the system does not read ahead by itself; it is asked for what is needed next. Some ten columns
//! of each layer are read at a time, and with megabytes of read-ahead in each, a small page cache would drop
//! pages before they are used.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use esker_format::{Error, PageHint, Result};
use esker_graph::{Direction, Flow, Reservation, Run, STRIP_LEN, VertexId, vertex};

use super::difference::retain_difference;
use super::growing::GrowingArcs;
use super::later::{LaterRows, LaterUnit};
use super::needs::{MAPPED_BYTES, PARTS_ARCS, compares};
use super::overlay::{RangeChanges, RangeMaker, too_many};
use crate::graph::arc_sets::unit::UNIT_LEN;
use crate::graph::mapped::points::PointReads;
use crate::graph::versions::chains::{ChainArcs, ChainBuffers, LaterLayers};
use crate::graph::versions::layered::Layered;
use crate::graph::weight::ColumnWeight;
use crate::stack::Stack;
use crate::tiles::{Matrix, StripEdges, StripMaker, TileEdges};

/// Arcs that a thread reads at a time, at least, however many threads there are.
const PART_ARCS_MIN: usize = 1 << 14;
/// Vertices of a part, at least: smaller parts cost more time than the memory that they save is worth.
const PART_LEN_MIN: usize = 8;

/// Gathers the changes of later layers.
pub(super) struct ChangeGatherer<'g, 'a, W> {
    stack: &'a Stack,
    direction: Direction,
    chains: ReadChains<'g, 'a, W>,
    /// The lists of the complete layer. `None`: lists that were copied are not compared with them.
    base: Option<PointReads<'a>>,
    /// Mapped bytes that were read since the later layers were released last.
    touched: AtomicU64,
}

/// How the chains of later layers are read.
enum ReadChains<'g, 'a, W> {
    /// For a range of vertices, each layer's fragments are found together in its directory, which is sorted
    /// by vertex.
    Ranges(LaterLayers<'a, W>),
    /// Each chain by itself: every fragment says where the previous one lies.
    Followed(&'g Layered<'a, W>),
}

/// The buffers that a thread keeps from one range of vertices to the next.
#[derive(Default)]
struct Worker<W> {
    chains: ChainBuffers,
    arcs: ChainArcs<W>,
    left_out: Vec<VertexId>,
    /// The block of the complete layer's targets that was read last.
    block: usize,
}

/// What a version leaves out of one list.
enum ListChange<'w> {
    /// The targets are left out, with all their copies; there may be none.
    Dead(&'w [VertexId]),
    /// The whole list is left out.
    Hidden,
}

impl<'g, 'a, W: ColumnWeight> ChangeGatherer<'g, 'a, W> {
    /// Gathers from the layers above the complete one.
    pub(super) fn new(layered: &'g Layered<'a, W>, property: u32, run: &Run) -> Result<Self> {
        let chains = LaterLayers::new(layered, Some(property), run)?;
        let chains = chains.map_or(ReadChains::Followed(layered), ReadChains::Ranges);
        Self::of_chains(layered.stack, layered.direction, chains, property)
    }

    /// Gathers from the layers above the complete one, where degrees [suffice](Stack::suffices_degrees) and
    /// no vertex table is made.
    pub(super) fn without_table(
        stack: &'a Stack,
        direction: Direction,
        property: u32,
        run: &Run,
    ) -> Result<Self> {
        let layers = LaterLayers::without_table(stack, direction, property, run)?;
        Self::of_chains(stack, direction, ReadChains::Ranges(layers), property)
    }

    fn of_chains(
        stack: &'a Stack,
        direction: Direction,
        chains: ReadChains<'g, 'a, W>,
        property: u32,
    ) -> Result<Self> {
        let base = if compares(stack) {
            let lists = stack.section(0, direction)?.main();
            Some(PointReads::new(lists, property, true))
        } else {
            None
        };
        let gathering = Self { stack, direction, chains, base, touched: AtomicU64::new(0) };
        gathering.read_at_random(true)?;
        gathering.release()?;
        Ok(gathering)
    }

    /// One list of added arcs a vertex, and what is left out of the complete layer's lists, of consecutive
    /// ranges of vertices.
    pub(super) fn rows(
        &self,
        memory: Reservation,
        run: &Run,
    ) -> Result<(LaterRows<W>, Vec<RangeChanges<W>>)> {
        let n = self.stack.num_vertices();
        let part_arcs = (PARTS_ARCS as usize / run.threads()).max(PART_ARCS_MIN);
        let workers = run.share(n.div_ceil(UNIT_LEN), Default::default, |into, unit| {
            let (worker, units): &mut (Worker<W>, Vec<_>) = into;
            let first = unit * UNIT_LEN;
            let (mut lists, mut left_out) = (Vec::new(), RangeMaker::default());
            let mut all = GrowingArcs::default();
            for part in self.parts(first..n.min(first + UNIT_LEN), part_arcs) {
                let before = all.len();
                self.for_each(worker, part, |v, arcs, start, change| {
                    match change {
                        ListChange::Dead(dead) => left_out.add(v, dead)?,
                        ListChange::Hidden => left_out.add_hidden(v),
                    }
                    let end = u32::try_from(before + arcs.targets.len()).map_err(|_| too_many(v))?;
                    if arcs.targets.len() > start {
                        lists.push((v, end));
                    }
                    Ok(())
                })?;
                let ChainArcs { targets, weights } = &mut worker.arcs;
                if targets.len() > part_arcs.max(all.len()) {
                    all.take(targets, weights);
                } else {
                    all.append(targets, weights);
                }
            }
            units.push((unit, LaterUnit::new(first, &lists, all), left_out.finish()));
            Ok::<_, Error>(())
        })?;
        self.release()?;
        let mut units: Vec<_> = workers.into_iter().flat_map(|worker| worker.1).collect();
        units.sort_unstable_by_key(|unit| unit.0);
        let (units, left_out) = units.into_iter().map(|unit| (unit.1, unit.2)).unzip();
        Ok((LaterRows::new(units, memory), left_out))
    }

    /// Cuts a range of vertices whose fragments have many arcs into ranges with at most `arcs_max`, or few
    /// vertices.
    fn parts(&self, range: Range<usize>, arcs_max: usize) -> Vec<Range<usize>> {
        let ReadChains::Ranges(layers) = &self.chains else { return vec![range] };
        let (mut parts, mut rest) = (Vec::new(), vec![range]);
        while let Some(range) = rest.pop() {
            if range.len() <= PART_LEN_MIN || layers.num_arcs(&range) <= arcs_max {
                parts.push(range);
                continue;
            }
            let middle = range.start + range.len() / 2;
            rest.extend([middle..range.end, range.start..middle]);
        }
        parts
    }

    /// The edges that were added, and those that are left out, in the order of tiles. Only where copied lists
    /// are compared: no list is left out as a whole.
    ///
    /// The lesser end of an undirected edge says what changed: the list of the other end may say that the
    /// edge was deleted and added again.
    pub(super) fn tiles(&self, run: &Run) -> Result<(TileEdges<W>, TileEdges<()>)> {
        let (n, directed) = (self.stack.num_vertices(), self.stack.layers()[0].is_directed());
        let by_columns = directed && self.direction == Direction::In;
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
                    if let Some((row, column)) = edge(v, target) {
                        added.push(row, column, by_columns, weight);
                    }
                }
                arcs.truncate(start);
                if let ListChange::Dead(targets) = change {
                    let edges = targets.iter().filter_map(|&target| edge(v, target));
                    edges.for_each(|(row, column)| dead.push(row, column, by_columns, ()));
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
        let matrix = Matrix { num_vertices: n, directed };
        Ok((TileEdges::new(matrix, by_columns, added), TileEdges::new(matrix, by_columns, dead)))
    }

    /// Calls `take` with each vertex of a range whose list changed, all arcs that were added so far, where
    /// its own begin, and what changed of the complete layer's list.
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
            let change = self.change(v, arcs, start, tombstones, left_out, block)?;
            take(v, arcs, start, change)?;
            start = arcs.targets.len();
            Ok(())
        };
        match &self.chains {
            ReadChains::Ranges(layers) => layers.for_each(vertices, chains, arcs, end_list)?,
            ReadChains::Followed(layered) => {
                for v in layered.table.chained().iter_range(vertices.start, vertices.end).map(vertex) {
                    let tombstones = layered.visit_chain(v, |stretch, some| {
                        chains.read_bytes += stretch.targets.len() * (size_of::<VertexId>() + size_of::<W>());
                        arcs.targets.extend_from_slice(&stretch.targets);
                        arcs.weights.extend_from_slice(some);
                        Ok(Flow::More)
                    })?;
                    end_list(v, arcs, tombstones.as_deref())?;
                }
            }
        }
        let bytes = std::mem::take(&mut chains.read_bytes) as u64;
        if self.touched.fetch_add(bytes, Relaxed) + bytes > MAPPED_BYTES {
            self.release()?;
        }
        Ok(())
    }

    /// What changed of the complete layer's list of `v`. `tombstones` are the targets that they delete of it;
    /// `None`: later layers replace it. Retains those of the arcs from `start` on that it lacks.
    fn change<'w>(
        &self,
        v: VertexId,
        arcs: &mut ChainArcs<W>,
        start: usize,
        tombstones: Option<&[VertexId]>,
        left_out: &'w mut Vec<VertexId>,
        block: &mut usize,
    ) -> Result<ListChange<'w>> {
        left_out.clear();
        if let Some(dead) = tombstones {
            left_out.extend(dead.chunk_by(|a, b| a == b).map(|same| same[0]));
            return Ok(ListChange::Dead(left_out));
        }
        let Some(base) = &self.base else {
            let is_listed = (v as usize) < self.stack.section(0, self.direction)?.main().num_lists();
            return Ok(if is_listed { ListChange::Hidden } else { ListChange::Dead(left_out) });
        };
        base.with_next_list(v, block, |targets, weights| {
            if !targets.is_empty() {
                retain_difference(arcs, start, targets, weights, left_out);
            }
        })?;
        Ok(ListChange::Dead(left_out))
    }

    /// Gives up the memory of the mapped later layers.
    fn release(&self) -> Result<()> {
        self.touched.store(0, Relaxed);
        release_later(self.stack, self.direction)
    }
}

impl<W> ChangeGatherer<'_, '_, W> {
    /// Turns the read-ahead of the system off, or on again, for all layers that are gathered. Where chains
    /// are followed one by one, nothing else reads ahead, so it stays on.
    fn read_at_random(&self, at_random: bool) -> Result<()> {
        if let ReadChains::Followed(_) = &self.chains {
            return Ok(());
        }
        let first = usize::from(self.base.is_none());
        (first..self.stack.layers().len()).try_for_each(|layer| {
            self.stack.section(layer, self.direction)?.hint(PageHint::AtRandom(at_random));
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
