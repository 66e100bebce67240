//! Values that spread along edges, each vertex taking the least that comes to it: components and depths.
//!
//! A vertex begins with a value of its own; a neighbour passes its value on, as it is (components) or one
//! more (depths). Values are settled in order from a heap, so inside a shard each list is read about once;
//! what comes nearer elsewhere is told, as in [`crate::algorithm`]. Additions only lower values. A removal
//! may leave values without their reason: those of the components that it touched, or all that are deeper
//! than the least deep edge that carried a search and was removed. They are set back in all shards, and
//! spread again.
//!
//! Time: additions O(k log k) for k added edges and entries of the lists of changed vertices; removals O(n)
//! besides, and the part that is set back.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use esker_format::Result;
use esker_graph::{Direction, VertexId, vertex};
use esker_store::ids::ExternalId;

use super::live::{Live, ShardStep, TakeChange};
use super::values::{ChangedValues, LiveValue};
use crate::model::answer::{Cell, ColumnKind, OwnedId};
use crate::model::owner::typed_id;
use crate::net::engine::Engine;
use crate::net::wire::Taker;

/// The depth of a vertex that is not reached.
const FAR: u64 = u64::MAX;

/// What spreads.
pub(super) trait Spreads {
    type Value: LiveValue;
    /// Whether values pass against the direction of edges too.
    const BOTH_WAYS: bool;
    const COLUMN: (&'static str, ColumnKind);
    /// The fact that counts the vertices for which [`Spreads::counts`] holds.
    const FACT: &'static str;

    /// The value that a vertex begins with.
    fn first(&self, id: ExternalId<'_>) -> Self::Value;

    /// What a neighbour of a vertex with a value takes.
    fn passed(&self, value: &Self::Value) -> Option<Self::Value>;

    /// What is lost with an edge over which a value may have passed; `None`: nothing.
    fn lost(&self, source: &Self::Value, target: &Self::Value) -> Option<Self::Value>;

    /// Whether a value may lack its reason, after all that was lost, ascending.
    fn is_lost(&self, value: &Self::Value, lost: &[Self::Value]) -> bool;

    /// Whether a value that is not lost has to spread again.
    fn spreads_again(&self, value: &Self::Value, lost: &[Self::Value]) -> bool;

    fn counts(&self, id: ExternalId<'_>, value: &Self::Value) -> bool;

    fn cell(&self, value: &Self::Value) -> Cell;
}

/// Components of integer ids: the least id of each.
pub(super) struct Components;

impl Spreads for Components {
    type Value = u64;
    const BOTH_WAYS: bool = true;
    const COLUMN: (&'static str, ColumnKind) = ("component", ColumnKind::Id);
    const FACT: &'static str = "components";

    fn first(&self, id: ExternalId<'_>) -> u64 {
        match id {
            ExternalId::Int(id) => id,
            ExternalId::Text(_) => unreachable!("the ids of the cluster are integers"),
        }
    }

    fn passed(&self, value: &u64) -> Option<u64> {
        Some(*value)
    }

    fn lost(&self, source: &u64, _: &u64) -> Option<u64> {
        Some(*source)
    }

    fn is_lost(&self, value: &u64, lost: &[u64]) -> bool {
        lost.binary_search(value).is_ok()
    }

    fn spreads_again(&self, _: &u64, _: &[u64]) -> bool {
        false
    }

    fn counts(&self, id: ExternalId<'_>, value: &u64) -> bool {
        self.first(id) == *value
    }

    fn cell(&self, value: &u64) -> Cell {
        Cell::Id(OwnedId::Int(*value))
    }
}

/// Components of text ids.
pub(super) struct TextComponents;

impl Spreads for TextComponents {
    type Value = Arc<[u8]>;
    const BOTH_WAYS: bool = Components::BOTH_WAYS;
    const COLUMN: (&'static str, ColumnKind) = Components::COLUMN;
    const FACT: &'static str = Components::FACT;

    fn first(&self, id: ExternalId<'_>) -> Arc<[u8]> {
        match id {
            ExternalId::Text(text) => text.into(),
            ExternalId::Int(_) => unreachable!("the ids of the cluster are texts"),
        }
    }

    fn passed(&self, value: &Arc<[u8]>) -> Option<Arc<[u8]>> {
        Some(Arc::clone(value))
    }

    fn lost(&self, source: &Arc<[u8]>, _: &Arc<[u8]>) -> Option<Arc<[u8]>> {
        Some(Arc::clone(source))
    }

    fn is_lost(&self, value: &Arc<[u8]>, lost: &[Arc<[u8]>]) -> bool {
        lost.binary_search(value).is_ok()
    }

    fn spreads_again(&self, _: &Arc<[u8]>, _: &[Arc<[u8]>]) -> bool {
        false
    }

    fn counts(&self, id: ExternalId<'_>, value: &Arc<[u8]>) -> bool {
        matches!(id, ExternalId::Text(text) if text == &value[..])
    }

    fn cell(&self, value: &Arc<[u8]>) -> Cell {
        Cell::Id(OwnedId::Text(value.to_vec()))
    }
}

/// Depths below a source.
pub(super) struct Depths {
    source: OwnedId,
}

impl Depths {
    pub(super) fn new(source: &str, is_text: bool) -> Result<Self> {
        Ok(Self { source: parse_id(source, is_text)? })
    }
}

/// An id that a user typed.
pub(super) fn parse_id(text: &str, is_text: bool) -> Result<OwnedId> {
    typed_id(text, is_text).map(OwnedId::from)
}

impl Spreads for Depths {
    type Value = u64;
    const BOTH_WAYS: bool = false;
    const COLUMN: (&'static str, ColumnKind) = ("depth", ColumnKind::Count);
    const FACT: &'static str = "reached";

    fn first(&self, id: ExternalId<'_>) -> u64 {
        if id == self.source.as_id() { 0 } else { FAR }
    }

    fn passed(&self, value: &u64) -> Option<u64> {
        (*value != FAR).then(|| value + 1)
    }

    fn lost(&self, source: &u64, target: &u64) -> Option<u64> {
        (self.passed(source) == Some(*target)).then_some(*source)
    }

    fn is_lost(&self, value: &u64, lost: &[u64]) -> bool {
        lost.first().is_some_and(|least| value > least)
    }

    fn spreads_again(&self, value: &u64, lost: &[u64]) -> bool {
        lost.first() == Some(value)
    }

    fn counts(&self, _: ExternalId<'_>, value: &u64) -> bool {
        *value != FAR
    }

    fn cell(&self, value: &u64) -> Cell {
        if *value == FAR { Cell::Missing } else { Cell::Count(*value) }
    }
}

/// An answer that spreads.
pub(super) struct Spread<S: Spreads> {
    what: S,
    directed: bool,
    values: ChangedValues<S::Value>,
    /// Vertices whose values have to be passed on.
    waiting: BinaryHeap<Reverse<(S::Value, VertexId)>>,
    /// The own vertices for which [`Spreads::counts`] holds.
    counted: u64,
}

impl<S: Spreads> Spread<S> {
    pub(super) fn new(what: S, directed: bool) -> Self {
        let (values, waiting) = (ChangedValues::default(), BinaryHeap::new());
        Self { what, directed, values, waiting, counted: 0 }
    }

    fn wait(&mut self, v: VertexId) {
        let value = self.values.get(v);
        if self.what.passed(value).is_some() {
            self.waiting.push(Reverse((value.clone(), v)));
        }
    }

    /// What all processes lost, ascending.
    fn lost(&self, step: &ShardStep<'_>, engine: &mut Engine<'_>) -> Result<Vec<S::Value>> {
        let mut lost = Vec::new();
        for &(source, target) in &step.removed {
            let (source, target) = (self.values.get(source), self.values.get(target));
            lost.extend(self.what.lost(source, target));
            if !self.directed {
                lost.extend(self.what.lost(target, source));
            }
        }
        lost.sort_unstable();
        lost.dedup();
        let mut block = Vec::new();
        lost.iter().for_each(|value| value.put(&mut block));
        let mut all = Vec::new();
        for block in engine.exchange(vec![block; engine.peers()]) {
            let mut taker = Taker(&block);
            while !taker.is_empty() {
                all.push(S::Value::take(&mut taker)?);
            }
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    /// Sets back the values that may have lost their reason. All processes do so with the same, so nobody is
    /// told.
    fn set_back(&mut self, step: &ShardStep<'_>, lost: &[S::Value]) -> Result<()> {
        for v in (0..step.first_new).map(vertex) {
            let value = self.values.get(v);
            if self.what.is_lost(value, lost) {
                let first = self.what.first(step.version.ids().external_of(v)?);
                self.values.set_alone(v, first, step.shared);
                self.wait(v);
            } else if self.what.spreads_again(value, lost) {
                self.wait(v);
            }
        }
        Ok(())
    }

    /// Passes values on inside the shard. An undirected edge between two shards is in the lists of both, and
    /// each looks after its own end; but those of delegates are in one only.
    fn spread(&mut self, step: &ShardStep<'_>) -> Result<()> {
        let both = S::BOTH_WAYS && self.directed;
        let directions: &[Direction] =
            if both { &[Direction::Out, Direction::In] } else { &[Direction::Out] };
        while let Some(Reverse((value, v))) = self.waiting.pop() {
            if value != *self.values.get(v) {
                continue;
            }
            for &direction in directions {
                for &other in step.version.neighbors(direction, v)?.iter() {
                    self.pass(v, other, step);
                }
            }
        }
        Ok(())
    }

    /// Passes the value of a vertex on to a neighbour.
    fn pass(&mut self, v: VertexId, other: VertexId, step: &ShardStep<'_>) {
        let is_ours = self.directed || step.delegates.any || step.shared.is_owned(other);
        let Some(passed) = self.what.passed(self.values.get(v)).filter(|_| is_ours) else { return };
        if passed < *self.values.get(other) {
            self.values.set(other, passed, step.shared);
            self.wait(other);
        }
    }
}

impl<S: Spreads> Live for Spread<S> {
    fn column(&self) -> (&'static str, ColumnKind) {
        S::COLUMN
    }

    fn advance(
        &mut self,
        step: &ShardStep<'_>,
        engine: &mut Engine<'_>,
        take: &mut TakeChange<'_>,
    ) -> Result<u64> {
        let lost = self.lost(step, engine)?;
        if !lost.is_empty() {
            self.set_back(step, &lost)?;
        }
        let ids = step.version.ids();
        for v in (step.first_new..step.version.num_vertices()).map(vertex) {
            let first = self.what.first(ids.external_of(v)?);
            self.values.push(first);
            self.wait(v);
        }
        // Of a vertex that keeps its value, the rest of the list need not be read.
        for &(source, target) in &step.added {
            self.pass(source, target, step);
            if S::BOTH_WAYS || !self.directed {
                self.pass(target, source, step);
            }
        }
        step.newly_shared.iter().for_each(|&v| self.values.tell(v));
        let mut rounds = 0;
        loop {
            self.spread(step)?;
            rounds += 1;
            let Self { values, waiting, .. } = self;
            let sent = values.exchange(step.shared, engine, |values, v, value| {
                if value < *values.get(v) {
                    match step.shared.is_owned(v) {
                        true => values.set(v, value.clone(), step.shared),
                        false => values.set_alone(v, value.clone(), step.shared),
                    }
                    waiting.push(Reverse((value, v)));
                }
                Ok(())
            })?;
            if sent == 0 {
                break;
            }
        }
        let Self { what, values, counted, .. } = self;
        values.end_version(step.shared, |v, old, new| {
            let id = ids.external_of(v)?;
            *counted += u64::from(what.counts(id, new));
            *counted -= u64::from(old.as_ref().is_some_and(|old| what.counts(id, old)));
            take(v, old.map(|old| what.cell(&old)), what.cell(new))
        })?;
        Ok(rounds)
    }

    fn fact(&mut self, engine: &mut Engine<'_>) -> Result<(&'static str, u64)> {
        Ok((S::FACT, engine.sum([self.counted])?[0]))
    }
}
