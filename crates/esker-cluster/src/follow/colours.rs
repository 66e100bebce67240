//! Colours that follow: those of [`crate::algorithm`], the greedy ones in the order of a hash of the ids.
//!
//! The colour of a vertex depends on those of its neighbours before it only: it is the least that they leave. So a vertex is looked at again if one of them
//! takes its colour, or gives up a lesser one; in a shard in the order of the hash. As the order has no cycles that ends, with the colours that a
//! greedy colouring of the version gives, whatever was there before [1].
//!
//! [1] S. Sallinen, K. Iwabuchi, S. Poudel, M. Gokhale, M. Ripeanu, R. Pearce, "Graph Colouring as a Challenge Problem for Dynamic Graph
//! Processing on Distributed Systems", SC 2016, colours dynamic graphs in this manner.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use esker_format::Result;
use esker_graph::{Direction, VertexId, vertex};

use super::live::{Live, Step, TakeChange};
use super::values::Values;
use crate::algorithm::{FreeColours, NO_COLOUR, colour_order};
use crate::answer::{Cell, ColumnKind};
use crate::engine::Engine;

#[derive(Default)]
pub(super) struct Colours {
    values: Values<u64>,
    hashes: Vec<u64>,
    /// Own vertices to look at, with their hashes.
    due: BinaryHeap<Reverse<(u64, VertexId)>>,
    is_due: Vec<bool>,
    free: FreeColours,
    /// The number of own vertices of each colour.
    used: Vec<u64>,
}

impl Colours {
    fn is_before(&self, step: &Step<'_>, u: VertexId, v: VertexId) -> bool {
        let ids = step.snapshot.ids();
        match self.hashes[u as usize].cmp(&self.hashes[v as usize]) {
            Ordering::Equal => matches!((ids.external_of(u), ids.external_of(v)), (Ok(u), Ok(v)) if u < v),
            other => other == Ordering::Less,
        }
    }

    /// Has an own vertex looked at.
    fn look_at(&mut self, v: VertexId, step: &Step<'_>) {
        if step.shared.is_owned(v) && !std::mem::replace(&mut self.is_due[v as usize], true) {
            self.due.push(Reverse((self.hashes[v as usize], v)));
        }
    }

    /// Has the own neighbours behind a vertex looked at that are concerned: it had a colour before.
    fn look_behind(&mut self, v: VertexId, before: u64, step: &Step<'_>) -> Result<()> {
        let now = *self.values.get(v);
        for &other in step.snapshot.neighbors(Direction::Out, v)?.iter() {
            let colour = *self.values.get(other);
            if (colour == now || colour > before) && self.is_before(step, v, other) {
                self.look_at(other, step);
            }
        }
        Ok(())
    }

    fn recolour(&mut self, step: &Step<'_>) -> Result<()> {
        while let Some(Reverse((_, v))) = self.due.pop() {
            self.is_due[v as usize] = false;
            let neighbours = step.snapshot.neighbors(Direction::Out, v)?;
            let mut free = std::mem::take(&mut self.free);
            let before = neighbours.iter().filter(|&&u| self.is_before(step, u, v));
            let colour = free.least(before.map(|&u| *self.values.get(u)));
            self.free = free;
            let known = *self.values.get(v);
            if colour != known {
                self.values.set(v, colour, step.shared);
                self.look_behind(v, known, step)?;
            }
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
        step: &Step<'_>,
        engine: &mut Engine<'_>,
        take: &mut TakeChange<'_>,
    ) -> Result<u64> {
        let (ids, order) = (step.snapshot.ids(), colour_order());
        for v in (step.first_new..step.snapshot.num_vertices()).map(vertex) {
            self.values.push(NO_COLOUR);
            self.hashes.push(order.hash(ids.external_of(v)?));
            self.is_due.push(false);
            self.look_at(v, step);
        }
        let added = step.added.iter().map(|edge| (edge, true));
        for (&(u, v), is_added) in added.chain(step.removed.iter().map(|edge| (edge, false))) {
            let (first, later) = if self.is_before(step, u, v) { (u, v) } else { (v, u) };
            let [before, colour] = [first, later].map(|v| *self.values.get(v));
            if u != v && (if is_added { before == colour } else { before < colour }) {
                self.look_at(later, step);
            }
        }
        step.newly_shared.iter().for_each(|&v| self.values.tell(v));
        let mut rounds = 0;
        loop {
            self.recolour(step)?;
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
            if sent == 0 {
                break;
            }
            told.into_iter().try_for_each(|(ghost, known)| self.look_behind(ghost, known, step))?;
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
