//! The persistent map between external ids and vertices.
//!
//! Four kinds. *Identity*: dense integers from 0 or 1 in the order of the vertices; no files. *Permuted*: dense
//! integers in another order; for each vertex its integer, for each integer its vertex. *Integers* and *texts*: for
//! each vertex its id, and an index by hash (`index`).

mod hash;
mod external;
mod files;
mod index;
mod write;
mod suggest;
mod map;

pub use external::ExternalId;
pub use files::IdFiles;
pub use hash::{hash_int, hash_text};
pub use index::IndexWriter;
pub use map::IdMap;
pub use write::{IntegersWriter, PermutationWriter, TextsWriter};

#[cfg(test)]
mod tests;
