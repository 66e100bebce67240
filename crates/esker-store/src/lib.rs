//! Where a graph is kept: a directory of immutable, checksummed files under one manifest.

mod error;
pub mod io;
pub mod format;
pub mod import;

pub use error::{Error, Result};
