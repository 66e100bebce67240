//! Stored graphs as the algorithms see them: one type, [`StoredGraph`], whatever the encoding and the residency of its lists.

mod weight;
mod residency;
mod points;
mod beside;
mod offer;
mod compressed;
#[cfg(test)]
mod compressed_tests;
mod arcs;
mod keep;
mod layered;
mod sweep;
mod gathered;
mod side;
mod tiled;
pub mod headed;
pub mod pooled;
pub mod stacked;
mod symmetric;
mod widened;
pub mod window;
mod induced;
mod stored;

pub use beside::WEIGHTS_MAX;
pub use headed::HeadedNeeds;
pub use pooled::PooledNeeds;
pub use residency::{Access, GraphEncoding, HeadedOptions, Residency};
pub use stored::StoredGraph;
pub use weight::StoredWeight;
pub use weight::check_weight;
