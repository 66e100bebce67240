//! Live answers: the state of an algorithm on one version of a graph, brought up to date from the edges that
//! the next version changed.
//!
//! Each file has one algorithm. Its state is made from an answer of the algorithm of the catalogue, and
//! `update` takes it from one version to the next: it reads the lists near the changes only, by point reads,
//! on one thread. The values are equal, bit for bit, to those of a recomputation, unless the file says
//! otherwise.
//!
//! An update stops with [`Halt::TooMuch`] once it has read as many arcs as it may. Its state is of no version
//! then: make it anew.

mod graph;
mod degrees;
mod components;
mod paths;
mod pagerank;
mod priorities;
mod ahead;
mod colouring;
mod mis;
mod matching;
mod triangles;
mod clustering;
mod shells;
mod moment;
mod kcore;
#[cfg(test)]
mod testing;

pub use clustering::LiveClustering;
pub use colouring::LiveColouring;
pub use components::LiveComponents;
pub use degrees::LiveDegrees;
pub use graph::{BoundedReader, ChangedEdges, Halt, LiveGraph};
pub use kcore::LiveCores;
pub use matching::LiveMatching;
pub use mis::LiveIndependentSet;
pub use pagerank::{LivePageRank, LivePageRankOptions};
pub use paths::{FewestRule, LivePaths, PathRule, ShortestRule, WidestRule};
pub use triangles::LiveTriangles;
