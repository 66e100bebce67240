//! What a run needs in a process: memory, and bytes that it sends.
//!
//! Memory is that of the arrays of the algorithm, of the vertices that are shared, and of the blocks of one exchange with the copies that the
//! engine makes of them. The graph comes on top: layers are mapped, and what is read of them to memory draws from the same budget. All are upper
//! bounds, but for two: the entries that wait in `sssp` are taken to be four a vertex at most, and ids of text that are named are those of the
//! shard.

use esker_graph::VertexId;

/// What the process itself takes, and small things beside arrays.
pub const PROCESS_BYTES: u64 = 64 << 20;
/// Bytes of memory for each vertex that an exchange names: 12 in a block that grows, and the copies of the engine at both ends.
const EXCHANGE_BYTES: u64 = 48;
/// Bytes of a row while the greatest are found.
const ROW_BYTES: u64 = 72;
/// What a round of `triangles` holds.
const TRIANGLE_ROUND_BYTES: u64 = 96 << 20;

/// The sizes of a shard that decide what a run needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    fn vertices(&self) -> u64 {
        self.owned + self.ghosts
    }

    /// Memory to find the vertices that are shared: owners, lists, and their ids on the way.
    pub(crate) fn routes_bytes(&self) -> u64 {
        let id = size_of::<VertexId>() as u64;
        2 * self.vertices() + 2 * id * (self.ghosts + self.mirrors) + self.exchanged_ids()
    }

    /// Memory of an exchange of the ids of all shared vertices.
    fn exchanged_ids(&self) -> u64 {
        let mean = self.id_bytes.div_ceil(self.vertices().max(1));
        4 * mean * (self.ghosts + self.mirrors)
    }

    /// What an algorithm needs, of which the `top` greatest values, or all, are wanted.
    pub(crate) fn needs(&self, algorithm: &str, has_top: bool) -> RunNeeds {
        let (n, shared, id) = (self.vertices(), self.ghosts + self.mirrors, size_of::<VertexId>() as u64);
        // Of texts: names of own vertices, twice, and the maps that find them.
        let names = if self.text_ids { 96 * self.owned + 4 * self.id_bytes } else { 0 };
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
            "pagerank" => 32 * n,
            "kcore" => (20 + 6 * id) * n,
            "colouring" => (21 + 4 * id) * n,
            "sssp" => 8 * n + 32 * self.arcs.min(4 * n),
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
        let ids = self.id_bytes.div_ceil(n.max(1)) * self.ghosts;
        let sends = match algorithm {
            "degrees" => Sends::InAll(ids + if self.directed { 8 * self.ghosts } else { 0 }),
            // Each ghost is told of once.
            "bfs" => Sends::InAll(ids + 12 * self.ghosts),
            "pagerank" | "kcore" | "sssp" => Sends::ARound(12 * self.ghosts),
            "colouring" => Sends::ARound(12 * self.mirrors),
            "wcc" => Sends::ARound(12 * self.ghosts.max(self.mirrors)),
            "triangles" => Sends::ARound(TRIANGLE_ROUND_BYTES / 6 + 16 * n + 8 * ends),
            _ => Sends::ARound(12 * self.mirrors + if self.directed { 24 * self.arcs } else { 0 }),
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
        let memory_bytes = self.routes_bytes() + arrays + parts + rows + EXCHANGE_BYTES * shared;
        RunNeeds { memory_bytes, sends }
    }
}
