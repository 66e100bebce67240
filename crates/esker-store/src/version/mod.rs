//! What a database holds, by its manifest; and how a database comes to be, whole or not at all. See `README.md` in
//! this directory.

mod manifest;
mod staging;
#[cfg(test)]
mod tests;

pub use manifest::Manifest;
pub use staging::{MANIFEST_NAME, Staging, StagingOptions, ids_directory, layer_directory, lock_writer};
