//! What a computation will need, known before it starts.

use esker_graph::{Direction, Graph, VertexId};

/// What the needs of an algorithm depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Number of vertices.
    pub num_vertices: u64,
    /// Entries in all out-lists.
    pub num_arcs: u64,
    /// Whether out-lists and in-lists differ.
    pub directed: bool,
    /// Whether in-lists can be read; always so in an undirected graph.
    pub in_edges: bool,
    /// Bytes of the weight beside each neighbour; 0 without weights.
    pub weight_bytes: u64,
    /// Whether lists come in parts all over a scan: see [`Graph::is_scattered`].
    pub scattered: bool,
}

impl Shape {
    /// The shape of a graph. O(1).
    pub fn of<G: Graph>(graph: &G) -> Self {
        Self {
            num_vertices: graph.num_vertices() as u64,
            num_arcs: graph.num_arcs(),
            directed: graph.is_directed(),
            in_edges: graph.has(Direction::In),
            weight_bytes: size_of::<G::Weight>() as u64,
            scattered: graph.is_scattered(),
        }
    }

    /// Bytes of all neighbour ids of one direction, uncompressed.
    pub fn list_bytes(&self) -> u64 {
        self.num_arcs * size_of::<VertexId>() as u64
    }

    /// Bytes of all neighbour ids of one direction and the weights beside them, uncompressed.
    pub fn weighted_list_bytes(&self) -> u64 {
        self.list_bytes() + self.num_arcs * self.weight_bytes
    }
}

/// What a computation will take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Estimate {
    /// The most bytes that the algorithm's own arrays take at one time, the result included. The graph is not
    /// part of it.
    pub memory_bytes: u64,
    /// Bytes of neighbour lists that the whole run reads, as if uncompressed; each algorithm says whether this is
    /// exact, expected or an upper bound.
    pub read_bytes: u64,
}
