//! Ways of reading a graph that copy nothing: undirected, wider weights, windows, without removed vertices.

pub(crate) mod symmetric;
pub(crate) mod widened;
pub mod window;
pub(crate) mod induced;
