//! Scans over several layers, or over a version in the middle of one.
//!
//! Lists come in pieces in any order, so a scan of all vertices does not follow chains: for each stretch of vertices it sweeps
//! the layers one after another, each sequentially. Only vertices with tombstones on their chains, and those of a partial layer, are
//! assembled along their chains; the table says which, and which fragments the sweeps leave out.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use esker_graph::{Bitmap, Direction, Flow, Piece, RANGE_LEN_MAX, Run, Select, VertexId, Visitor, vertex};

use super::arcs::{Arcs, offer, seek};
use super::keep::keep;
use super::offer::{Decoded, Offer};
use super::weight::StoredWeight;
use crate::error::{Error, Result};
use crate::layer::{AllLists, CodeSlice, for_runs};
use crate::stack::{Area, Stack, Stretch, Table};

/// Entries (arcs plus vertices) below which a scan stays on the calling thread.
const SERIAL_ENTRIES_MAX: usize = 1 << 13;
/// Entries of a unit of shared work. With many layers, more: each layer is located once a unit.
const UNIT_ENTRIES: usize = 1 << 16;
/// Units per worker when there is less, so that uneven units even out.
const UNITS_PER_WORKER: usize = 16;
/// Arcs that are handed over at once, so that cancellation is never late.
const PIECE_LEN_MAX: usize = 1 << 20;
/// Arcs of a list that are first filtered; each next time four times as many, for visitors that soon have enough.
const FILTER_FIRST: usize = 16;
const FILTER_MAX: usize = 1 << 14;
/// Vertices are visited along their chains if they are at most one in so many of those with chains.
const FEW_FRACTION: usize = 8;

/// What a partial layer needs besides: the rank, when its arcs were born, and its past.
#[derive(Debug)]
struct Filter<'a, W> {
    rank: u32,
    born: CodeSlice<'a>,
    past: Arcs<'a, W>,
    past_born: CodeSlice<'a>,
    past_died: CodeSlice<'a>,
}

/// One direction of a stack, verified.
#[derive(Debug)]
pub(super) struct Layered<'a, W> {
    stack: &'a Stack,
    direction: Direction,
    table: Arc<Table>,
    /// The lists of the oldest.
    base: AllLists<'a>,
    /// Oldest first. If the lists of the oldest are coded, it has no targets here.
    layers: Vec<Arcs<'a, W>>,
    /// Of the newest layer, if it is partial.
    filter: Option<Filter<'a, W>>,
}

/// What a worker carries: the visitor's state, how far it got in each layer (and in the past of the newest), and buffers.
struct Worker<S, W> {
    state: S,
    cursors: Vec<usize>,
    targets: Vec<VertexId>,
    weights: Vec<W>,
    wanted: Vec<VertexId>,
    decoded: Decoded,
}

impl<'a, W: StoredWeight> Layered<'a, W> {
    pub(super) fn new(
        stack: &'a Stack,
        direction: Direction,
        table: Arc<Table>,
        property: u32,
        run: &Run,
    ) -> Result<Self> {
        let sections = (0..stack.layers().len()).map(|layer| stack.section(layer, direction));
        let layers =
            sections.map(|section| Arcs::new(section?.main(), property, run)).collect::<Result<_>>()?;
        let newest = stack.section(stack.layers().len() - 1, direction)?;
        let filter = match (stack.rank(), newest.born()) {
            (Some(rank), Some(born)) => {
                let (past, [past_born, past_died]) = match newest.past() {
                    Some(past) => {
                        (Arcs::new(&past.lists, property, run)?, [past.born.all(run)?, past.died.all(run)?])
                    }
                    None => (Arcs::none(), [CodeSlice::U8(&[]); 2]),
                };
                Some(Filter { rank, born: born.all(run)?, past, past_born, past_died })
            }
            _ => None,
        };
        for layer in 0..stack.layers().len() {
            if let Some(dead) = stack.section(layer, direction)?.dead() {
                dead.lists.all(run)?;
            }
        }
        let base = stack.section(0, direction)?.main().all(run)?;
        Ok(Self { stack, direction, table, base, layers, filter })
    }

