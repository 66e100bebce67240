//! A shard: some of the vertices with their lists, in a low-degree table, a vertex table and edge chunks.
//!
//! A vertex begins in the low-degree table, whose records are whole edges, hashed by source. At `threshold`
//! edges it moves to the vertex table and gets its own chunk [1, section 4.3]. It moves back once it has at
//! most half as many, so that a vertex near the threshold does not move with every update.
//!
//! [1] K. Iwabuchi, "NETALX and DegAwareRHH", chapter 4.

use bytemuck::{Pod, Zeroable};
use esker_format::Result;
use esker_format::io::Scratch;
use esker_format::memory::no_memory;
use esker_graph::VertexId;

use super::chunk::{Chunks, EdgeRecord, VertexEntry};
use super::layout::Payload;
use super::robin::{SlotRecord, Slots};
use super::table::SlotTable;

/// The unit in which the system pages in memory.
const PAGE_BYTES: usize = 4096;

/// The largest threshold.
pub(super) const THRESHOLD_MAX: usize = 64;

/// An edge in the low-degree table.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct LowDegreeEdge {
    pub(super) source: VertexId,
    pub(super) target: VertexId,
}

impl SlotRecord for LowDegreeEdge {
    type Key = Self;

    fn key(self) -> Self {
        self
    }

    #[inline(always)]
    #[allow(clippy::useless_conversion)] // Ids may be 64 bits wide already.
    fn hashed_part(key: Self) -> u64 {
        u64::from(key.source)
    }
}

/// The location of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListLocation {
    /// In the low-degree table.
    Low,
    /// In a chunk: its handle and class.
    Chunk(u32, usize),
}

/// The lists of some vertices.
#[derive(Debug)]
pub(super) struct Shard<E, P> {
    low: SlotTable<LowDegreeEdge, P>,
    vertex_table: SlotTable<VertexEntry, ()>,
    chunks: Chunks<E, P>,
    threshold: usize,
    edges: u64,
    /// One more than the largest vertex ever inserted.
    vertices: usize,
    /// Edges being moved between tables; empty between operations, with capacity for `threshold`.
    moving: Vec<(VertexId, P)>,
}

impl<E: EdgeRecord, P: Payload> Shard<E, P> {
    pub(super) fn new(scratch: &Scratch, threshold: usize) -> Result<Self> {
        let mut moving = Vec::new();
        moving.try_reserve_exact(threshold).map_err(no_memory)?;
        Ok(Self {
            low: SlotTable::new(scratch),
            vertex_table: SlotTable::new(scratch),
            chunks: Chunks::new(scratch),
            threshold,
            edges: 0,
            vertices: 0,
            moving,
        })
    }

    /// Number of edges.
    pub(super) fn edges(&self) -> u64 {
        self.edges
    }

    /// One more than the largest vertex ever inserted.
    pub(super) fn vertices(&self) -> usize {
        self.vertices
    }

    /// Bytes of the tables and chunks.
    pub(super) fn bytes(&self) -> usize {
        self.low.bytes() + self.vertex_table.bytes() + self.chunks.bytes()
    }

    /// Hint: `updates` updates follow. If there are enough to touch most pages of the shard, the system pages
    /// them in with a few large reads instead of one by one.
    pub(super) fn will_change(&self, updates: usize) {
        if updates * PAGE_BYTES >= self.bytes() {
            self.low.will_need();
            self.vertex_table.will_need();
            self.chunks.will_need();
        }
    }

    /// Inserts an edge, or replaces its payload if it cannot have copies; returns the replaced payload.
    ///
    /// # Errors
    /// If there is no memory; the shard is then unchanged.
    #[inline(always)]
    pub(super) fn insert(&mut self, source: VertexId, target: VertexId, payload: P) -> Result<Option<P>> {
        self.insert_at(None, source, target, payload)
    }

    /// As [`Shard::insert`], with the slot of the vertex table that [`Shard::prefetch_edge`] returned; it may
    /// be outdated.
    #[inline(always)]
    pub(super) fn insert_at(
        &mut self,
        hint: Option<usize>,
        source: VertexId,
        target: VertexId,
        payload: P,
    ) -> Result<Option<P>> {
        let before = match self.vertex_table.find_near(hint, source) {
            Some(at) => {
                let Some(vertex_table) = self.vertex_table.slots_mut() else {
                    unreachable!("the table has a slot")
                };
                self.chunks.insert(&mut vertex_table.records[at], target, payload)?
            }
            None => self.insert_low(source, target, payload)?,
        };
        if before.is_none() {
            self.edges += 1;
            self.vertices = self.vertices.max(source.max(target) as usize + 1);
        }
        Ok(before)
    }

    /// Prefetches what a search for `source` reads first.
    #[inline(always)]
    pub(super) fn prefetch_vertex(&self, source: VertexId) {
        if let Some(vertex_table) = self.vertex_table.slots() {
            vertex_table.prefetch(source);
        }
    }

