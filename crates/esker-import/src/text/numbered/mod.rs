//! Formats whose header states numbers, above a line for each edge.

mod matrix_market;
mod dimacs;
mod colouring;

pub(crate) use colouring::COL;
pub(crate) use dimacs::DIMACS;
pub(crate) use matrix_market::MTX;
