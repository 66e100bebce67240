//! The catalogue: one file for each algorithm.

pub mod betweenness;
pub mod bfs;
pub mod cdlp;
pub mod pagerank;
pub mod scc;
mod delta_stepping;
mod relaxation;
pub mod sssp;
pub mod wbfs;
pub mod bellman_ford;
pub mod widest;
pub mod ldd;
mod contraction;
pub mod wcc;
pub mod forest;
pub mod biconnectivity;
pub mod triangles;
pub mod lcc;
pub mod cliques;
pub mod kcore;
pub mod mis;
pub mod colouring;
pub mod densest;
pub mod set_cover;
pub mod matching;
pub mod spanner;
pub mod msf;
