//! The `tiles` encoding: the adjacency matrix in squares, to be streamed (G-Store [1]).
//!
//! Tiles are a second form of a complete layer, beside its lists: analyses may choose them, everything else goes on reading lists. The
//! matrix is cut into *tiles* of 2^16 by 2^16 cells, so that within a tile a position takes 32 bits ([1], IV-B); of a symmetric matrix
//! only the upper triangle is kept ([1], IV-A). Tiles lie in *groups* of q by q, row by row, the groups row by row too ([1], V-A): what an
//! algorithm keeps for the vertices of a group fits the last-level cache. A tile is one *chunk* or several: what is decoded by itself, in
//! the smallest of several codings (`codec`). No chunk lies in two blocks of the file; so a block, which is what has a checksum, can be
//! read, verified, kept and decoded alone. Vertices beyond 2^32 cost nothing per edge: only the keys of chunks name strips.
//!
//! A *strip* is the 2^16 vertices of a row or column of tiles. An edge that is kept once belongs to two strips; a scan hands it over to
//! both ends, some thousand at a time ([`esker_graph::Visitor::visit_patch`]), and `schedule` sees to it that no two threads write to the
//! same strip at a time, but for those in which too many edges end: for these, each thread may gather by itself.
//!
//! [1] P. Kumar, H. Huang, "G-Store: High-Performance Graph Store for Trillion-Edge Processing", SC 2016.

mod strip;
mod vector;
mod rows;
mod packed;
mod codec;
mod degrees;
mod files;
mod write;
mod convert;
mod schedule;
mod batch;
mod paged;
mod scan;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod disk_tests;

pub use codec::CHUNK_LEN_MAX;
pub use convert::{ConvertOptions, PropertyWalk, TileProperties, TileReport, write_tiles};
pub use degrees::Degrees;
pub use files::{Chunk, Directory, TileFiles, TileShape, Tiles};
pub use scan::{MAPPED_WEIGHTS_MAX, TileScan, TileWeights};
