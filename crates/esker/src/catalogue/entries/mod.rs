//! The entries of the catalogue: options in, one form of answer out.

mod degrees;
mod search;
mod paths;
mod rank;
mod closeness;
mod eccentricity;
mod mixing;
mod components;
mod communities;
mod order;
mod spectral;
mod similarity;
mod flow;
mod quality;
mod clustering;
mod cores;
mod sets;
mod trees;

use super::entry::Entry;

pub(crate) use search::Shown;
pub(super) use search::depths_answer;

pub(super) use components::component_method;
pub(crate) use degrees::{degree_of, degrees_answer};
pub(super) use rank::convergence_facts;
pub(crate) use rank::pagerank_options as rank_options;

pub(super) static ALL: &[Entry] = &[
    search::BFS,
    search::SSSP,
    paths::WBFS,
    paths::BELLMAN_FORD,
    paths::WIDEST,
    eccentricity::ECCENTRICITY,
    trees::SPANNER,
    flow::FLOW,
    rank::PAGERANK,
    rank::BETWEENNESS,
    closeness::CLOSENESS,
    closeness::HARMONIC,
    spectral::EIGENVECTOR,
    spectral::KATZ,
    spectral::HITS,
    components::WCC,
    components::SCC,
    trees::BICONNECTIVITY,
    trees::FOREST,
    trees::MSF,
    order::ORDER,
    order::CYCLE,
    communities::LEIDEN,
    communities::LOUVAIN,
    components::CDLP,
    trees::LDD,
    quality::QUALITY,
    similarity::SIMILARITY,
    degrees::DEGREES,
    mixing::STRENGTH,
    mixing::RECIPROCITY,
    mixing::ASSORTATIVITY,
    clustering::TRIANGLES,
    clustering::LCC,
    cores::KCORE,
    cores::TRUSS,
    cores::CLIQUES,
    cores::DENSEST,
    sets::MIS,
    sets::COLOURING,
    sets::MATCHING,
    sets::SETCOVER,
];
