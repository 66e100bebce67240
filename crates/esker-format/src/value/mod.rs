//! Values that more than one file or interface writes: numbers, days, types, ids of edges, names.

pub mod calendar;
pub mod zone;
pub mod decimal;
pub mod digits;
pub(crate) mod edge_id;
pub mod name;
