//! Verifiers of centralities.

pub(crate) mod degrees;
pub(crate) mod betweenness;
pub(crate) mod closeness;
pub(crate) mod pagerank;
