//! Searches and shortest paths.

pub mod bfs;
pub(crate) mod delta_bins;
pub(crate) mod delta_stepping;
pub(crate) mod relaxation;
pub mod sssp;
pub mod wbfs;
pub mod bellman_ford;
pub mod widest;
