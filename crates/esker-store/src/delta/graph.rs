//! The dynamic graph: insertion, removal and look-up of edges with payloads.

use std::sync::OnceLock;

use esker_format::io::Scratch;
use esker_format::{Error, Result};
use esker_graph::VertexId;

use super::index::VertexIndexes;
use super::layout::Payload;
use super::shard::THRESHOLD_MAX;
use super::sharded::ShardedLists;

/// Whether edges have a direction, and which lists store them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DynamicEdges {
    /// Each edge is in the out-list of its source.
    #[default]
    Out,
    /// Each edge is in the out-list of its source and in the in-list of its target.
    OutAndIn,
    /// Edges have no direction. Each is in the lists of both ends; a self-loop is in one list once.
    Undirected,
}

/// Options of a [`DynamicGraph`].
#[derive(Debug, Clone)]
pub struct DynamicGraphOptions {
    /// Which lists store the edges.
    pub edges: DynamicEdges,
    /// Whether there may be several edges between two vertices. If so, inserting never replaces an edge, and
    /// removing removes all edges from one vertex to the other.
    pub multigraph: bool,
    /// Number of shards, each changed by one thread at a time; rounded up to a power of two, at most 65536.
    pub shards: usize,
    /// Degree from which on a vertex has its own table; at least 1, at most 64.
    pub threshold: usize,
    /// The memory of the tables: [`Scratch::heap`], or a file by [`esker_format::io::Disk::scratch`].
    pub scratch: Scratch,
}

impl Default for DynamicGraphOptions {
    fn default() -> Self {
        Self {
            edges: DynamicEdges::Out,
            multigraph: false,
            shards: 64,
            threshold: 2,
            scratch: Scratch::heap(),
        }
    }
}

/// A dynamic graph: a degree-aware set of Robin Hood hash tables, described at the [module](super).
///
/// Each edge has a payload `P`, which may be `()`. Insertion, removal and look-up take constant time. Memory,
/// for an edge of a vertex with its own table: the size of a target and of the payload plus one byte, divided
/// by the load (60 % to 90 %).
///
/// ```
/// use esker_algo::algorithm::components::wcc::{WccOptions, wcc};
/// use esker_graph::Run;
/// use esker_store::DynamicGraph;
/// use esker_store::delta::{DynamicEdges, DynamicGraphOptions};
///
/// let options = DynamicGraphOptions { edges: DynamicEdges::Undirected, ..Default::default() };
/// let mut graph = DynamicGraph::<()>::new(options)?;
/// graph.insert(0, 1, ())?;
/// graph.insert(1, 2, ())?;
/// graph.insert(3, 4, ())?;
/// graph.remove(0, 1);
/// let found = wcc(&graph, &Run::with_threads(1)?, &WccOptions::default())?;
/// assert_eq!(found.components, 3); // 0; 1 and 2; 3 and 4
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DynamicGraph<P = ()> {
    pub(super) out: ShardedLists<P>,
    pub(super) incoming: Option<ShardedLists<P>>,
    pub(super) options: DynamicGraphOptions,
    /// Lower bound of [`DynamicGraph::num_vertices`].
    vertices_min: usize,
    /// Built by the first scan, dropped by the next change.
    pub(super) indexes: OnceLock<VertexIndexes>,
}

const SHARDS_MAX: usize = 1 << 16;

impl<P: Payload> DynamicGraph<P> {
    /// An empty graph. Memory: a few kilobytes a shard.
    ///
    /// # Errors
    /// [`Error::Invalid`] for options out of range, or if there is no memory.
    pub fn new(options: DynamicGraphOptions) -> Result<Self> {
        if !(1..=THRESHOLD_MAX).contains(&options.threshold) || !(1..=SHARDS_MAX).contains(&options.shards) {
            return Err(Error::invalid(format!(
                "a dynamic graph has 1 to {SHARDS_MAX} shards and a threshold of 1 to {THRESHOLD_MAX}, not {} and {}",
                options.shards, options.threshold
            )));
        }
        let bits = options.shards.next_power_of_two().trailing_zeros();
        let side = || ShardedLists::new(&options.scratch, bits, options.threshold, options.multigraph);
        Ok(Self {
            out: side()?,
            incoming: if options.edges == DynamicEdges::OutAndIn { Some(side()?) } else { None },
            vertices_min: 0,
            indexes: OnceLock::new(),
            options,
        })
    }

