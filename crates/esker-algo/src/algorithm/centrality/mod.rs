//! Measures of how central each vertex is: degrees and sums over edges, closeness, betweenness, PageRank; and
//! what they share.

pub(crate) mod sample;
pub(crate) mod scale;
pub(crate) mod path_numbers;
pub(crate) mod bfs_levels;
pub mod degrees;
pub mod strength;
pub mod reciprocity;
pub mod assortativity;
pub mod betweenness;
pub mod closeness;
pub mod closeness_weighted;
pub mod eccentricity;
pub mod power;
pub mod hits;
pub mod spectral;
pub(crate) mod convergence;
pub mod pagerank;
pub mod pagerank_weighted;
