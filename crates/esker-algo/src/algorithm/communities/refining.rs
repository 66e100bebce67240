//! Leiden's refinement: cuts each community into well-connected parts, which become the nodes of the next
//! level.
//!
//! Each node begins as a part of its own. A node that is still alone, and has enough edges into the rest of
//! its community, joins the part of that community where it gains most. A part is left only by a node that is
//! all of it, and then stays empty; so each part is connected, whatever the threads do. Batches are decided
//! and applied as in `moving`.

use std::sync::Arc;

use esker_graph::{Run, Stop, VertexId};

use super::adjacency::{Adjacency, each_entry};
use super::moving::{Decider, Deciders, VisitOrder, batch_len};
use super::partition::{Cost, GAIN_SHARE_MIN, Partition};

/// Nodes that threads take at once.
const GRAIN: usize = 64;

/// Refines the communities of one level.
pub(super) struct Refiner<'a, E> {
    pub(super) run: &'a Run,
    pub(super) lists: &'a dyn Adjacency<Error = E>,
    /// The communities.
    pub(super) bounds: &'a Partition,
    pub(super) cost: Cost,
    /// Entries in the list of a vertex, on average.
    pub(super) entries_each: u64,
    pub(super) deciders: &'a Deciders,
}

/// A node that joins a part.
struct Join {
    at: usize,
    to: VertexId,
    units: u64,
    least: f64,
}

impl<E: From<Stop> + Send> Refiner<'_, E> {
    /// The parts: a partition of the same nodes, finer than the communities.
    pub(super) fn run(&self, order: &VisitOrder) -> Result<Partition, E> {
        let parts = Partition::single(self.run, Arc::clone(&self.bounds.mass));
        self.run.round(order.nodes.len())?;
        let len = batch_len(order.nodes.len(), self.entries_each, order.nodes.len());
        for batch in order.nodes.chunks(len) {
            let mut joins = self.decide_all(&parts, batch)?;
            joins.sort_unstable_by_key(|join| join.at);
            for join in joins {
                self.apply(&parts, batch[join.at], &join);
            }
        }
        Ok(parts)
    }

    fn decide_all(&self, parts: &Partition, batch: &[VertexId]) -> Result<Vec<Join>, E> {
        if batch.len() > GRAIN {
            self.run.short_step();
        }
        let states = self.run.share_ranges(
            batch.len(),
            GRAIN,
            || (self.deciders.take(), Vec::new()),
            |(decider, joins), range| {
                for at in range {
                    joins.extend(self.decide(parts, decider, at, batch[at])?);
                }
                Ok::<(), E>(())
            },
        )?;
        let mut all = Vec::new();
        for (decider, mut joins) in states {
            all.append(&mut joins);
            self.deciders.give_back(decider);
        }
        Ok(all)
    }

    fn decide(
        &self,
        parts: &Partition,
        decider: &mut Decider,
        at: usize,
        v: VertexId,
    ) -> Result<Option<Join>, E> {
        let community = self.bounds.of.get(v);
        // A part is called by the node that began it.
        if parts.of.get(v) != v || parts.len.get(v) != 1 || self.bounds.len.get(community) == 1 {
            return Ok(None);
        }
        let tally = &mut decider.tally;
        tally.prepare(self.lists.degree(v));
        each_entry(self.lists, v, &mut decider.buffers, |u, units| {
            if u != v && self.bounds.of.get(u) == community {
                tally.add(parts.of.get(u), units);
            }
        })?;
        let mass = parts.mass[v as usize];
        let (mut inside, mut best) = (0, (0.0, v, 0));
        tally.drain(|part, units| {
            inside += units;
            let gain = self.cost.gain(units, mass, parts.total.get(part));
            if gain > best.0 || gain == best.0 && part < best.1 {
                best = (gain, part, units);
            }
        });
        let is_well_connected = self.cost.gain(inside, mass, self.bounds.total.get(community) - mass) >= 0.0;
        let least = GAIN_SHARE_MIN * inside as f64;
        let (gain, to, units) = best;
        Ok((is_well_connected && gain > least).then_some(Join { at, to, units, least }))
    }

    fn apply(&self, parts: &Partition, v: VertexId, join: &Join) {
        let is_alone = parts.of.get(v) == v && parts.len.get(v) == 1;
        let gain = self.cost.gain(join.units, parts.mass[v as usize], parts.total.get(join.to));
        if is_alone && parts.len.get(join.to) > 0 && gain > join.least {
            parts.shift(v, join.to);
        }
    }
}
