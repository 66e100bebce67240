//! Colours that follow: those of [`crate::algorithm`], the greedy ones in the order of a hash of the ids.
//!
//! The colour of a vertex depends on those of its neighbours before it only: it is the least that they leave.
//! So a vertex is looked at again if one of them takes its colour, or gives up a lesser one; in a shard in
//! the order of the hash. As the order has no cycles that ends, with the colours that a greedy colouring of
//! the version gives, whatever was there before [1].
//!
//! A version that changes much is taken in stretches of the order: no shard looks at vertices of the next
//! stretch before all have settled this one. Otherwise a vertex would be looked at again whenever a neighbour
//! of another shard, long before it, changes.
//!
//! The list of a delegate is in parts. A shard that has a part keeps the colours of the neighbours before the
//! delegate there, and tells its owner whenever they change.
//!
//! [1] S. Sallinen, K. Iwabuchi, S. Poudel, M. Gokhale, M. Ripeanu, R. Pearce, "Graph Colouring as a
//! Challenge Problem for Dynamic Graph Processing on Distributed Systems", SC 2016, colours dynamic graphs in
//! this manner.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use esker_format::{Error, Result};
use esker_graph::{Direction, VertexId, vertex};

use super::kept_lists::KeptLists;
use super::live::{Live, ShardStep, TakeChange};
use super::values::ChangedValues;
use crate::algorithm::{FreeColours, NO_COLOUR, colour_order};
use crate::model::answer::{Cell, ColumnKind};
use crate::net::engine::Engine;
use crate::net::wire::{Taker, put_u64};

/// Vertices that are due, for each stretch of the order. The number decides about speed alone. Fewer in
/// tests, whose graphs are small.
const DUE_IN_STRETCH: u64 = if cfg!(test) { 1 } else { 32 };
/// Of a version: each stretch takes an exchange at least.
const MOST_STRETCHES: u64 = 256;

/// The last hash of a stretch, of `stretches`. Hashes are spread evenly.
fn last_hash(stretch: u64, stretches: u64) -> u64 {
    match stretch == stretches {
        true => u64::MAX,
        false => u64::MAX / stretches * stretch,
    }
}

/// The neighbours of a vertex.
fn list_of(step: &ShardStep<'_>, v: VertexId) -> Result<Vec<VertexId>> {
    Ok(step.version.neighbors(Direction::Out, v)?.into_owned())
}

pub(super) struct Colours {
    values: ChangedValues<u64>,
    hashes: Vec<u64>,
    /// Own vertices to look at, with their hashes.
    due: BinaryHeap<Reverse<(u64, VertexId)>>,
    is_due: Vec<bool>,
    free: FreeColours,
    /// The number of own vertices of each colour.
    used: Vec<u64>,
    parts: DelegateParts,
    lists: KeptLists,
}

/// The colours before delegates, in parts of their lists.
#[derive(Default)]
struct DelegateParts {
    /// Of own delegates, those in other shards.
    elsewhere: BTreeMap<(VertexId, usize), Vec<u64>>,
    /// Of other delegates, those here, as their owners know them.
    here: BTreeMap<VertexId, Vec<u64>>,
    /// The delegates whose owners have to be told.
    telling: BTreeSet<VertexId>,
}

