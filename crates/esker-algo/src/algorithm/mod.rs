//! The catalogue: one file for each algorithm.

pub mod bfs;
pub mod pagerank;
pub mod wcc;
