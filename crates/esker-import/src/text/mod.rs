//! Readers of text formats.

mod digits;
pub(crate) mod line;
mod likeliest;
pub(crate) mod column;
pub(crate) mod blocks;
pub(crate) mod shape;
pub(crate) mod sampled;
mod table_ends;
mod columns;
mod fast;
pub(crate) mod odd;
pub(crate) mod reasons;
mod table_parser;
mod unexpected;
pub(crate) mod table;
mod tables;
mod tally;
pub(crate) mod headed;
mod numbered;
mod metis;
mod words;
pub mod rows;
mod adjacency;
pub(crate) mod vertices;
pub(crate) mod listed;
pub(crate) mod named;
mod graphalytics;

pub(crate) use adjacency::ADJ;
pub(crate) use column::beside_fractions;
pub(crate) use graphalytics::GRAPHALYTICS;
pub(crate) use metis::METIS;
pub(crate) use numbered::{COL, DIMACS, MTX};
pub(crate) use tables::{CSV, EL, SNAP, TSV, WEL};

pub(crate) mod tests;
