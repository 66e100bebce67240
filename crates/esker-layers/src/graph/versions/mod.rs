//! Several layers, or a version in the middle of one.

pub(crate) mod arcs;
pub(crate) mod born_filter;
pub(crate) mod living;
pub(crate) mod layered;
pub(crate) mod chains;
pub(crate) mod sweep;
