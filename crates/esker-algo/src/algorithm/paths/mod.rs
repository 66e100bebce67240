//! Searches, shortest paths and widest paths from a source; and the relaxation and bins that they share.

pub mod bfs;
pub(crate) mod delta_bins;
pub(crate) mod delta_stepping;
pub(crate) mod relaxation;
pub mod sssp;
pub mod wbfs;
pub mod bellman_ford;
pub mod widest;
