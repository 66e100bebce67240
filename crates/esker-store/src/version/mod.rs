//! A version of a graph: what is stored of it, and point reads of single vertices. Whole graphs to compute on
//! are in [`view`](crate::view).

mod forms;
mod layer;
mod files;
mod edges;
mod state;
mod properties;
mod complete;
mod points;
mod find;
mod recoverable;
mod live;
mod reserved;

pub use edges::VertexEdges;
pub(crate) use layer::Layer;
pub(crate) use layer::vertex_property;
pub(crate) use recoverable::{ManifestLeft, RecoverableState, open_only};
pub use reserved::ReservedBits;
pub(crate) use state::State;
pub use state::Version;
