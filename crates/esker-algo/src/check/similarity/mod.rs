//! Verifiers of similarity.

pub(crate) mod neighbours;