    /// Prefetches what a search for an edge reads next; returns the slot of its source in the vertex table.
    #[inline(always)]
    pub(super) fn prefetch_edge(&self, source: VertexId, target: VertexId) -> Option<usize> {
        let at = self.vertex_table.find(source);
        match (at, self.vertex_table.slots()) {
            (Some(at), Some(vertex_table)) => {
                self.chunks.slots(&vertex_table.records[at]).prefetch(E::copy(target, 0));
            }
            _ => self.prefetch_low(source),
        }
        at
    }

    /// Prefetches what a search in the low-degree table reads first.
    #[inline(always)]
    pub(super) fn prefetch_low(&self, source: VertexId) {
        if let Some(low) = self.low.slots() {
            low.prefetch(LowDegreeEdge { source, target: 0 });
        }
    }

    fn insert_low(&mut self, source: VertexId, target: VertexId, payload: P) -> Result<Option<P>> {
        let (mut degree, mut found) = (0, None);
        self.each_low(source, |slots, at| {
            degree += 1;
            if slots.records[at].target == target {
                found = Some(at);
            }
        });
        if let (Some(at), false) = (found, E::MULTI) {
            let Some(low) = self.low.slots_mut() else { unreachable!("the table has a slot") };
            return Ok(Some(std::mem::replace(&mut low.payloads[at], payload)));
        }
        if degree + 1 >= self.threshold {
            self.promote(source, degree, target, payload)?;
        } else {
            self.low.reserve(1)?;
            self.low.insert_absent(LowDegreeEdge { source, target }, payload);
        }
        Ok(None)
    }

    /// Calls `f` with each slot of the low-degree table that holds an edge of `source`.
    #[inline(always)]
    pub(super) fn each_low<'a>(
        &'a self,
        source: VertexId,
        mut f: impl FnMut(&Slots<'a, LowDegreeEdge, P>, usize),
    ) {
        if let Some(slots) = self.low.slots() {
            slots.neighbours(LowDegreeEdge { source, target: 0 }, |at| {
                if slots.records[at].source == source {
                    f(&slots, at);
                }
                true
            });
        }
    }

    /// Moves a vertex from the low-degree table to a chunk, and inserts one more edge.
    fn promote(&mut self, source: VertexId, degree: usize, target: VertexId, payload: P) -> Result<()> {
        self.vertex_table.reserve(1)?;
        let mut entry = self.chunks.make(source, degree + 1)?;
        let mut moving = std::mem::take(&mut self.moving);
        self.each_low(source, |slots, at| moving.push((slots.records[at].target, slots.payloads[at])));
        moving.push((target, payload));
        let entered = moving
            .iter()
            .try_for_each(|&(target, payload)| self.chunks.insert(&mut entry, target, payload).map(|_| ()));
        moving.clear();
        self.moving = moving;
        if let Err(error) = entered {
            self.chunks.drop(entry);
            return Err(error);
        }
        self.vertex_table.insert_absent(entry, ());
        for _ in 0..degree {
            let mut found = None;
            self.each_low(source, |_, at| found = Some(at));
            if let Some(at) = found {
                self.low.mark_dead(at);
            }
        }
        Ok(())
    }

    /// Removes an edge with all its copies; returns their number.
    #[inline(always)]
    pub(super) fn remove(&mut self, source: VertexId, target: VertexId) -> usize {
        let removed = match self.vertex_table.find(source) {
            Some(at) => {
                let Some(vertex_table) = self.vertex_table.slots_mut() else {
                    unreachable!("the table has a slot")
                };
                let entry = &mut vertex_table.records[at];
                let removed = self.chunks.remove(entry, target);
                if removed > 0 && entry.degree as usize <= (self.threshold - 1) / 2 {
                    let entry = *entry;
                    self.demote(at, entry);
                }
                removed
            }
            None => self.remove_low(source, target),
        };
        self.edges -= removed as u64;
        removed
    }

    fn remove_low(&mut self, source: VertexId, target: VertexId) -> usize {
        let mut removed = 0;
        while let Some(at) = self.low.find(LowDegreeEdge { source, target }) {
            self.low.mark_dead(at);
            removed += 1;
            if !E::MULTI {
                break;
            }
        }
        removed
    }

    /// Moves the vertex at a slot of the vertex table back to the low-degree table. Without memory for that,
    /// it stays.
    #[cold]
    fn demote(&mut self, at: usize, entry: VertexEntry) {
        let degree = entry.degree as usize;
        if degree > 0 && self.low.reserve(degree).is_err() {
            return;
        }
        let slots = self.chunks.slots(&entry);
        for edge in slots.live() {
            let pair = LowDegreeEdge { source: entry.source, target: slots.records[edge].target() };
            self.low.insert_absent(pair, slots.payloads[edge]);
        }
        self.chunks.drop(entry);
        self.vertex_table.mark_dead(at);
    }

    #[inline(always)]
    fn entry(&self, source: VertexId) -> Option<VertexEntry> {
        let vertex_table = self.vertex_table.slots()?;
        vertex_table.find(source).map(|at| vertex_table.records[at])
    }

