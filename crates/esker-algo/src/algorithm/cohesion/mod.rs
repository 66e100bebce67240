//! Triangles, cliques, and dense parts.

pub mod triangles;
pub mod lcc;
pub mod triangles_filter;
pub mod triangles_sampled;
pub mod cliques;
pub(crate) mod truss_peeling;
pub mod truss;
pub mod kcore;
pub mod densest;