    pub(super) fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>> {
        match select {
            Select::All => self.scan_ranges(run, visitor, None),
            Select::Bits(bits) => self.scan_ranges(run, visitor, Some(bits)),
            Select::List(list) => self.scan_list(run, visitor, list),
        }
    }

    fn scan_ranges<V: Visitor<W>>(
        &self,
        run: &Run,
        visitor: &V,
        bits: Option<&Bitmap>,
    ) -> Result<Vec<V::State>> {
        let n = self.stack.num_vertices();
        let entries = self.entries_before(n);
        let unit_entries = UNIT_ENTRIES * (self.layers.len() / 8).clamp(1, 16);
        let mut units = entries.div_ceil(unit_entries);
        if entries > SERIAL_ENTRIES_MAX && run.threads() > 1 {
            units = units.max(run.threads() * UNITS_PER_WORKER);
        }
        let bound = |unit: usize| {
            let entry = (entries as u128 * unit as u128 / units.max(1) as u128) as usize;
            self.vertex_at_entry(entry).next_multiple_of(64).min(n)
        };
        let workers = run.share(
            units,
            || self.worker(run, visitor),
            |worker, unit| {
                let (mut first, end) = (bound(unit), bound(unit + 1));
                while first < end {
                    let next = end.min(first + RANGE_LEN_MAX);
                    visitor.enter(&mut worker.state, first..next);
                    self.sweep(visitor, worker, bits, first, next)?;
                    visitor.leave(&mut worker.state);
                    first = next;
                }
                Ok::<(), Error>(())
            },
        )?;
        Ok(workers.into_iter().map(|worker| worker.state).collect())
    }

    fn worker<V: Visitor<W>>(&self, run: &Run, visitor: &V) -> Worker<V::State, W> {
        let cursors = vec![0; self.layers.len() + 1];
        let (targets, weights, wanted) = Default::default();
        let decoded = Decoded::new(V::STOPS, run.deterministic());
        Worker { state: visitor.new_state(), cursors, targets, weights, wanted, decoded }
    }

    /// Vertices, and arcs of the oldest layer, before a vertex.
    fn entries_before(&self, v: usize) -> usize {
        let extents = self.base.extents();
        v + extents.before(v.min(extents.len()))
    }

