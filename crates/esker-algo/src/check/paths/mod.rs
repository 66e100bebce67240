//! Verifiers of searches and shortest paths.

pub(crate) mod bfs;
pub(crate) mod sssp;
