//! The `tiles` encoding: the adjacency matrix in squares, to be streamed (G-Store [1]).
//!
//! Tiles are a second form of a complete layer, stored beside its lists. Analyses may choose them; everything
//! else reads lists. A layer may also keep only tiles: then lists are decoded from them (`lists`).
//!
//! The matrix is cut into *tiles* of 2^16 by 2^16 cells, so a position within a tile takes 32 bits ([1],
//! IV-B). Of a symmetric matrix only the upper triangle is kept ([1], IV-A). Tiles lie in *groups* of q by q,
//! row by row, and so do the groups ([1], V-A): the state of an algorithm for the vertices of a group fits
//! the last-level cache. A tile consists of one or more *chunks*. A chunk is decoded by itself; its coding is
//! the smallest of several (`codec`). No chunk crosses a block of the file. Blocks have checksums, so a block
//! can be read, verified, cached and decoded by itself. A merge copies the chunks of groups in which no edge
//! changed (`reuse`). Ids beyond 2^32 cost nothing per edge: only the keys of chunks name strips.
//!
//! A *strip* is the 2^16 vertices of a row or column of tiles. An edge that is kept once belongs to two
//! strips. A scan hands edges to both ends, about a thousand at a time
//! ([`esker_graph::Visitor::visit_patch`]). `schedule` keeps two threads from writing to one strip at a time,
//! except to strips in which too many edges end: for these, each thread may collect its own sums.
//!
//! [1] P. Kumar, H. Huang, "G-Store: High-Performance Graph Store for Trillion-Edge Processing", SC 2016.

mod strip;
mod codings;
mod degrees;
mod paths;
mod data;
mod files;
mod lists;
mod write;
mod gather;
mod reuse;
mod coding;
mod convert;
mod changed;
mod merge;
mod schedule;
mod matrix;
mod batch;
mod paged;
mod scan;
mod edges;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod disk_tests;

pub use changed::{ChangedEdge, ChangedRow, TileChanges};
pub use coding::TileReport;
pub(crate) use codings::batch_mask::gallop;
pub use convert::{ConvertOptions, PropertyWalk, TileProperties, write_tiles};
pub use data::TileData;
pub(crate) use edges::{StripEdges, StripMaker, TileEdges};
pub use files::{Directory, TileShape, Tiles};
pub(crate) use matrix::Matrix;
pub use merge::{MergedShape, TileMerge};
pub use paths::TileFiles;
pub use reuse::{ChangedGroups, OldTiles};
pub use scan::{MAPPED_WEIGHTS_MAX, TileScan, TileWeights};
pub(crate) use strip::{place, tile_of};
