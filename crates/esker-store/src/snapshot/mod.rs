//! A version of a graph, for reading: lists and properties of single vertices, and whole graphs to compute
//! on.

mod beside;
mod layer;
mod files;
mod edges;
mod moved;
mod choice;
mod state;
mod points;
mod find;
mod window;
mod kept;
mod left;
mod live;
mod graphs;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod forged;
#[cfg(test)]
pub(crate) mod layered_tests;

pub use edges::VertexEdges;
pub(crate) use layer::Layer;
pub(crate) use layer::vertex_property;
pub(crate) use left::{ManifestLeft, RecoverableState, open_only};
pub(crate) use moved::AgingEdges;
pub(crate) use moved::MovedWindow;
pub use moved::WindowMove;
pub use state::{Snapshot, State};
pub use window::WindowLists;