    /// The first vertex before which at least `entry` entries lie.
    fn vertex_at_entry(&self, entry: usize) -> usize {
        let (mut low, mut high) = (0, self.stack.num_vertices());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.entries_before(middle) < entry {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Hands over the lists of the vertices from `first` to `end`.
    fn sweep<V: Visitor<W>>(
        &self,
        visitor: &V,
        worker: &mut Worker<V::State, W>,
        bits: Option<&Bitmap>,
        first: usize,
        end: usize,
    ) -> Result<()> {
        let selected = |v: VertexId| bits.is_none_or(|bits| bits.get(v));
        if self.layers.len() > 1 && self.table.special().near(first, end) {
            for v in self.table.special().iter_range(first, end).map(vertex).filter(|&v| selected(v)) {
                self.offer_chain(visitor, worker, v)?;
            }
        }
        let offered = self.sweep_complete(visitor, worker, bits, first, end);
        if self.layers.len() == 1 || self.offer_few(visitor, worker, bits, first..end, offered)? {
            return Ok(());
        }
        for layer in 1..self.layers.len() {
            let arcs = &self.layers[layer];
            let vertices = arcs.vertices.unwrap_or(&[]);
            let begin = seek(vertices, worker.cursors[layer], first);
            let finish = seek(vertices, begin, end);
            worker.cursors[layer] = finish;
            self.sweep_sparse(visitor, worker, bits, layer, begin..finish);
        }
        Ok(())
    }

    /// The part of [`Layered::sweep`] in all layers but the oldest, if few vertices are still wanted: along their chains. Whether
    /// that was so. `offered` lists of the oldest layer were wanted: if many were, nobody is asked.
    fn offer_few<V: Visitor<W>>(
        &self,
        visitor: &V,
        worker: &mut Worker<V::State, W>,
        bits: Option<&Bitmap>,
        range: Range<usize>,
        offered: usize,
    ) -> Result<bool> {
        let chained = self.table.chained();
        let count = chained.count_near(range.start, range.end);
        if offered > count / 2 {
            return Ok(false);
        }
        let special = self.table.special();
        let wanted = |&v: &VertexId| {
            bits.is_none_or(|bits| bits.get(v)) && visitor.wants(v) && !special.has(v as usize)
        };
        worker.wanted.clear();
        worker.wanted.extend(chained.iter_range(range.start, range.end).map(vertex).filter(wanted));
        if worker.wanted.len() > count / FEW_FRACTION {
            return Ok(false);
        }
        for at in 0..worker.wanted.len() {
            let v = worker.wanted[at];
            let (mut above, mut next) = (self.layers.len(), self.table.head(v));
            while let Some(address) = next {
                let Some((layer, slot)) = self.stack.place(above, address, self.direction, v)? else { break };
                let arcs = &self.layers[layer];
                if layer == 0 || offer(visitor, &mut worker.state, v, arcs, arcs.range(slot)) == Flow::Enough
                {
                    break;
                }
                next = self.stack.section(layer, self.direction)?.previous_at(slot)?;
                above = layer;
            }
        }
        Ok(true)
    }

    /// The part of [`Layered::sweep`] in a layer that lists some vertices: those of a range of slots.
    fn sweep_sparse<V: Visitor<W>>(
        &self,
        visitor: &V,
        worker: &mut Worker<V::State, W>,
        bits: Option<&Bitmap>,
        layer: usize,
        slots: Range<usize>,
    ) {
        let arcs = &self.layers[layer];
        let vertices = arcs.vertices.unwrap_or(&[]);
        let skipped = self.table.skipped(layer);
        for (slot, &v) in slots.clone().zip(&vertices[slots]) {
            if !skipped.has(slot) && bits.is_none_or(|bits| bits.get(v)) && visitor.wants(v) {
                offer(visitor, &mut worker.state, v, arcs, arcs.range(slot));
            }
        }
    }

    /// The part of [`Layered::sweep`] in the oldest layer; how many lists it was that are not empty.
    fn sweep_complete<V: Visitor<W>>(
        &self,
        visitor: &V,
        worker: &mut Worker<V::State, W>,
        bits: Option<&Bitmap>,
        first: usize,
        end: usize,
    ) -> usize {
        let end = end.min(self.base.extents().len());
        let mut offered = 0;
        if let Some(filter) = self.filter.as_ref().filter(|_| self.layers.len() == 1) {
            let selected = |v: VertexId| bits.is_none_or(|bits| bits.get(v)) && visitor.wants(v);
            self.sweep_born(visitor, worker, filter, (first..end).map(vertex).filter(|&v| selected(v)));
            self.sweep_past(visitor, worker, filter, selected, first, end);
            return offered;
        }
        let skipped = self.table.skipped(0);
        let all = bits.is_none() && !skipped.near(first, end);
        let selected = |v: usize| all || !skipped.has(v) && bits.is_none_or(|bits| bits.get(vertex(v)));
        let wanted = (first..end).filter(|&v| selected(v)).map(vertex).filter(|&v| visitor.wants(v));
        let arcs = &self.layers[0];
        match self.base {
            AllLists::Arrays { .. } => {
                for v in wanted {
                    let range = arcs.range(v as usize);
                    offered += usize::from(!range.is_empty());
                    offer(visitor, &mut worker.state, v, arcs, range);
                }
            }
            AllLists::Coded(lists) => {
                let (pieces, mut walk) = (Offer::new(lists, arcs.weights), lists.index().walk());
                for v in wanted {
                    let place = walk.place(v as usize);
                    offered += usize::from(place.degree > 0);
                    let into = (&mut worker.state, &mut worker.decoded);
                    pieces.arcs(visitor, into, v, place, (0..place.degree, true));
                }
            }
        }
        offered
    }

    /// Hands over those arcs of some ascending vertices in a complete layer that were born by the rank.
    #[inline(always)]
    fn sweep_born<V: Visitor<W>>(
        &self,
        visitor: &V,
        worker: &mut Worker<V::State, W>,
        filter: &Filter<'_, W>,
        wanted: impl Iterator<Item = VertexId>,
    ) {
        let arcs = &self.layers[0];
        match self.base {
            AllLists::Arrays { .. } => {
                for v in wanted {
                    let range = arcs.range(v as usize);
                    self.offer_born(visitor, worker, v, filter, (range.start, &arcs.targets[range]));
                }
            }
            AllLists::Coded(lists) => {
                let (mut walk, mut decoded) =
                    (lists.index().walk(), std::mem::take(worker.decoded.targets()));
                for v in wanted {
                    let place = walk.place(v as usize);
                    let targets = lists.piece(v, place, 0..place.degree, &mut decoded);
                    self.offer_born(visitor, worker, v, filter, (place.arc, targets));
                }
                *worker.decoded.targets() = decoded;
            }
        }
    }

    /// Hands over those of the arcs of a vertex that were born by the rank; with them comes the first arc.
    #[inline]
    fn offer_born<V: Visitor<W>>(
        &self,
        visitor: &V,
        worker: &mut Worker<V::State, W>,
        v: VertexId,
        filter: &Filter<'_, W>,
        (start, mut rest): (usize, &[VertexId]),
    ) {
        let mut start = start;
        let weights = self.layers[0].weights;
        let mut chunk = if V::STOPS { FILTER_FIRST } else { FILTER_MAX };
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(chunk));
            let range = start..start + now.len();
            (start, rest) = (range.end, later);
            chunk = (chunk * 4).min(FILTER_MAX);
            let arcs = (now, &weights[range.clone()]);
            let kept = match filter.born {
                CodeSlice::U8(born) => keep_born(arcs, &born[range], filter.rank, worker),
                CodeSlice::U16(born) => keep_born(arcs, &born[range], filter.rank, worker),
                CodeSlice::U32(born) => keep_born(arcs, &born[range], filter.rank, worker),
            };
            let (targets, weights) = (&worker.targets[..kept], &worker.weights[..kept]);
            let piece = Piece { targets, weights, exclusive: true };
            if !piece.targets.is_empty() && visitor.visit(&mut worker.state, v, piece) == Flow::Enough {
                return;
            }
        }
    }

