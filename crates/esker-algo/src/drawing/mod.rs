//! Places for the vertices of a drawing: by forces, or in layers.
//!
//! A drawing has a part of a graph that fits in memory: its vertices are `0..num_vertices`, and an edge joins
//! two of them. Parallel edges and directions have no effect on forces; layers go along the directions.

mod drawn;
mod quadtree;
pub mod forces;
pub mod layers;
#[cfg(test)]
mod tests;

pub use drawn::{DrawnGraph, Place};
