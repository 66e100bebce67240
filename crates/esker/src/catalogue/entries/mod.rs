//! The entries of the catalogue: options in, one form of answer out.

mod search;
mod rank;
mod components;
mod clustering;

use super::entry::Entry;

pub(super) const ALL: &[Entry] = &[
    search::BFS,
    search::SSSP,
    rank::PAGERANK,
    rank::BETWEENNESS,
    components::WCC,
    components::SCC,
    components::CDLP,
    clustering::TRIANGLES,
    clustering::LCC,
];