    fn sweep_past<V: Visitor<W>>(
        &self,
        visitor: &V,
        worker: &mut Worker<V::State, W>,
        filter: &Filter<'_, W>,
        selected: impl Fn(VertexId) -> bool,
        first: usize,
        end: usize,
    ) {
        let cursor = self.layers.len();
        let vertices = filter.past.vertices.unwrap_or(&[]);
        let mut slot = seek(vertices, worker.cursors[cursor], first);
        while let Some(&v) = vertices.get(slot).filter(|&&v| (v as usize) < end) {
            if selected(v) {
                let range = filter.past.range(slot);
                let start = range.start;
                let alive = |i: usize| {
                    filter.past_born.at(start + i) <= filter.rank
                        && filter.past_died.at(start + i) > filter.rank
                };
                let done = for_runs(range, alive, |run| {
                    offer(visitor, &mut worker.state, v, &filter.past, run);
                    Ok(())
                });
                debug_assert!(done.is_ok(), "nothing in it fails");
            }
            slot += 1;
        }
        worker.cursors[cursor] = slot;
    }

    /// Hands over the list of one vertex along its chain.
    fn offer_chain<V: Visitor<W>>(
        &self,
        visitor: &V,
        worker: &mut Worker<V::State, W>,
        v: VertexId,
    ) -> Result<()> {
        if !visitor.wants(v) {
            return Ok(());
        }
        self.visit_chain(v, |stretch, weights| {
            for (targets, weights) in stretch.targets.chunks(PIECE_LEN_MAX).zip(weights.chunks(PIECE_LEN_MAX))
            {
                let piece = Piece { targets, weights, exclusive: true };
                if visitor.visit(&mut worker.state, v, piece) == Flow::Enough {
                    return Ok(Flow::Enough);
                }
            }
            Ok(Flow::More)
        })
    }

