//! Verifiers of centralities.

pub(crate) mod degrees;
pub(crate) mod strength;
pub(crate) mod reciprocity;
pub(crate) mod assortativity;
pub(crate) mod betweenness;
pub(crate) mod closeness;
pub(crate) mod eccentricity;
pub(crate) mod spectral;
pub(crate) mod pagerank;