impl DelegateParts {
    fn colours_before(&self, v: VertexId) -> impl Iterator<Item = u64> + '_ {
        self.elsewhere.range((v, 0)..=(v, usize::MAX)).flat_map(|(_, colours)| colours.iter().copied())
    }

    /// Tells owners what changed, and notes what others tell. Returns the number of parts that all processes
    /// told, and the own delegates of which this one was told.
    fn exchange(&mut self, step: &ShardStep<'_>, engine: &mut Engine<'_>) -> Result<(u64, Vec<VertexId>)> {
        let mut blocks = vec![Vec::new(); engine.peers()];
        let telling = std::mem::take(&mut self.telling);
        blocks.iter_mut().for_each(|block| put_u64(block, telling.len() as u64));
        for ghost in telling {
            let (shard, place) = step.shared.of_ghost(ghost);
            let colours = self.here.get(&ghost).map_or(&[][..], Vec::as_slice);
            let block = &mut blocks[shard];
            [u64::from(place), colours.len() as u64].iter().for_each(|word| put_u64(block, *word));
            colours.iter().for_each(|colour| put_u64(block, *colour));
        }
        let (mut sum, mut told) = (0, Vec::new());
        for (shard, block) in engine.exchange(blocks).iter().enumerate() {
            let mut taker = Taker(block);
            sum += taker.u64()?;
            while !taker.is_empty() {
                let (place, len) = (taker.u64()?, taker.u64()?);
                let v = step.shared.own_at(shard, place as u32).ok_or_else(|| {
                    Error::invalid(
                        "a process sent colours beside a vertex that is not shared with it".to_owned(),
                    )
                })?;
                let colours = (0..len).map(|_| taker.u64()).collect::<Result<_>>()?;
                self.elsewhere.insert((v, shard), colours);
                told.push(v);
            }
        }
        Ok((sum, told))
    }
}

impl Colours {
    /// `list_bytes`: bytes of neighbour lists that may be kept in memory.
    pub(super) fn new(list_bytes: usize) -> Self {
        Self {
            values: ChangedValues::default(),
            hashes: Vec::new(),
            due: BinaryHeap::new(),
            is_due: Vec::new(),
            free: FreeColours::default(),
            used: Vec::new(),
            parts: DelegateParts::default(),
            lists: KeptLists::new(list_bytes),
        }
    }

    fn is_before(&self, step: &ShardStep<'_>, u: VertexId, v: VertexId) -> bool {
        let ids = step.version.ids();
        match self.hashes[u as usize].cmp(&self.hashes[v as usize]) {
            Ordering::Equal => matches!((ids.external_of(u), ids.external_of(v)), (Ok(u), Ok(v)) if u < v),
            other => other == Ordering::Less,
        }
    }

    /// Takes in the new vertices of a version, and has those looked at that its edges concern.
    fn begin(&mut self, step: &ShardStep<'_>) -> Result<()> {
        self.lists.advance(step.version.num_vertices(), &step.added, &step.removed);
        let (ids, order) = (step.version.ids(), colour_order());
        for v in (step.first_new..step.version.num_vertices()).map(vertex) {
            self.values.push(NO_COLOUR);
            self.hashes.push(order.hash(ids.external_of(v)?));
            self.is_due.push(false);
            self.look_at(v, step);
        }
        let added = step.added.iter().map(|edge| (edge, true));
        for (&(u, v), is_added) in added.chain(step.removed.iter().map(|edge| (edge, false))) {
            let (first, later) = if self.is_before(step, u, v) { (u, v) } else { (v, u) };
            let [before, colour] = [first, later].map(|v| *self.values.get(v));
            let is_part = step.delegates.ghosts.contains(&later);
            if u != v && (is_part || if is_added { before == colour } else { before < colour }) {
                self.look_at(later, step);
            }
        }
        // Those that have become delegates with the version.
        let unknown = step.delegates.ghosts.iter().filter(|v| !self.parts.here.contains_key(v));
        unknown.copied().collect::<Vec<_>>().into_iter().for_each(|v| self.look_at(v, step));
        step.newly_shared.iter().for_each(|&v| self.values.tell(v));
        Ok(())
    }

    /// Has an own vertex looked at, or the part of a delegate.
    fn look_at(&mut self, v: VertexId, step: &ShardStep<'_>) {
        let is_ours = step.shared.is_owned(v) || step.delegates.ghosts.contains(&v);
        if is_ours && !std::mem::replace(&mut self.is_due[v as usize], true) {
            self.due.push(Reverse((self.hashes[v as usize], v)));
        }
    }

