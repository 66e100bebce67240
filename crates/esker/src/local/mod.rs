//! Small questions, answered by point reads: what is around a vertex, and how two vertices are joined.
//!
//! Nothing is read but the lists that an answer needs, so the answer costs the same in a graph of any size.
//! Memory: a few dozen bytes for each vertex that is met.

mod edges;
mod listed;
mod path;
mod prefix;
mod steps_met;
mod search;
#[cfg(test)]
mod tests;

pub use edges::{Incidence, LocalEdge, LocalGraph, between, degrees, degrees_of_all, edges_of, within};
pub use listed::{edges_of_all, measure_edges, sort_edges};
pub use path::{Path, PathDirection, PathLength, PathOptions};
pub use prefix::{PrefixMatches, with_prefix};
pub use search::paths;
