//! From a file that somebody has to a base layer, in bounded memory.

pub mod source;
mod heap;
pub mod budget;
pub mod scratch;
pub mod spool;
pub mod radix;
pub mod sort;
pub mod format;
pub mod input;
pub mod numbering;
pub mod number;
pub mod binary;
pub(crate) mod text;
pub mod generated;
mod sniff;
pub mod open;
pub mod drive;
mod distinct;
pub mod values;
pub mod options;
mod gather;
mod edges;
mod order;
mod disk_order;
mod count;
mod scatter;
mod lists;
mod output;
mod build;
pub mod pipeline;
pub mod install;
#[cfg(test)]
mod tests;
