//! The catalogue: one file for each algorithm.

pub mod bfs;
