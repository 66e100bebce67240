//! What algorithms are made of: arrays that threads share, frontiers, and maps over vertices and edges.

mod array;
mod frontier;
mod vertex_map;
mod edge_map;
mod reach;
mod vectors;
mod tally;
mod earlier;
mod hubs;
mod random;
mod undirected;
mod union_find;
mod rank;
mod neighbours;
mod buckets;
mod histogram;
mod rooted;
pub mod filter;

pub use array::{Real, Value, VertexArray, VertexValues};
pub use buckets::{Buckets, Layout, Order};
pub(crate) use earlier::{Earlier, InPlace, Orientation, Oriented, full_degree, renumbering_pays};
pub use edge_map::{EdgeOp, Way, edge_map, edge_map_way};
pub use filter::{Filter, Sides};
pub use frontier::Frontier;
pub(crate) use histogram::{Peeled, degrees_without_loops};
pub(crate) use hubs::{Hubs, LINE_BITS, Line, bit, clear_word, set_bit};
pub(crate) use neighbours::{both_ways, concat, is_small, num_entries, scan_neighbours};
pub(crate) use random::Draws;
pub use rank::Ranked;
pub(crate) use reach::reach;
pub(crate) use rooted::Rooted;
pub(crate) use tally::Tally;
pub(crate) use undirected::need_undirected;
pub(crate) use union_find::{UnionFind, frequent};
pub(crate) use vectors::{Kernel, with_vectors};
pub use vertex_map::{each_vertex, vertex_count, vertex_filter, vertex_map};
