//! Measures of how central each vertex is: degrees, closeness, betweenness, PageRank; and what they share.

pub(crate) mod sample;
pub(crate) mod scale;
pub(crate) mod path_numbers;
pub(crate) mod bfs_levels;
pub mod degrees;
pub mod betweenness;
pub mod closeness;
pub(crate) mod convergence;
pub mod pagerank;
pub mod pagerank_weighted;
