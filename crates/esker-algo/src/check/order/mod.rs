//! Verifiers of orders and cycles.

pub(crate) mod topological;
pub(crate) mod cycle;
