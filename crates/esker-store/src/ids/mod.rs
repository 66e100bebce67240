//! The persistent map between external ids and vertices.

mod hash;

pub use hash::{hash_int, hash_text};
