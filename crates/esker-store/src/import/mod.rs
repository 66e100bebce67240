//! From a file that somebody has to a base layer, in bounded memory.

pub mod source;
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
mod sniff;
pub mod open;