    /// Inserts an edge. Unless the graph is a multigraph, replaces an existing edge; returns its payload.
    ///
    /// # Errors
    /// If memory or the scratch file runs out; the graph is then unchanged.
    #[inline]
    pub fn insert(&mut self, source: VertexId, target: VertexId, payload: P) -> Result<Option<P>> {
        self.changed();
        let before = self.out.insert(source, target, payload)?;
        let mirrored = match (&mut self.incoming, self.options.edges) {
            (Some(incoming), _) => incoming.insert(target, source, payload),
            (None, DynamicEdges::Undirected) if source != target => self.out.insert(target, source, payload),
            _ => return Ok(before),
        };
        if let Err(error) = mirrored {
            self.undo_insert(source, target, before);
            return Err(error);
        }
        Ok(before)
    }

    /// Drops the indexes, which a change invalidates.
    #[inline(always)]
    pub(super) fn changed(&mut self) {
        if self.indexes.get().is_some() {
            self.indexes.take();
        }
    }

    /// Undoes the first half of a failed insertion.
    #[cold]
    fn undo_insert(&mut self, source: VertexId, target: VertexId, before: Option<P>) {
        match before {
            Some(before) => {
                self.out.each_copy_mut(source, target, |payload| *payload = before);
            }
            None => self.out.remove_last(source, target),
        }
    }

    /// Removes the edges from `source` to `target`; returns their number.
    #[inline]
    pub fn remove(&mut self, source: VertexId, target: VertexId) -> usize {
        self.changed();
        let removed = self.out.remove(source, target);
        if removed > 0 {
            match (&mut self.incoming, self.options.edges) {
                (Some(incoming), _) => incoming.remove(target, source),
                (None, DynamicEdges::Undirected) if source != target => self.out.remove(target, source),
                _ => removed,
            };
        }
        removed
    }

    /// Whether there is an edge from `source` to `target`.
    pub fn has_edge(&self, source: VertexId, target: VertexId) -> bool {
        self.get(source, target).is_some()
    }

    /// The payload of the edge from `source` to `target`, of the first if there are several.
    #[inline]
    pub fn get(&self, source: VertexId, target: VertexId) -> Option<&P> {
        self.out.get(source, target)
    }

    /// Calls `f` with the payload of each edge from `source` to `target`, in no order.
    pub(crate) fn for_each_copy(&self, source: VertexId, target: VertexId, f: impl FnMut(&P)) {
        self.out.each_copy(source, target, f);
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

    /// Number of arcs: an undirected edge counts twice, a self-loop once.
    pub fn num_entries(&self) -> u64 {
        self.out.edges()
    }

    /// One more than the largest vertex ever inserted, or the number given to
    /// [`DynamicGraph::extend_vertices`], whichever is larger.
    pub fn num_vertices(&self) -> usize {
        self.out.vertices().max(self.vertices_min)
    }

    /// Adds the vertices of `0..num_vertices` that do not exist.
    pub fn extend_vertices(&mut self, num_vertices: usize) {
        if num_vertices > self.vertices_min {
            self.changed();
            self.vertices_min = num_vertices;
        }
    }

    /// The options of the graph.
    pub fn options(&self) -> &DynamicGraphOptions {
        &self.options
    }

    /// Bytes of all tables, in memory or the scratch file, and of the index of a prepared graph.
    pub fn bytes(&self) -> usize {
        let index = self.indexes.get().map_or(0, VertexIndexes::bytes);
        self.out.bytes() + self.incoming.as_ref().map_or(0, ShardedLists::bytes) + index
    }

    /// Removes all edges and vertices and frees the memory.
    pub fn clear(&mut self) {
        self.changed();
        self.out.clear(&self.options.scratch);
        if let Some(incoming) = &mut self.incoming {
            incoming.clear(&self.options.scratch);
        }
        self.vertices_min = 0;
    }
}
