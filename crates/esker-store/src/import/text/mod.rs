//! Readers of text formats.

mod digits;
mod line;
mod names;
mod blocks;
mod shape;
mod columns;
mod table_parser;
pub(crate) mod table;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod table_tests;
