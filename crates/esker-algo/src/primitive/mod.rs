//! Building blocks of the algorithms: arrays shared by threads, frontiers, and maps over vertices and edges.

mod requirements;
mod array;
mod flows;
mod rank;
mod share_sums;
mod shares;
mod neighbour_sum;
mod frontier;
mod vertex_map;
mod gather;
mod edge_map;
mod many_searches;
mod reach;
mod vectors;
mod mode;
mod neighbours;
mod earlier;
mod hubs;
mod union_find;
mod reduce;
mod buckets;
mod histogram;
mod units;
mod bfs_forest;
pub mod filter;

pub use array::{ArrayValue, VertexArray, VertexValues};
pub(crate) use bfs_forest::BfsForest;
pub use buckets::{BucketLayout, BucketOrder, Buckets};
pub(crate) use earlier::{
    EarlierNeighbours, InPlaceLists, Oriented, OrientedOptions, full_degree, renumbering_pays,
};
pub use edge_map::{EdgeOp, SwitchThresholds, Way, edge_map, edge_map_way};
pub use filter::{Filter, FilteredDirections};
pub(crate) use flows::{from_fixed, to_fixed};
pub use frontier::Frontier;
pub(crate) use gather::gather;
pub(crate) use histogram::{PeelStep, degrees_without_loops};
pub(crate) use hubs::{BitLine, HubAdjacency, LINE_BITS, bit, clear_word, set_bit};
pub(crate) use many_searches::{ManySearches, SEARCHES_MAX};
pub(crate) use mode::ModeCounter;
pub(crate) use neighbour_sum::{CHUNK_LEN, NeighbourSum, VertexChunk};
pub(crate) use neighbours::{
    concat, filter_list, is_small, neighbourhood_directions, num_entries, scan_neighbours,
};
pub use rank::Ranked;
pub(crate) use reach::reach;
pub use reduce::edge_sum;
pub(crate) use requirements::{need_in_edges, need_positive, need_source, need_target, need_undirected};
pub(crate) use share_sums::Weighing;
pub(crate) use shares::Precision;
pub(crate) use union_find::{UnionFind, frequent};
pub(crate) use units::{Unit, largest_weight, unit_of};
pub(crate) use vectors::{VectorLoop, with_vectors};
pub use vertex_map::{each_vertex, vertex_count, vertex_filter, vertex_map};