    /// The payload of an edge, of any copy if there are several.
    pub(super) fn get(&self, source: VertexId, target: VertexId) -> Option<&P> {
        match self.entry(source) {
            Some(entry) => {
                let slots = self.chunks.slots(&entry);
                slots.find(E::copy(target, 0)).map(|at| &slots.payloads[at])
            }
            None => {
                let slots = self.low.slots()?;
                slots.find(LowDegreeEdge { source, target }).map(|at| &slots.payloads[at])
            }
        }
    }

    /// Calls `f` with the payload of each copy of an edge, in no order.
    pub(super) fn each_copy(&self, source: VertexId, target: VertexId, mut f: impl FnMut(&P)) {
        let Some(entry) = self.entry(source) else {
            return self.each_low(source, |slots, at| {
                if slots.records[at].target == target {
                    f(&slots.payloads[at]);
                }
            });
        };
        let slots = self.chunks.slots(&entry);
        let copies = 0..self.chunks.copies(&entry, target);
        let locations = copies.filter_map(|copy| slots.find(E::copy(target, copy)));
        locations.for_each(|at| f(&slots.payloads[at]));
    }

    /// Calls `f` with the payload of each copy of an edge; returns their number.
    pub(super) fn each_copy_mut(
        &mut self,
        source: VertexId,
        target: VertexId,
        mut f: impl FnMut(&mut P),
    ) -> usize {
        if let Some(entry) = self.entry(source) {
            let copies = self.chunks.copies(&entry, target);
            let slots = self.chunks.slots_mut(&entry);
            for copy in 0..copies {
                let Some(at) = slots.read().find(E::copy(target, copy)) else {
                    unreachable!("the copy exists")
                };
                f(&mut slots.payloads[at]);
            }
            return copies;
        }
        let (mut found, mut copies) = ([0; THRESHOLD_MAX], 0);
        self.each_low(source, |slots, at| {
            if slots.records[at].target == target {
                found[copies] = at;
                copies += 1;
            }
        });
        if let Some(slots) = self.low.slots_mut() {
            found[..copies].iter().for_each(|&at| f(&mut slots.payloads[at]));
        }
        copies
    }

    /// Removes the copy of an edge that was inserted last.
    #[cold]
    pub(super) fn remove_last(&mut self, source: VertexId, target: VertexId) {
        if !E::MULTI {
            self.remove(source, target);
        } else if let Some(at) = self.vertex_table.find(source) {
            let Some(vertex_table) = self.vertex_table.slots_mut() else {
                unreachable!("the table has a slot")
            };
            self.edges -= u64::from(self.chunks.remove_last(&mut vertex_table.records[at], target));
        } else {
            let mut last = None;
            self.each_low(source, |slots, at| {
                if slots.records[at].target == target {
                    last = Some(at);
                }
            });
            if let Some(at) = last {
                self.low.mark_dead(at);
                self.edges -= 1;
            }
        }
    }

    /// Number of edges of a vertex.
    #[inline(always)]
    pub(super) fn degree(&self, source: VertexId) -> usize {
        match self.entry(source) {
            Some(entry) => entry.degree as usize,
            None => {
                let mut degree = 0;
                self.each_low(source, |_, _| degree += 1);
                degree
            }
        }
    }

    /// Calls `f` with each edge of a vertex, in no order.
    pub(super) fn each_edge(&self, source: VertexId, mut f: impl FnMut(VertexId, &P)) {
        match self.entry(source) {
            Some(entry) => {
                let slots = self.chunks.slots(&entry);
                slots.live().for_each(|at| f(slots.records[at].target(), &slots.payloads[at]));
            }
            None => self.each_low(source, |slots, at| f(slots.records[at].target, &slots.payloads[at])),
        }
    }

    /// Calls `f` with each vertex that has edges, in no order: the vertex, its degree, and the location of
    /// its list.
    pub(super) fn each_source(&self, mut f: impl FnMut(VertexId, usize, ListLocation)) {
        if let Some(slots) = self.vertex_table.slots() {
            for at in slots.live() {
                let entry = &slots.records[at];
                f(entry.source, entry.degree as usize, ListLocation::Chunk(entry.chunk, entry.class()));
            }
        }
        let Some(slots) = self.low.slots() else { return };
        for at in slots.live() {
            let source = slots.records[at].source;
            let (mut first, mut degree) = (None, 0);
            self.each_low(source, |_, at| {
                first = first.or(Some(at));
                degree += 1;
            });
            if first == Some(at) {
                f(source, degree, ListLocation::Low);
            }
        }
    }

    /// Prefetches the start of a chunk.
    #[inline(always)]
    pub(super) fn prefetch_chunk(&self, chunk: u32, class: usize) {
        self.chunks.prefetch(chunk, class);
    }

    /// The slots of a chunk, for a scan.
    #[inline(always)]
    pub(super) fn slots_at(&self, chunk: u32, class: usize) -> Slots<'_, E, P> {
        self.chunks.slots_at(chunk, class, 0)
    }

    /// Removes all edges and frees the memory.
    pub(super) fn clear(&mut self, scratch: &Scratch) {
        self.low.clear();
        self.vertex_table.clear();
        self.chunks = Chunks::new(scratch);
        (self.edges, self.vertices) = (0, 0);
    }
}
