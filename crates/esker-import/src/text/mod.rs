//! Readers of text formats.

mod digits;
mod line;
pub(crate) mod column;
pub(crate) mod blocks;
pub(crate) mod shape;
mod columns;
mod fast;
mod odd;
pub(crate) mod reasons;
mod table_parser;
mod unexpected;
pub(crate) mod table;
mod tables;
mod tally;
pub(crate) mod headed;
mod matrix_market;
mod dimacs;
mod colouring;
mod metis;
mod words;
pub mod rows;
mod adjacency;
pub(crate) mod vertices;
pub(crate) mod named;
mod graphalytics;

pub(crate) use adjacency::ADJ;
pub(crate) use colouring::COL;
pub(crate) use column::beside_fractions;
pub(crate) use dimacs::DIMACS;
pub(crate) use graphalytics::GRAPHALYTICS;
pub(crate) use matrix_market::MTX;
pub(crate) use metis::METIS;
pub(crate) use tables::{CSV, EL, SNAP, TSV, WEL};

pub(crate) mod tests;
