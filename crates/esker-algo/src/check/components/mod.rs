//! Verifiers of components, forests and clusters.

pub(crate) mod cdlp;
pub(crate) mod scc;
pub(crate) mod forest;
pub(crate) mod wcc;
pub(crate) mod biconnectivity;
pub(crate) mod msf;
pub(crate) mod ldd;
pub(crate) mod spanner;
