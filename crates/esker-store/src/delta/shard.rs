//! Part of the vertices with their lists: the low-degree table, the vertex table, and its edge chunks.
//!
//! A vertex begins in the low-degree table, whose entries are whole edges that belong where their source does. At
//! `threshold` edges it moves to the vertex table and a chunk of its own [1, section 4.3]. It moves back once it has at most half as many,
//! so that a vertex on the verge does not move with every update.
//!
//! [1] K. Iwabuchi, "NETALX and DegAwareRHH", chapter 4.

use bytemuck::{Pod, Zeroable};
use esker_graph::VertexId;

use crate::error::Result;
use crate::io::Scratch;
use crate::memory::no_memory;

use super::chunk::{Chunks, Edge, Head};
use super::layout::Payload;
use super::robin::{Record, Slots};
use super::table::Table;

/// What the system pages in at a time.
const PAGE_BYTES: usize = 4096;

/// The largest threshold.
pub(super) const THRESHOLD_MAX: usize = 64;

/// An edge as the low-degree table keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Pair {
    pub(super) source: VertexId,
    pub(super) target: VertexId,
}

impl Record for Pair {
    type Key = Self;

    fn key(self) -> Self {
        self
    }

    #[inline(always)]
    #[allow(clippy::useless_conversion)] // Ids may be 64 bits wide already.
    fn place(key: Self) -> u64 {
        u64::from(key.source)
    }
}

/// Where the list of a vertex lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the low-degree table.
    Low,
    /// In a chunk: its handle and class.
    Chunk(u32, usize),
}

/// The lists of some vertices.
#[derive(Debug)]
pub(super) struct Shard<E, P> {
    low: Table<Pair, P>,
    heads: Table<Head, ()>,
    chunks: Chunks<E, P>,
    threshold: usize,
    /// Sources in the low-degree table.
    low_sources: usize,
    edges: u64,
    /// One more than the largest vertex that an edge was entered with.
    vertices: usize,
    /// Edges on their way from one table to another; empty between operations, with room for `threshold`.
    moving: Vec<(VertexId, P)>,
}

impl<E: Edge, P: Payload> Shard<E, P> {
    pub(super) fn new(scratch: &Scratch, threshold: usize) -> Result<Self> {
        let mut moving = Vec::new();
        moving.try_reserve_exact(threshold).map_err(no_memory)?;
        Ok(Self {
            low: Table::new(scratch),
            heads: Table::new(scratch),
            chunks: Chunks::new(scratch),
            threshold,
            low_sources: 0,
            edges: 0,
            vertices: 0,
            moving,
        })
    }

    /// Number of edges.
    pub(super) fn edges(&self) -> u64 {
        self.edges
    }

    /// Number of vertices with edges.
    pub(super) fn sources(&self) -> usize {
        self.heads.len() + self.low_sources
    }

    /// One more than the largest vertex that an edge was entered with.
    pub(super) fn vertices(&self) -> usize {
        self.vertices
    }

    /// Bytes of the tables and chunks.
    pub(super) fn bytes(&self) -> usize {
        self.low.bytes() + self.heads.bytes() + self.chunks.bytes()
    }

    /// Says that `updates` updates are about to come. If they are so many that most pages of the shard will be touched, those that
    /// the system paged out are fetched in a few large pieces instead of one by one.
    pub(super) fn will_change(&self, updates: usize) {
        if updates * PAGE_BYTES >= self.bytes() {
            self.low.will_need();
            self.heads.will_need();
            self.chunks.will_need();
        }
    }

    /// Enters an edge, or replaces its payload if there can be one only. The payload that it had.
    ///
    /// # Errors
    /// If there is no memory; then nothing is changed.
    #[inline(always)]
    pub(super) fn insert(&mut self, source: VertexId, target: VertexId, payload: P) -> Result<Option<P>> {
        self.insert_at(None, source, target, payload)
    }

    /// As [`Shard::insert`], with the slot of the vertex table that [`Shard::touch_edge`] said, if it still is the one.
    #[inline(always)]
    pub(super) fn insert_at(
        &mut self,
        hint: Option<usize>,
        source: VertexId,
        target: VertexId,
        payload: P,
    ) -> Result<Option<P>> {
        let before = match self.heads.find_near(hint, source) {
            Some(at) => {
                let Some(heads) = self.heads.slots_mut() else { unreachable!("a slot was found") };
                self.chunks.insert(&mut heads.records[at], target, payload)?
            }
            None => self.insert_low(source, target, payload)?,
        };
        if before.is_none() {
            self.edges += 1;
            self.vertices = self.vertices.max(source.max(target) as usize + 1);
        }
        Ok(before)
    }

