//! From files of other formats to a database, and back, in bounded memory.
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use esker_import::read::format::ReadOptions;
//! use esker_import::install::import;
//! use esker_import::open::open_reader;
//! use esker_import::options::ImportOptions;
//! use esker_store::io::{Disk, RealDisk};
//! use esker_store::manifest::StagingOptions;
//!
//! # fn main() -> esker_store::Result<()> {
//! let disk: Arc<dyn Disk> = Arc::new(RealDisk);
//! let reader = open_reader(&["follows.csv"], &ReadOptions::default())?;
//! let (target, options) = (Path::new("people.esker"), ImportOptions::default());
//! let report = import(&disk, reader, target, &options, StagingOptions::default())?;
//! println!("{} vertices, {} edges", report.vertices, report.edges);
//! # Ok(())
//! # }
//! ```
//!
//! An import has four steps, which `build/pipeline.rs` takes one after another:
//!
//! 1. A reader turns a file into batches of edges, as Arrow columns ([`mod@read`], [`binary`]). [`open`]
//!    finds the reader for a file.
//! 2. Ids become the numbers of vertices ([`number`]).
//! 3. Edges are sorted into lists, on disk if memory does not suffice ([`sort`], `build`).
//! 4. The lists become the base layer of a new database, which takes its name when it is complete
//!    ([`install`]).
//!
//! The other way, [`mod@export`] writes a version to a file of another format.

pub mod sort;
pub mod read;
pub mod numbering;
pub mod number;
pub mod binary;
pub(crate) mod text;
mod write;
mod formats;
mod sniff;
pub mod open;
#[cfg(test)]
mod drive;
pub mod options;
mod build;
pub mod install;
pub mod export;
#[cfg(test)]
mod tests;

pub use text::rows;
