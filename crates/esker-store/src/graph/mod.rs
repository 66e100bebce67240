//! Stored graphs as the algorithms see them: one type, [`StoredGraph`], whatever the encoding and the residency of its lists.

mod weight;
mod residency;
mod points;
mod offer;
mod compressed;
mod arcs;
mod keep;
mod layered;
mod sweep;
mod tiled;
pub mod headed;
pub mod pooled;
mod induced;
mod stored;

pub use headed::HeadedNeeds;
pub use pooled::PooledNeeds;
pub use residency::{Access, GraphEncoding, HeadedOptions, Residency};
pub use stored::StoredGraph;
pub use weight::StoredWeight;
pub(crate) use weight::check_weight;