    /// Asks for what a search for `source` reads first.
    #[inline(always)]
    pub(super) fn touch_head(&self, source: VertexId) {
        if let Some(heads) = self.heads.slots() {
            heads.touch(source);
        }
    }

    /// Asks for what a search for an edge reads next; the slot of its source in the vertex table.
    #[inline(always)]
    pub(super) fn touch_edge(&self, source: VertexId, target: VertexId) -> Option<usize> {
        let at = self.heads.find(source);
        match (at, self.heads.slots()) {
            (Some(at), Some(heads)) => self.chunks.slots(&heads.records[at]).touch(E::copy(target, 0)),
            _ => self.touch_low(source),
        }
        at
    }

    /// Asks for what a search in the low-degree table reads first.
    #[inline(always)]
    pub(super) fn touch_low(&self, source: VertexId) {
        if let Some(low) = self.low.slots() {
            low.touch(Pair { source, target: 0 });
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
            let Some(low) = self.low.slots_mut() else { unreachable!("a slot was found") };
            return Ok(Some(std::mem::replace(&mut low.payloads[at], payload)));
        }
        if degree + 1 >= self.threshold {
            self.promote(source, degree, target, payload)?;
        } else {
            self.low.reserve(1)?;
            self.low.enter(Pair { source, target }, payload);
            self.low_sources += usize::from(degree == 0);
        }
        Ok(None)
    }

    /// Calls `f` with each slot of the low-degree table that holds an edge of `source`.
    #[inline(always)]
    pub(super) fn each_low<'a>(&'a self, source: VertexId, mut f: impl FnMut(&Slots<'a, Pair, P>, usize)) {
        if let Some(slots) = self.low.slots() {
            slots.neighbours(Pair { source, target: 0 }, |at| {
                if slots.records[at].source == source {
                    f(&slots, at);
                }
                true
            });
        }
    }

    /// Moves a vertex from the low-degree table to a chunk, along with one more edge.
    fn promote(&mut self, source: VertexId, degree: usize, target: VertexId, payload: P) -> Result<()> {
        self.heads.reserve(1)?;
        let mut head = self.chunks.make(source, degree + 1)?;
        let mut moving = std::mem::take(&mut self.moving);
        self.each_low(source, |slots, at| moving.push((slots.records[at].target, slots.payloads[at])));
        moving.push((target, payload));
        let entered = moving
            .iter()
            .try_for_each(|&(target, payload)| self.chunks.insert(&mut head, target, payload).map(|_| ()));
        moving.clear();
        self.moving = moving;
        if let Err(error) = entered {
            self.chunks.drop(head);
            return Err(error);
        }
        self.heads.enter(head, ());
        for _ in 0..degree {
            let mut found = None;
            self.each_low(source, |_, at| found = Some(at));
            if let Some(at) = found {
                self.low.kill(at);
            }
        }
        self.low_sources -= usize::from(degree > 0);
        Ok(())
    }

