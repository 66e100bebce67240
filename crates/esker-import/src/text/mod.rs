//! Readers of text formats.

mod digits;
mod line;
mod column;
pub(crate) mod names;
mod blocks;
pub(crate) mod shape;
mod columns;
mod fast;
mod odd;
mod reasons;
mod table_parser;
pub(crate) mod table;
mod tally;
pub(crate) mod headed;
pub(crate) mod matrix_market;
pub(crate) mod dimacs;
pub(crate) mod metis;
mod words;
pub mod rows;
pub(crate) mod adjacency;
pub(crate) mod vertices;
pub(crate) mod named;
pub(crate) mod graphalytics;

pub(crate) use column::beside_fractions;
pub(crate) use names::is_time;

pub(crate) mod tests;
