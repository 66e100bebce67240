//! Stored graphs as the algorithms see them: one type, [`StoredGraph`], whatever the encoding and the
//! residency of its lists.

mod weight;
mod residency;
mod arc_sets;
mod mapped;
mod versions;
mod gathered;
mod side;
mod copied;
mod tiled;
pub mod bounded;
mod list_by_list;
pub mod views;
mod stored;
mod windowed;
mod opening;

pub use bounded::headed::HeadedNeeds;
pub use bounded::pooled::PooledNeeds;
pub use copied::copied_bytes;
pub use mapped::mapped_weights::WEIGHTS_MAX;
pub use opening::StoredWeight;
pub use residency::{Access, GraphEncoding, HeadedOptions, Residency};
pub use stored::{CompleteLists, StoredGraph};
pub use views::symmetric::{undirected_block_bytes, undirected_bytes};
pub use weight::{ArcWeights, ColumnWeight, check_weight};
pub use windowed::ArcsInTime;
