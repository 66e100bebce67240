//! What algorithms are made of: arrays that threads share, frontiers, and maps over vertices and edges.

mod array;
mod frontier;
mod vertex_map;
mod edge_map;

pub use array::{Value, VertexArray, VertexValues};
pub use edge_map::{EdgeOp, Way, edge_map, edge_map_way};
pub use frontier::Frontier;
pub use vertex_map::{each_vertex, vertex_count, vertex_filter, vertex_map, vertex_sums};
