//! Where neighbour lists lie: encodings, residencies, and the stored graph behind the waist.
//!
//! * [`layer`] holds the lists of a range of versions, plain or compressed; [`tiles`] holds them once more in
//!   two-dimensional tiles, or only there.
//! * [`stack`] is a version: several layers, read as one.
//! * [`graph`] is what algorithms see: [`StoredGraph`], whatever the encoding and the residency.
//! * [`ids`] maps external ids; [`property`] keeps properties of vertices and edges.
//!
//! All of this is read only, once written. Which layers make a version is decided above, in `esker-store`.

pub mod lama;
pub mod pool;
mod form_files;
pub mod tiles;
pub mod layer;
pub mod ids;
pub mod property;
pub mod stack;
pub mod graph;
pub mod known_files;

pub use form_files::FormFiles;
pub use graph::{Access, ColumnWeight, GraphEncoding, HeadedOptions, Residency, StoredGraph, StoredWeight};

/// The example of README.md, run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