    /// Takes an edge out, with all its copies; how many there were.
    #[inline(always)]
    pub(super) fn remove(&mut self, source: VertexId, target: VertexId) -> usize {
        let removed = match self.heads.find(source) {
            Some(at) => {
                let Some(heads) = self.heads.slots_mut() else { unreachable!("a slot was found") };
                let head = &mut heads.records[at];
                let removed = self.chunks.remove(head, target);
                if removed > 0 && head.degree as usize <= (self.threshold - 1) / 2 {
                    let head = *head;
                    self.demote(at, head);
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
        while let Some(at) = self.low.find(Pair { source, target }) {
            self.low.kill(at);
            removed += 1;
            if !E::MULTI {
                break;
            }
        }
        if removed > 0 {
            let mut left = 0;
            self.each_low(source, |_, _| left += 1);
            self.low_sources -= usize::from(left == 0);
        }
        removed
    }

    /// Moves the vertex of a slot of the vertex table back to the low-degree table. Without memory for that, it stays.
    #[cold]
    fn demote(&mut self, at: usize, head: Head) {
        let degree = head.degree as usize;
        if degree > 0 && self.low.reserve(degree).is_err() {
            return;
        }
        let slots = self.chunks.slots(&head);
        for edge in slots.live() {
            let pair = Pair { source: head.source, target: slots.records[edge].target() };
            self.low.enter(pair, slots.payloads[edge]);
        }
        self.low_sources += usize::from(degree > 0);
        self.chunks.drop(head);
        self.heads.kill(at);
    }

    #[inline(always)]
    fn head(&self, source: VertexId) -> Option<Head> {
        let heads = self.heads.slots()?;
        heads.find(source).map(|at| heads.records[at])
    }

    /// The payload of an edge, of any of its copies if there are several.
    pub(super) fn get(&self, source: VertexId, target: VertexId) -> Option<&P> {
        match self.head(source) {
            Some(head) => {
                let slots = self.chunks.slots(&head);
                slots.find(E::copy(target, 0)).map(|at| &slots.payloads[at])
            }
            None => {
                let slots = self.low.slots()?;
                slots.find(Pair { source, target }).map(|at| &slots.payloads[at])
            }
        }
    }

    /// Calls `f` with the payload of each copy of an edge, in no order.
    pub(super) fn each_copy(&self, source: VertexId, target: VertexId, mut f: impl FnMut(&P)) {
        let Some(head) = self.head(source) else {
            return self.each_low(source, |slots, at| {
                if slots.records[at].target == target {
                    f(&slots.payloads[at]);
                }
            });
        };
        let slots = self.chunks.slots(&head);
        let copies = 0..self.chunks.copies(&head, target);
        let places = copies.filter_map(|copy| slots.find(E::copy(target, copy)));
        places.for_each(|at| f(&slots.payloads[at]));
    }

    /// Calls `f` with the payload of each copy of an edge; how many there are.
    pub(super) fn each_copy_mut(
        &mut self,
        source: VertexId,
        target: VertexId,
        mut f: impl FnMut(&mut P),
    ) -> usize {
        if let Some(head) = self.head(source) {
            let copies = self.chunks.copies(&head, target);
            let slots = self.chunks.slots_mut(&head);
            for copy in 0..copies {
                let Some(at) = slots.read().find(E::copy(target, copy)) else { unreachable!("a copy") };
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

    /// Takes one copy of an edge out, the one that was entered last.
    #[cold]
    pub(super) fn remove_last(&mut self, source: VertexId, target: VertexId) {
        if !E::MULTI {
            self.remove(source, target);
        } else if let Some(at) = self.heads.find(source) {
            let Some(heads) = self.heads.slots_mut() else { unreachable!("a slot was found") };
            self.edges -= u64::from(self.chunks.remove_last(&mut heads.records[at], target));
        } else {
            let mut last = None;
            self.each_low(source, |slots, at| {
                if slots.records[at].target == target {
                    last = Some(at);
                }
            });
            if let Some(at) = last {
                self.low.kill(at);
                self.edges -= 1;
                self.low_sources -= usize::from(self.degree(source) == 0);
            }
        }
    }

    /// Number of edges of a vertex.
    #[inline(always)]
    pub(super) fn degree(&self, source: VertexId) -> usize {
        match self.head(source) {
            Some(head) => head.degree as usize,
            None => {
                let mut degree = 0;
                self.each_low(source, |_, _| degree += 1);
                degree
            }
        }
    }

    /// Calls `f` with each edge of a vertex, in no order.
    pub(super) fn each_edge(&self, source: VertexId, mut f: impl FnMut(VertexId, &P)) {
        match self.head(source) {
            Some(head) => {
                let slots = self.chunks.slots(&head);
                slots.live().for_each(|at| f(slots.records[at].target(), &slots.payloads[at]));
            }
            None => self.each_low(source, |slots, at| f(slots.records[at].target, &slots.payloads[at])),
        }
    }

    /// As [`Shard::each_edge`], for a list of which is known where it lies.
    #[inline(always)]
    pub(super) fn each_entry(&self, source: VertexId, place: Place, mut f: impl FnMut(VertexId, P)) {
        match place {
            Place::Chunk(chunk, class) => {
                let slots = self.slots_at(chunk, class);
                slots.live().for_each(|at| f(slots.records[at].target(), slots.payloads[at]));
            }
            Place::Low => self.each_low(source, |slots, at| f(slots.records[at].target, slots.payloads[at])),
        }
    }

    /// Calls `f` with each vertex that has edges, in no order: the vertex, its degree, and where its list lies.
    pub(super) fn each_source(&self, mut f: impl FnMut(VertexId, usize, Place)) {
        if let Some(slots) = self.heads.slots() {
            for at in slots.live() {
                let head = &slots.records[at];
                f(head.source, head.degree as usize, Place::Chunk(head.chunk, head.class()));
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
                f(source, degree, Place::Low);
            }
        }
    }

    /// Asks for the first lines of a chunk.
    #[inline(always)]
    pub(super) fn touch_chunk(&self, chunk: u32, class: usize) {
        self.chunks.touch(chunk, class);
    }

    /// The slots of a chunk of this handle and class, to go over.
    #[inline(always)]
    pub(super) fn slots_at(&self, chunk: u32, class: usize) -> Slots<'_, E, P> {
        self.chunks.slots_at(chunk, class, 0)
    }

    /// Forgets everything and gives the memory back.
    pub(super) fn clear(&mut self, scratch: &Scratch) {
        self.low.clear();
        self.heads.clear();
        self.chunks = Chunks::new(scratch);
        (self.low_sources, self.edges, self.vertices) = (0, 0, 0);
    }
}