    fn visit_chain(
        &self,
        v: VertexId,
        mut take: impl FnMut(Stretch<'a>, &'a [W]) -> Result<Flow>,
    ) -> Result<()> {
        let Some(head) = self.table.head(v) else { return Ok(()) };
        let place = self.stack.place(self.layers.len(), head, self.direction, v)?;
        self.stack.visit_from(place, self.direction, v, |stretch| {
            let range = stretch.start..stretch.start + stretch.targets.len();
            let weights = match (stretch.area, &self.filter) {
                (Area::Past, Some(filter)) => &filter.past.weights[range],
                _ => &self.layers[stretch.layer].weights[range],
            };
            take(stretch, weights)
        })
    }

    fn scan_list<V: Visitor<W>>(&self, run: &Run, visitor: &V, list: &[VertexId]) -> Result<Vec<V::State>> {
        let offer = |worker: &mut Worker<V::State, W>, list: &[VertexId]| {
            list.iter().try_for_each(|&v| self.offer_chain(visitor, worker, v))
        };
        if run.threads() == 1 || self.is_handful(list) {
            run.check()?;
            let mut worker = self.worker(run, visitor);
            offer(&mut worker, list)?;
            return Ok(vec![worker.state]);
        }
        let unit = (list.len() / (run.threads() * UNITS_PER_WORKER)).clamp(1, 1 << 10);
        let workers = run.share(
            list.len().div_ceil(unit),
            || self.worker(run, visitor),
            |worker, i| offer(worker, &list[i * unit..((i + 1) * unit).min(list.len())]),
        )?;
        Ok(workers.into_iter().map(|worker| worker.state).collect())
    }

    fn is_handful(&self, list: &[VertexId]) -> bool {
        let mut entries = list.len();
        entries <= SERIAL_ENTRIES_MAX
            && list.iter().all(|&v| {
                entries += self.table.degree(v);
                entries <= SERIAL_ENTRIES_MAX
            })
    }

    /// Calls `f` with the whole list of `v`, sorted.
    pub(super) fn with_list<R>(&self, v: VertexId, f: impl FnOnce(&[VertexId], &[W]) -> R) -> Result<R> {
        let mut stretches: Vec<(Cow<'_, [VertexId]>, &[W])> = Vec::new();
        self.visit_chain(v, |stretch, weights| {
            stretches.push((stretch.targets, weights));
            Ok(Flow::More)
        })?;
        if let [] | [_] = stretches[..] {
            let (targets, weights) = stretches.pop().unwrap_or_default();
            return Ok(f(&targets, weights));
        }
        let arcs = stretches
            .iter()
            .flat_map(|(targets, weights)| targets.iter().copied().zip(weights.iter().copied()));
        let mut arcs: Vec<(VertexId, W)> = arcs.collect();
        // Stable, and fast where runs are sorted already.
        arcs.sort_by_key(|arc| arc.0);
        let (targets, weights): (Vec<VertexId>, Vec<W>) = arcs.into_iter().unzip();
        Ok(f(&targets, &weights))
    }
}

/// Puts those of some arcs that were born by `rank` at the start of the worker's buffers; how many they are.
#[inline(always)]
fn keep_born<W: StoredWeight, S, C: Pod + Into<u32>>(
    (targets, weights): (&[VertexId], &[W]),
    born: &[C],
    rank: u32,
    worker: &mut Worker<S, W>,
) -> usize {
    if worker.targets.len() < targets.len() {
        worker.targets.resize(targets.len(), 0);
        worker.weights.resize(targets.len(), W::default());
    }
    keep((targets, weights), born, rank, (&mut worker.targets, &mut worker.weights))
}
