//! Stored graphs as the algorithms see them: one type, [`StoredGraph`], whatever the encoding and the
//! residency of its lists.

mod weight;
mod residency;
mod points;
mod mapped_weights;
mod dense;
mod offer;
mod compressed;
mod batches;
mod list_by_list;
#[cfg(test)]
mod compressed_tests;
mod arcs;
mod born_filter;
mod unit;
mod dead_arcs;
mod living;
mod layered;
mod chains;
mod sweep;
mod gathered;
mod side;
mod copied;
mod tiled;
pub mod headed;
pub mod pooled;
pub mod stacked;
mod symmetric;
mod widened;
pub mod window;
mod induced;
mod stored;
mod windowed;
mod opening;

pub use copied::copied_bytes;
pub use headed::HeadedNeeds;
pub use mapped_weights::WEIGHTS_MAX;
pub use opening::StoredWeight;
pub use pooled::PooledNeeds;
pub use residency::{Access, GraphEncoding, HeadedOptions, Residency};
pub use stored::{CompleteLists, StoredGraph};
pub use symmetric::{undirected_block_bytes, undirected_bytes};
pub use weight::{ArcWeights, ColumnWeight, check_weight};
pub use windowed::ArcsInTime;
