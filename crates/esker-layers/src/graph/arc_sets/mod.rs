//! Sets of arcs by vertex: which vertices have lists, and which arcs are deleted.

pub(crate) mod unit;
pub(crate) mod dead_arcs;
