//! Questions about the database that need no run: what it is, and parts of its graph.

pub(crate) mod description;
pub(crate) mod amounts;
pub(crate) mod vertices;
pub(crate) mod scene;
pub(crate) mod way;
pub(crate) mod changed;
pub(crate) mod moments;
pub(crate) mod groups;
