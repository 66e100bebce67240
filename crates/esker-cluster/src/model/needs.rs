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
/// What a round of `triangles` holds.
const TRIANGLE_ROUND_BYTES: u64 = 96 << 20;

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

    fn vertices(&self) -> u64 {
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

    /// What an algorithm needs, of which the `top` greatest values, or all, are wanted.
    pub(crate) fn needs(&self, algorithm: &str, has_top: bool) -> RunNeeds {
        let (n, shared, id) = (self.vertices(), self.ghosts + self.mirrors, size_of::<VertexId>() as u64);
        // Of texts: names of own vertices, twice, and the maps that find them.
        let names =
            if self.text_ids { 96 * self.owned + 4 * self.id_bytes + 4 * self.told_names() } else { 0 };
        // The ids of own vertices that name labels, and those that others are told.
        let named = if self.text_ids { 8 * self.owned + self.id_bytes.max(self.told_names()) } else { 0 };
        // The neighbours of own vertices in both directions.
        let ends = if self.directed { 2 * self.arcs } else { self.arcs };
        let arrays = match algorithm {
            "degrees" => {
                if self.directed {
                    24 * n
                } else {
                    8 * n
                }
            }
            "bfs" => 6 * id * n,
            "wcc" => (24 + id) * n + names,
            "pagerank" => 33 * n + 8 * self.owned,
            "kcore" => (20 + 6 * id) * n,
            "colouring" => (21 + 4 * id) * n,
            "sssp" => (8 + 2 * id) * n + 32 * self.arcs.min(4 * n),
            "triangles" => 48 * n + 32 * ends + TRIANGLE_ROUND_BYTES,
            // Communities have names too if ids are integers.
            _ => 88 * n + 2 * names + if self.directed { 64 * self.arcs } else { 0 },
        };
        // Full degrees, the labels beside parts of lists, and the lists themselves.
        let parts = match algorithm {
            _ if self.delegate_copies == 0 => 0,
            "triangles" | "cdlp" => 64 * self.arcs,
            _ => 8 * n,
        };
        let rows = if has_top { ROW_BYTES * self.owned } else { 0 };
        let ids = self.ghost_id_bytes;
        let sends = match algorithm {
            "degrees" => Sends::InAll(ids + if self.directed { 8 * self.ghosts } else { 0 }),
            // Each ghost is told of once, and each mirror in a large level.
            "bfs" => Sends::InAll(ids + 12 * self.ghosts + 4 * self.mirrors),
            "pagerank" => {
                Sends::ARound((8 * if self.directed { self.ghosts } else { self.mirrors }).max(ids))
            }
            "kcore" | "sssp" => Sends::ARound((12 * self.ghosts).max(ids)),
            "colouring" => Sends::ARound((12 * self.mirrors).max(ids)),
            "wcc" => Sends::ARound((12 * self.ghosts.max(self.mirrors)).max(named).max(ids)),
            "triangles" => Sends::ARound((TRIANGLE_ROUND_BYTES / 6 + 16 * n + 8 * ends).max(ids)),
            _ => {
                let labels = 12 * self.mirrors + if self.directed { 24 * self.arcs } else { 0 };
                Sends::ARound(labels.max(8 * self.owned).max(named).max(ids))
            }
        };
        let sends = match (sends, algorithm) {
            (sends, "wcc") => sends,
            (Sends::InAll(bytes), _) => Sends::InAll(bytes + 24 * self.delegate_copies),
            (Sends::ARound(bytes), "triangles" | "cdlp") if self.delegate_copies > 0 => {
                Sends::ARound(bytes + 24 * self.arcs)
            }
            // Colours: those that are taken beside each part of a list.
            (Sends::ARound(bytes), "colouring") if self.delegate_copies > 0 => {
                Sends::ARound(bytes + 12 * self.delegate_copies + 12 * self.arcs)
            }
            (Sends::ARound(bytes), _) => Sends::ARound(bytes + 24 * self.delegate_copies),
        };
        // What is exchanged by the algorithm comes after the ids.
        let exchanged = self.finding_bytes().max(EXCHANGE_BYTES * shared);
        let memory_bytes = self.routes_bytes() + arrays + parts + rows + exchanged;
        RunNeeds { memory_bytes, sends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One long id must not make the estimate count every label as that long.
    #[test]
    fn one_long_id_adds_about_its_length() {
        let (owned, ghosts, mean) = (100_000, 50_000, 12);
        let short = ShardShape {
            owned,
            ghosts,
            mirrors: ghosts,
            id_bytes: mean * (owned + ghosts),
            ghost_id_bytes: mean * ghosts,
            mirror_id_bytes: mean * ghosts,
            id_bytes_max: mean + 8,
            all_id_bytes: 2 * mean * owned,
            shards: 2,
            text_ids: true,
            ..ShardShape::default()
        };
        let id_bytes_max = 60_000;
        let (id_bytes, all_id_bytes) = (short.id_bytes + id_bytes_max, short.all_id_bytes + id_bytes_max);
        let long = ShardShape { id_bytes, id_bytes_max, all_id_bytes, ..short };
        for algorithm in ["wcc", "cdlp"] {
            let (without, with) = (short.needs(algorithm, false), long.needs(algorithm, false));
            let more = with.memory_bytes - without.memory_bytes;
            // The bound of the short ones may have been their greatest length.
            assert!(more < 16 * (id_bytes_max + short.all_id_bytes), "{algorithm}: {more}");
        }
    }
}
