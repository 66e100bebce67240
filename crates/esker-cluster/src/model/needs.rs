//! What a run needs in a process: memory, and bytes that it sends.
//!
//! Memory is that of the arrays of the algorithm, of the vertices that are shared, and of the blocks of one
//! exchange with the copies that the engine makes of them. The graph comes on top: layers are mapped, and
//! what is read of them to memory draws from the same budget. All are upper bounds, but for two: the entries
//! that wait in `sssp` are taken to be four a vertex at most, and `cdlp` ranks texts in ranges that are taken
//! to be as large as the shards.

use esker_graph::VertexId;
use serde::{Deserialize, Serialize};

/// What the process itself takes, and small things beside arrays.
pub const PROCESS_BYTES: u64 = 64 << 20;
/// Bytes of memory for each vertex that an exchange names: 12 in a block that grows, and the copies of the
/// engine at both ends.
const EXCHANGE_BYTES: u64 = 48;
/// Bytes of a row while the greatest are found.
const ROW_BYTES: u64 = 72;

/// The sizes of a shard that decide what a run needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ShardShape {
    /// Own vertices.
    pub owned: u64,
    /// Copies of vertices of other shards.
    pub ghosts: u64,
    /// Copies of own vertices in other shards.
    pub mirrors: u64,
    /// Copies of delegates in all other shards, at most.
    pub delegate_copies: u64,
    /// Entries of the out-lists of all vertices.
    pub arcs: u64,
    /// Bytes of the ids of all vertices, as they travel.
    pub id_bytes: u64,
    /// Bytes of the ids of the ghosts.
    pub ghost_id_bytes: u64,
    /// Bytes of the ids of the own vertices that are ghosts in other shards, for each of these.
    pub mirror_id_bytes: u64,
    /// Bytes of the longest id of any shard.
    pub id_bytes_max: u64,
    /// Bytes of the ids of the vertices of the whole.
    pub all_id_bytes: u64,
    /// Number of shards.
    pub shards: u64,
    /// Whether edges are directed.
    pub directed: bool,
    /// Whether ids are texts.
    pub text_ids: bool,
}

/// The bytes that a process sends, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sends {
    /// In the whole run.
    InAll(u64),
    /// In each round, of an algorithm whose rounds depend on the graph.
    ARound(u64),
}

/// What a run needs in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunNeeds {
    /// Memory of its arrays, without the process and the graph.
    pub memory_bytes: u64,
    /// What it sends.
    pub sends: Sends,
}

/// What an algorithm itself needs in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AlgorithmNeeds {
    /// Memory of its arrays, and of what it holds of parts of lists.
    pub(crate) array_bytes: u64,
    /// What it sends, besides the ids of shared vertices.
    pub(crate) sends: Sends,
}

impl ShardShape {
    /// Adds the sizes of vertices that came later.
    pub(crate) fn add(&mut self, later: &Self) {
        self.owned += later.owned;
        self.ghosts += later.ghosts;
        self.mirrors += later.mirrors;
        self.id_bytes += later.id_bytes;
        self.ghost_id_bytes += later.ghost_id_bytes;
        self.mirror_id_bytes += later.mirror_id_bytes;
        self.id_bytes_max = self.id_bytes_max.max(later.id_bytes_max);
        self.all_id_bytes += later.all_id_bytes;
        (self.shards, self.arcs) = (later.shards, later.arcs);
        self.delegate_copies = later.delegate_copies;
        (self.directed, self.text_ids) = (later.directed, later.text_ids);
    }

    /// Own vertices and ghosts.
    pub(crate) fn vertices(&self) -> u64 {
        self.owned + self.ghosts
    }

    /// Memory of the vertices that are shared: owners, and lists; and of a list of the own ones.
    fn routes_bytes(&self) -> u64 {
        let id = size_of::<VertexId>() as u64;
        2 * self.vertices() + id * self.owned + 2 * id * (self.ghosts + self.mirrors)
    }

    /// Memory to find them, before the algorithm: their ids on the way, and own vertices by the hash of their
    /// ids.
    fn finding_bytes(&self) -> u64 {
        let id = size_of::<VertexId>() as u64;
        4 * (self.ghost_id_bytes + self.mirror_id_bytes) + (16 + 5 * id) * self.owned
    }

    /// Bytes of the ids that other shards are told for the labels of this one, each shard each one at most
    /// once: what they share with it bounds the labels. They may be the longest ones, but no more than all.
    fn told_names(&self) -> u64 {
        let labels = self.owned.min(self.ghosts + self.mirrors);
        let texts = (labels * self.id_bytes_max).min(self.all_id_bytes);
        self.shards.saturating_sub(1) * (8 * labels + texts)
    }

    /// Memory of an answer that is kept while versions are published: the values and what is shared, in lists
    /// that grow, and what a version takes that changes all vertices, without the changed edges. If
    /// `is_reported`, the values of all own vertices are handed over.
    pub(crate) fn follow_bytes(&self, is_reported: bool) -> u64 {
        let (n, shared) = (self.vertices(), self.ghosts + self.mirrors);
        let names = if self.text_ids { 48 * n + 2 * self.id_bytes } else { 0 };
        let kept = 2 * (24 * n + 4 * self.ghosts + 20 * self.mirrors) + names;
        let rows = if is_reported { 4 * (16 * self.owned + self.id_bytes) } else { 0 };
        let exchanged = 4 * (self.ghost_id_bytes + self.mirror_id_bytes) + EXCHANGE_BYTES * shared;
        kept + 100 * n + rows + exchanged
    }

    /// Of texts: names of own vertices, twice, and the maps that find them.
    pub(crate) fn names_bytes(&self) -> u64 {
        if self.text_ids { 96 * self.owned + 4 * self.id_bytes + 4 * self.told_names() } else { 0 }
    }

    /// The ids of own vertices that name labels, and those that others are told.
    pub(crate) fn named_bytes(&self) -> u64 {
        if self.text_ids { 8 * self.owned + self.id_bytes.max(self.told_names()) } else { 0 }
    }

    /// The neighbours of own vertices in both directions.
    pub(crate) fn ends(&self) -> u64 {
        if self.directed { 2 * self.arcs } else { self.arcs }
    }

    /// Memory of full degrees, if parts of lists are elsewhere.
    pub(crate) fn full_degrees_bytes(&self) -> u64 {
        if self.delegate_copies == 0 { 0 } else { 8 * self.vertices() }
    }

    /// A number for each arc, if parts of lists are elsewhere.
    pub(crate) fn arcs_of_parts(&self) -> u64 {
        if self.delegate_copies == 0 { 0 } else { self.arcs }
    }

    /// Bytes that tell the copies of delegates of their values, and their owners of those of the parts.
    pub(crate) fn delegate_bytes(&self) -> u64 {
        24 * self.delegate_copies
    }

    /// What a run of an algorithm needs, of which the `top` greatest values, or all, are wanted.
    pub(crate) fn needs(&self, own: AlgorithmNeeds, has_top: bool) -> RunNeeds {
        let rows = if has_top { ROW_BYTES * self.owned } else { 0 };
        // What is exchanged by the algorithm comes after the ids.
        let exchanged = self.finding_bytes().max(EXCHANGE_BYTES * (self.ghosts + self.mirrors));
        let memory_bytes = self.routes_bytes() + own.array_bytes + rows + exchanged;
        let sends = match own.sends {
            Sends::InAll(bytes) => Sends::InAll(self.ghost_id_bytes + bytes),
            Sends::ARound(bytes) => Sends::ARound(bytes.max(self.ghost_id_bytes)),
        };
        RunNeeds { memory_bytes, sends }
    }
}
