//! Verifiers of triangles, cliques and dense parts.

pub(crate) mod triangles;
pub(crate) mod lcc;
pub(crate) mod cliques;
pub(crate) mod truss;
pub(crate) mod kcore;
pub(crate) mod densest;
