//! A directed graph as an undirected one, without a copy: the list of a vertex is its out-list and its
//! in-list, merged as it is read.
//!
//! Where a graph keeps one edge between two vertices at most, `a -> b` and `b -> a` become one edge with the
//! smaller of their weights. In a multigraph, each directed edge becomes an undirected one. A self-loop stays
//! in its list once.
//!
//! Mapped lists are read in pairs. From a pool, heads or tiles, lists come in pieces and in any order. So the
//! lists of a block of vertices are collected in memory, by a scan of the out-lists and one of the in-lists,
//! before they are merged.

mod merge;
mod block;
mod side;

pub(crate) use side::SymmetricSide;
pub use side::{undirected_block_bytes, undirected_bytes};
