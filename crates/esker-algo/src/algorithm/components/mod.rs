//! Components, forests and clusters: which vertices belong together.

pub mod cdlp;
pub mod scc;
pub mod ldd;
pub(crate) mod contraction;
pub mod wcc;
pub mod forest;
pub mod biconnectivity;
pub mod spanner;
pub mod msf;
