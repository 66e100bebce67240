//! From a file that somebody has to a base layer, in bounded memory.

pub mod source;
