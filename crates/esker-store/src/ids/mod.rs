//! The persistent map between external ids and vertices.
//!
//! An import makes one of four kinds. *Identity*: dense integers from 0 or 1 in the order of the vertices; no files.
//! *Permuted*: dense integers in another order; for each vertex its integer, for each integer its vertex. *Integers* and
//! *texts*: for each vertex its id, and an index by hash (`index`). These files never change. The ids of vertices that
//! commits add are kept in an [`IdTail`] until they are frozen, then in an [`IdSegment`] of each layer.

mod hash;
mod external;
mod files;
mod index;
mod write;
mod suggest;
mod names;
mod base;
mod segment;
mod tail;
mod map;

pub use external::ExternalId;
pub use files::IdFiles;
pub use hash::{hash_int, hash_text};
pub use index::IndexWriter;
pub use map::IdMap;
pub use segment::{IdSegment, merge_segments, write_segment};
pub use tail::IdTail;
pub use write::{IntegersWriter, PermutationWriter, TextsWriter};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod grow_tests;
