//! From arrays, tables and objects of Python to columns.

pub(crate) mod entries;
pub(crate) mod array;
pub(crate) mod capsule;
pub(crate) mod times;
pub(crate) mod objects;
pub(crate) mod chunks;
pub(crate) mod column;
pub(crate) mod vectors;
pub(crate) mod vertex_table;
mod given;
pub(crate) mod rows;
pub(crate) mod node_rows;
pub(crate) mod adjacency;
pub(crate) mod source;
