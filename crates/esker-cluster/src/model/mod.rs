//! What a cluster is made of: owners of vertices, places of edges, the manifest of its versions, weights,
//! answers.

pub mod owner;
pub(crate) mod placement;
pub mod manifest;
pub(crate) mod excerpt;
pub(crate) mod weights;
pub mod answer;
pub mod needs;
