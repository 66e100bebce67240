//! The memory and reads of an algorithm, estimated before it starts.

use esker_graph::{Direction, Graph, VertexId};

/// The properties of a graph on which an estimate depends.
///
/// ```
/// use esker_algo::Shape;
/// use esker_algo::algorithm::components::wcc::estimate;
/// use esker_graph::Csr;
///
/// let csr = Csr::undirected(1000, &[(0, 1, ()), (1, 2, ())])?;
/// let shape = Shape::of(&csr.graph());
/// assert_eq!((shape.num_vertices, shape.num_arcs), (1000, 4));
/// assert!(estimate(shape).memory_bytes >= 4000); // a label a vertex
/// # Ok::<(), esker_graph::Stop>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Number of vertices.
    pub num_vertices: u64,
    /// Entries in all out-lists.
    pub num_arcs: u64,
    /// Whether out-lists and in-lists differ.
    pub directed: bool,
    /// Whether in-lists can be read; always true for an undirected graph.
    pub in_edges: bool,
    /// Bytes of the weight of each arc; 0 without weights.
    pub weight_bytes: u64,
    /// Whether a scan hands over lists in scattered parts: see [`Graph::is_scattered`].
    pub scattered: bool,
}

impl Shape {
    /// The shape of a graph. Takes O(1).
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

/// The needs of a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Estimate {
    /// The most bytes that the algorithm's own arrays take at one time, including its result but not the
    /// graph.
    pub memory_bytes: u64,
    /// Bytes of neighbour lists that the whole run reads, counted uncompressed. Each algorithm says whether
    /// this is exact, expected or an upper bound.
    pub read_bytes: u64,
}
