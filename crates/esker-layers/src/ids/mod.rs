//! The persistent map between external ids and vertices.
//!
//! An import creates a map of one of four kinds. *Identity*: the integers `base..base + n` in order of
//! vertex; no files. *Permuted*: the same integers in another order; stores the integer of each vertex and
//! the vertex of each integer. *Integers* and *texts*: stores the id of each vertex, and an index by hash
//! (`index`). These files never change. An [`IdTail`] holds the ids of vertices that commits add until they
//! are frozen; then an [`IdSegment`] of the layer holds them. Once vertices were renumbered, such segments
//! hold all ids.

mod external;
mod hash;
mod files;
mod index;
mod write;
mod suggest;
mod list;
mod base;
mod segment;
mod tail;
mod map;

pub use external::ExternalId;
pub use files::IdFiles;
pub use hash::{IdHasher, hash_int};
pub use index::IndexWriter;
pub use map::IdMap;
pub use segment::{IdSegment, merge_segments};
pub use segment::{write_segment, write_segment_as_texts};
pub use tail::IdTail;
pub use write::PermutationWriter;
pub use write::{IntegersWriter, TextsWriter};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod grow_tests;
