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
//! A reader gives batches of Arrow columns. The import numbers the ids, sorts the edges, on disk if memory
//! does not suffice, and writes the lists as the base layer of a new database ([`install`]). [`mod@export`]
//! writes a version to a file of another format.

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
