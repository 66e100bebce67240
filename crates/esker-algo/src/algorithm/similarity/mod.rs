//! How alike vertices are.

pub mod neighbours;
