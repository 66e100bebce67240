//! Esker: the facade, where the store and the algorithms meet.

#![forbid(unsafe_code)]

pub mod answer;

pub use esker_algo as algo;
pub use esker_graph as graph;
pub use esker_store as store;
