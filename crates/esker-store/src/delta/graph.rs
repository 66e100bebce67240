//! The dynamic graph itself: edges come and go one by one or in batches, and payloads stand beside them.

use std::sync::OnceLock;

use esker_graph::VertexId;

use crate::error::{Error, Result};
use crate::io::Scratch;

use super::chunk::Head;
use super::index::Indexes;
use super::layout::Payload;
use super::robin::Record;
use super::shard::THRESHOLD_MAX;
use super::side::Side;
use super::table::Table;

/// Whether edges have a direction, and which lists are kept of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Edges {
    /// An edge stands in the list of its source.
    #[default]
    Out,
    /// An edge stands in the out-list of its source and in the in-list of its target.
    OutAndIn,
    /// An edge has no direction and stands in the lists of both ends; a self-loop once.
    Undirected,
}

/// How a [`DynamicGraph`] keeps its edges.
#[derive(Debug, Clone)]
pub struct DynamicGraphOptions {
    /// Which lists are kept.
    pub edges: Edges,
    /// Whether there may be several edges between two vertices. If so, inserting never replaces, and removing
    /// takes all edges from the one to the other.
    pub multigraph: bool,
    /// Parts that batches are divided into, each changed by one thread at a time; rounded up to a power of two, at most 65536.
    pub shards: usize,
    /// Edges from which on a vertex has a table of its own; at least 1, at most 64.
    pub threshold: usize,
    /// Where the tables lie: [`Scratch::heap`], or a file by [`crate::io::Disk::scratch`].
    pub scratch: Scratch,
}

impl Default for DynamicGraphOptions {
    fn default() -> Self {
        Self { edges: Edges::Out, multigraph: false, shards: 64, threshold: 2, scratch: Scratch::heap() }
    }
}

/// A graph that changes edge by edge: a degree-aware set of Robin Hood hash tables (the module's page says how).
///
/// Beside each edge stands a payload `P`, beside each vertex, if it was given one, a payload `V`; both may be `()`.
/// Insertion, removal and look-up take constant time. Memory: for an edge of a vertex of several, the size of a target and of the
/// payload and one byte, divided by the load (60 % to 90 %).
#[derive(Debug)]
pub struct DynamicGraph<P = (), V = ()> {
    pub(super) out: Side<P>,
    pub(super) incoming: Option<Side<P>>,
    pub(super) options: DynamicGraphOptions,
    /// The least that [`DynamicGraph::num_vertices`] says.
    vertices_min: usize,
    properties: Table<Property, V>,
    /// Made when the graph is scanned, dropped when it changes.
    pub(super) indexes: OnceLock<Indexes>,
}

/// The key of a vertex's payload.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub(super) struct Property(VertexId);

impl Record for Property {
    type Key = VertexId;

    fn key(self) -> VertexId {
        self.0
    }

    fn place(key: VertexId) -> u64 {
        Head::place(key)
    }
}

const SHARDS_MAX: usize = 1 << 16;

impl<P: Payload, V: Payload> DynamicGraph<P, V> {
    /// An empty graph. Memory: a few kilobytes a shard.
    ///
    /// # Errors
    /// [`Error::Invalid`] for options out of range, or if there is no memory.
    pub fn new(options: DynamicGraphOptions) -> Result<Self> {
        if !(1..=THRESHOLD_MAX).contains(&options.threshold) || !(1..=SHARDS_MAX).contains(&options.shards) {
            return Err(Error::Invalid(format!(
                "a dynamic graph has 1 to {SHARDS_MAX} shards and a threshold of 1 to {THRESHOLD_MAX}, not {} and {}",
                options.shards, options.threshold
            )));
        }
        let bits = options.shards.next_power_of_two().trailing_zeros();
        let side = || Side::new(&options.scratch, bits, options.threshold, options.multigraph);
        Ok(Self {
            out: side()?,
            incoming: if options.edges == Edges::OutAndIn { Some(side()?) } else { None },
            vertices_min: 0,
            properties: Table::new(&options.scratch),
            indexes: OnceLock::new(),
            options,
        })
    }

    /// Enters an edge. The payload that it replaces, if there can be one edge only between two vertices and there was.
    ///
    /// # Errors
    /// If there is no memory, or no room in the scratch file; then nothing is changed.
    #[inline]
    pub fn insert(&mut self, source: VertexId, target: VertexId, payload: P) -> Result<Option<P>> {
        self.changed();
        let before = self.out.insert(source, target, payload)?;
        let mirrored = match (&mut self.incoming, self.options.edges) {
            (Some(incoming), _) => incoming.insert(target, source, payload),
            (None, Edges::Undirected) if source != target => self.out.insert(target, source, payload),
            _ => return Ok(before),
        };
        if let Err(error) = mirrored {
            self.take_back(source, target, before);
            return Err(error);
        }
        Ok(before)
    }

    /// Drops what no longer holds.
    #[inline(always)]
    pub(super) fn changed(&mut self) {
        if self.indexes.get().is_some() {
            self.indexes.take();
        }
    }

    /// Undoes the first half of an insertion.
    #[cold]
    fn take_back(&mut self, source: VertexId, target: VertexId, before: Option<P>) {
        match before {
            Some(before) => {
                self.out.each_copy_mut(source, target, |payload| *payload = before);
            }
            None => self.out.remove_last(source, target),
        }
    }

