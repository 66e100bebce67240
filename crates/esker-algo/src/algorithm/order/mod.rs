//! The order in which edges put the vertices, and cycles that forbid one.

pub mod topological;
pub mod cycle;
