//! A value for each vertex of a shard, with what changed since the last version, and what others have to be
//! told.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::Arc;

use esker_format::{Error, Result};
use esker_graph::{VertexId, vertex};

use super::shared::Shared;
use crate::net::engine::Engine;
use crate::net::wire::{Taker, put_bytes, put_u64};

/// Sent by the owner of a vertex to a shard in which it is a ghost.
const TO_GHOST: u8 = 0;
/// Sent the other way.
const TO_OWNER: u8 = 1;

/// A value that travels between processes.
pub(super) trait LiveValue: Ord + Clone + Hash {
    fn put(&self, out: &mut Vec<u8>);
    fn take(taker: &mut Taker<'_>) -> Result<Self>;
}

impl LiveValue for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        put_u64(out, *self);
    }

    fn take(taker: &mut Taker<'_>) -> Result<Self> {
        taker.u64()
    }
}

impl LiveValue for Arc<[u8]> {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(out, self);
    }

    fn take(taker: &mut Taker<'_>) -> Result<Self> {
        Ok(taker.counted()?.into())
    }
}

pub(super) struct ChangedValues<V> {
    now: Vec<V>,
    /// The number of vertices of the last version.
    first_new: usize,
    /// The values of the last version of own vertices that have another one now, or had meanwhile.
    before: BTreeMap<VertexId, V>,
    /// The vertices of which others have to be told.
    telling: Vec<VertexId>,
    is_telling: Vec<bool>,
}

impl<V> Default for ChangedValues<V> {
    fn default() -> Self {
        let (now, telling, is_telling) = (Vec::new(), Vec::new(), Vec::new());
        Self { now, first_new: 0, before: BTreeMap::new(), telling, is_telling }
    }
}

impl<V: LiveValue> ChangedValues<V> {
    pub(super) fn get(&self, v: VertexId) -> &V {
        &self.now[v as usize]
    }

    /// Gives the next new vertex a value, of which others need not be told.
    pub(super) fn push(&mut self, value: V) {
        self.now.push(value);
        self.is_telling.push(false);
    }

    /// Changes a value, of which others need not be told.
    pub(super) fn set_alone(&mut self, v: VertexId, value: V, shared: &Shared) {
        let old = std::mem::replace(&mut self.now[v as usize], value);
        if (v as usize) < self.first_new && shared.is_owned(v) {
            self.before.entry(v).or_insert(old);
        }
    }

    /// Changes a value.
    pub(super) fn set(&mut self, v: VertexId, value: V, shared: &Shared) {
        self.set_alone(v, value, shared);
        self.tell(v);
    }

    /// Has the next exchange tell others of a value.
    pub(super) fn tell(&mut self, v: VertexId) {
        if !std::mem::replace(&mut self.is_telling[v as usize], true) {
            self.telling.push(v);
        }
    }

    /// Tells owners and ghosts what changed, and calls `take` with what others tell. Returns the number of
    /// values that all processes sent.
    pub(super) fn exchange(
        &mut self,
        shared: &Shared,
        engine: &mut Engine<'_>,
        mut take: impl FnMut(&mut Self, VertexId, V) -> Result<()>,
    ) -> Result<u64> {
        let mut bodies = vec![Vec::new(); engine.peers()];
        let mut sent = 0;
        for v in std::mem::take(&mut self.telling) {
            self.is_telling[v as usize] = false;
            let value = &self.now[v as usize];
            let mut put = |kind: u8, (shard, place): (usize, u32)| {
                let body: &mut Vec<u8> = &mut bodies[shard];
                body.push(kind);
                body.extend_from_slice(&place.to_le_bytes());
                value.put(body);
                sent += 1;
            };
            match shared.is_owned(v) {
                true => shared.of_own(v).for_each(|ghost| put(TO_GHOST, ghost)),
                false => put(TO_OWNER, shared.of_ghost(v)),
            }
        }
        let blocks = bodies.into_iter().map(|body| {
            let mut block = Vec::with_capacity(8 + body.len());
            put_u64(&mut block, sent);
            block.extend_from_slice(&body);
            block
        });
        let arrived = engine.exchange(blocks.collect());
        let mut sum = 0;
        for (shard, block) in arrived.iter().enumerate() {
            let mut taker = Taker(block);
            sum += taker.u64()?;
            while !taker.is_empty() {
                let (kind, place) = (taker.bytes(1)?[0], taker.u32()?);
                let found = match kind {
                    TO_GHOST => shared.ghost_at(shard, place),
                    TO_OWNER => shared.own_at(shard, place),
                    _ => None,
                };
                let v = found.ok_or_else(|| {
                    Error::invalid(
                        "a process sent a value for a vertex that is not shared with it".to_owned(),
                    )
                })?;
                let value = V::take(&mut taker)?;
                take(self, v, value)?;
            }
        }
        Ok(sum)
    }

    /// Calls `take` with the own vertices whose values changed in this version, ascending: the old values,
    /// which new vertices have not, and the new ones. The next version begins.
    pub(super) fn end_version(
        &mut self,
        shared: &Shared,
        mut take: impl FnMut(VertexId, Option<V>, &V) -> Result<()>,
    ) -> Result<()> {
        for (v, old) in std::mem::take(&mut self.before) {
            let new = &self.now[v as usize];
            if old != *new {
                take(v, Some(old), new)?;
            }
        }
        for v in (self.first_new..self.now.len()).map(vertex).filter(|&v| shared.is_owned(v)) {
            take(v, None, &self.now[v as usize])?;
        }
        self.first_new = self.now.len();
        Ok(())
    }
}
