//! Serial verifiers over plain slices, one per algorithm.
//!
//! Each verifier tests the properties that define a correct result, so it accepts every correct result,
//! whichever way ties were broken. Verifiers take time O(n + m) or slightly more. They are written to be
//! obviously correct, not fast.

mod watched;
mod degrees;
mod betweenness;
mod closeness;
mod bfs;
mod cdlp;
mod pagerank;
mod scc;
mod sssp;
mod forest;
mod wcc;
mod neighbourhood;
mod triangles;
mod lcc;
mod cliques;
mod truss;
mod biconnectivity;
mod matching;
mod msf;
mod ldd;
mod spanner;
mod kcore;
mod mis;
mod colouring;
mod densest;
mod set_cover;

pub use betweenness::betweenness;
pub use bfs::{bfs, bfs_within};
pub use biconnectivity::biconnectivity;
pub use cdlp::cdlp;
pub use cliques::cliques;
pub use closeness::closeness;
pub use colouring::colouring;
pub use degrees::degrees;
pub use densest::densest;
pub use forest::forest;
pub use kcore::kcore;
pub use lcc::lcc;
pub use ldd::{ldd, ldd_trees};
pub use matching::matching;
pub use mis::mis;
pub use msf::msf;
pub use pagerank::{pagerank, pagerank_weighted};
pub use scc::scc;
pub use set_cover::set_cover;
pub use spanner::spanner;
pub use sssp::{bellman_ford, negative_cycle, sssp, sssp_to, widest};
pub use triangles::{triangles, triangles_sampled};
pub use truss::truss;
pub use watched::{Failure, WatchedRows};
pub use wcc::wcc;