    /// Takes the edges from `source` to `target` out; how many there were.
    #[inline]
    pub fn remove(&mut self, source: VertexId, target: VertexId) -> usize {
        self.changed();
        let removed = self.out.remove(source, target);
        if removed > 0 {
            match (&mut self.incoming, self.options.edges) {
                (Some(incoming), _) => incoming.remove(target, source),
                (None, Edges::Undirected) if source != target => self.out.remove(target, source),
                _ => removed,
            };
        }
        removed
    }

    /// Whether there is an edge from `source` to `target`.
    pub fn has_edge(&self, source: VertexId, target: VertexId) -> bool {
        self.get(source, target).is_some()
    }

    /// The payload of the edge from `source` to `target`; of the first, if there are several.
    #[inline]
    pub fn get(&self, source: VertexId, target: VertexId) -> Option<&P> {
        self.out.get(source, target)
    }

    /// Calls `f` with the payload of each edge from `source` to `target`, in no order.
    pub fn for_each_copy(&self, source: VertexId, target: VertexId, f: impl FnMut(&P)) {
        self.out.each_copy(source, target, f);
    }

    /// Calls `change` with the payload of the edge from `source` to `target`, of every copy if there are several, and in every list
    /// that it stands in, so perhaps twice for an edge: it should do the same to both. How many such edges there are.
    pub fn update(&mut self, source: VertexId, target: VertexId, mut change: impl FnMut(&mut P)) -> usize {
        let changed = self.out.each_copy_mut(source, target, &mut change);
        if changed > 0 {
            match (&mut self.incoming, self.options.edges) {
                (Some(incoming), _) => incoming.each_copy_mut(target, source, change),
                (None, Edges::Undirected) if source != target => {
                    self.out.each_copy_mut(target, source, change)
                }
                _ => changed,
            };
        }
        changed
    }

    /// Calls `f` with each neighbour in the out-list of `v` and the payload of the edge to it, in no order.
    pub fn for_each_neighbour(&self, v: VertexId, f: impl FnMut(VertexId, &P)) {
        self.out.each_edge(v, f);
    }

    /// The out-list of `v`, ascending by neighbour.
    pub fn neighbours(&self, v: VertexId) -> Vec<(VertexId, P)> {
        let mut list = Vec::with_capacity(self.out_degree(v));
        self.out.each_edge(v, |target, &payload| list.push((target, payload)));
        list.sort_by_key(|&(target, _)| target);
        list
    }

    /// Length of the out-list of `v`.
    #[inline]
    pub fn out_degree(&self, v: VertexId) -> usize {
        self.out.degree(v)
    }

    /// Number of entries in all out-lists: an undirected edge counts twice, a self-loop once.
    pub fn num_entries(&self) -> u64 {
        self.out.edges()
    }

    /// Number of vertices with a non-empty out-list.
    pub fn num_sources(&self) -> usize {
        self.out.sources()
    }

    /// One more than the largest vertex that an edge was ever entered with, or what [`DynamicGraph::extend_vertices`] said,
    /// whichever is more.
    pub fn num_vertices(&self) -> usize {
        self.out.vertices().max(self.vertices_min)
    }

    /// Makes the vertices `0..num_vertices` exist, with or without edges.
    pub fn extend_vertices(&mut self, num_vertices: usize) {
        if num_vertices > self.vertices_min {
            self.changed();
            self.vertices_min = num_vertices;
        }
    }

    /// Puts a payload beside a vertex; the one that it replaces.
    ///
    /// # Errors
    /// If there is no memory; then nothing is changed.
    pub fn set_vertex(&mut self, v: VertexId, payload: V) -> Result<Option<V>> {
        let before = self.properties.put(Property(v), payload)?;
        self.extend_vertices(v as usize + 1);
        Ok(before)
    }

    /// The payload beside a vertex, if it was given one.
    pub fn vertex(&self, v: VertexId) -> Option<&V> {
        let slots = self.properties.slots()?;
        slots.find(v).map(|at| &slots.payloads[at])
    }

    /// Takes the payload beside a vertex away.
    pub fn remove_vertex(&mut self, v: VertexId) -> Option<V> {
        let at = self.properties.find(v)?;
        let payload = self.vertex(v).copied();
        self.properties.kill(at);
        payload
    }

    /// How the graph keeps its edges.
    pub fn options(&self) -> &DynamicGraphOptions {
        &self.options
    }

    /// Bytes of all tables, memory or scratch file, and of the index of a prepared graph.
    pub fn bytes(&self) -> usize {
        let index = self.indexes.get().map_or(0, Indexes::bytes);
        self.out.bytes() + self.incoming.as_ref().map_or(0, Side::bytes) + self.properties.bytes() + index
    }

    /// Forgets all edges, vertices and payloads and gives the memory back.
    pub fn clear(&mut self) {
        self.changed();
        self.out.clear(&self.options.scratch);
        if let Some(incoming) = &mut self.incoming {
            incoming.clear(&self.options.scratch);
        }
        self.properties.clear();
        self.vertices_min = 0;
    }
}
