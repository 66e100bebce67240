//! The algorithms, one per file.

pub mod paths;
pub mod components;
pub mod centrality;
pub mod cohesion;
pub mod sets;
pub mod communities;
pub mod order;
pub mod similarity;
pub mod flow;
