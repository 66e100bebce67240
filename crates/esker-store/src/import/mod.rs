//! From a file that somebody has to a base layer, in bounded memory.

pub mod source;
pub mod format;
pub mod input;
