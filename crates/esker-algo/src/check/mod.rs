//! Serial verifiers over plain slices, one per algorithm.
//!
//! Each verifier tests the properties that define a correct result, so it accepts every correct result,
//! whichever way ties were broken. Verifiers take time O(n + m) or slightly more. They are written to be
//! obviously correct, not fast.

mod watched;
mod neighbourhood;
mod paths;
mod components;
mod centrality;
mod cohesion;
mod sets;
mod communities;
mod order;
mod similarity;
mod flow;

pub use centrality::assortativity::assortativity;
pub use centrality::betweenness::betweenness;
pub use centrality::closeness::{closeness, closeness_by_steps, closeness_by_weight};
pub use centrality::degrees::degrees;
pub use centrality::eccentricity::eccentricity;
pub use centrality::pagerank::{pagerank, pagerank_weighted};
pub use centrality::reciprocity::reciprocity;
pub use centrality::spectral::{HitsClaim, SpectralClaim, hits, spectral};
pub use centrality::strength::strength;
pub use cohesion::cliques::cliques;
pub use cohesion::densest::densest;
pub use cohesion::kcore::kcore;
pub use cohesion::lcc::lcc;
pub use cohesion::triangles::{triangles, triangles_sampled};
pub use cohesion::truss::truss;
pub use communities::agreement::agreement;
pub use communities::leiden::{CommunityClaim, communities};
pub use communities::quality::{QualityClaim, quality};
pub use components::biconnectivity::biconnectivity;
pub use components::cdlp::cdlp;
pub use components::forest::forest;
pub use components::ldd::{ldd, ldd_trees};
pub use components::msf::msf;
pub use components::scc::scc;
pub use components::spanner::spanner;
pub use components::wcc::wcc;
pub use flow::max_flow::max_flow;
pub use order::cycle::cycle;
pub use order::topological::{OrderClaim, order};
pub use paths::bfs::{bfs, bfs_within};
pub use paths::sssp::{bellman_ford, negative_cycle, sssp, sssp_to, widest};
pub use sets::colouring::colouring;
pub use sets::hopcroft_karp::{BipartiteClaim, hopcroft_karp};
pub use sets::matching::matching;
pub use sets::mis::mis;
pub use sets::set_cover::set_cover;
pub use similarity::neighbours::similarity;
pub use watched::{Rejection, WatchedRows};