    /// Has the own neighbours behind a vertex looked at that are concerned: it had a colour before. Delegates
    /// of other shards always are.
    fn look_behind(&mut self, v: VertexId, before: u64, list: &[VertexId], step: &ShardStep<'_>) {
        let now = *self.values.get(v);
        for &other in list {
            let colour = *self.values.get(other);
            let is_part = step.delegates.ghosts.contains(&other);
            if (is_part || colour == now || colour > before) && self.is_before(step, v, other) {
                self.look_at(other, step);
            }
        }
    }

    /// Looks at the vertices that are due, up to a hash.
    fn recolour(&mut self, step: &ShardStep<'_>, last: u64) -> Result<()> {
        while self.due.peek().is_some_and(|Reverse((hash, _))| *hash <= last) {
            let Some(Reverse((_, v))) = self.due.pop() else { break };
            self.is_due[v as usize] = false;
            let neighbours = self.lists.take(v, || list_of(step, v))?;
            let mut free = std::mem::take(&mut self.free);
            let before = neighbours.iter().filter(|&&u| self.is_before(step, u, v));
            let before = before.map(|&u| *self.values.get(u));
            if !step.shared.is_owned(v) {
                let mut taken: Vec<u64> = before.filter(|&colour| colour != NO_COLOUR).collect();
                taken.sort_unstable();
                taken.dedup();
                self.free = free;
                if self.parts.here.get(&v).map_or(&[][..], Vec::as_slice) != taken {
                    self.parts.here.insert(v, taken);
                    self.parts.telling.insert(v);
                }
                self.lists.put_back(v, neighbours);
                continue;
            }
            let colour = free.least(before.chain(self.parts.colours_before(v)));
            self.free = free;
            let known = *self.values.get(v);
            if colour != known {
                self.values.set(v, colour, step.shared);
                self.look_behind(v, known, &neighbours, step);
            }
            self.lists.put_back(v, neighbours);
        }
        Ok(())
    }
}

impl Live for Colours {
    fn column(&self) -> (&'static str, ColumnKind) {
        ("colour", ColumnKind::Count)
    }

    fn advance(
        &mut self,
        step: &ShardStep<'_>,
        engine: &mut Engine<'_>,
        take: &mut TakeChange<'_>,
    ) -> Result<u64> {
        self.begin(step)?;
        let due: u64 = engine.gather(self.due.len() as u64)?.into_iter().sum();
        let stretches = (due / DUE_IN_STRETCH).clamp(1, MOST_STRETCHES);
        let (mut rounds, mut stretch) = (0, 1);
        loop {
            self.recolour(step, last_hash(stretch, stretches))?;
            rounds += 1;
            let mut told = Vec::new();
            let sent = self.values.exchange(step.shared, engine, |values, ghost, colour| {
                let known = *values.get(ghost);
                if colour != known {
                    values.set_alone(ghost, colour, step.shared);
                    told.push((ghost, known));
                }
                Ok(())
            })?;
            let (parts, of_parts) = match step.delegates.any {
                true => self.parts.exchange(step, engine)?,
                false => (0, Vec::new()),
            };
            if sent + parts == 0 {
                if stretch == stretches {
                    break;
                }
                stretch += 1;
                continue;
            }
            of_parts.into_iter().for_each(|v| self.look_at(v, step));
            for (ghost, known) in told {
                let list = self.lists.take(ghost, || list_of(step, ghost))?;
                self.look_behind(ghost, known, &list, step);
                self.lists.put_back(ghost, list);
            }
        }
        let Self { values, used, .. } = self;
        values.end_version(step.shared, |v, old, &new| {
            if new as usize >= used.len() {
                used.resize(new as usize + 1, 0);
            }
            used[new as usize] += 1;
            if let Some(old) = old {
                used[old as usize] -= 1;
            }
            take(v, old.map(Cell::Count), Cell::Count(new))
        })?;
        Ok(rounds)
    }

    fn fact(&mut self, engine: &mut Engine<'_>) -> Result<(&'static str, u64)> {
        let own = self.used.iter().rposition(|&count| count > 0).map_or(0, |colour| colour as u64 + 1);
        Ok(("colours", engine.gather(own)?.into_iter().max().unwrap_or(0)))
    }
}
