//! From files of other formats to a database, and back, in bounded memory.
//!
//! ```
//! use esker_import::export::{ExportOptions, StoredExport, export};
//! use esker_import::{ImportOptions, ReadOptions, import_files};
//! use esker_store::Store;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let at = |name: &str| directory.path().join(name);
//! std::fs::write(at("follows.csv"), "source,target\nalice,bob\nbob,carol\nalice,carol\n")?;
//! let (read, options) = (ReadOptions::default(), ImportOptions::default());
//! let report = import_files(&[at("follows.csv").to_string_lossy()], at("people.esker"), &read, &options)?;
//! assert_eq!((report.vertices, report.edges), (3, 3));
//!
//! let view = Store::open(at("people.esker"))?.latest()?.view();
//! let run = esker_graph::Run::with_threads(1)?;
//! let graph = StoredExport::new(&view, &run)?;
//! let written = export(&graph, &at("follows.parquet"), &ExportOptions::default())?;
//! assert_eq!(written.edges, 3);
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
pub(crate) mod columns;
pub mod keys;
pub mod number;
pub mod binary;
pub(crate) mod text;
pub(crate) mod attributed;
mod write;
mod formats;
mod sniff;
pub mod open;
pub mod rejects;
#[cfg(test)]
mod drive;
pub mod options;
mod build;
pub mod install;
pub mod export;
#[cfg(test)]
mod tests;

pub use columns::missing;
pub use columns::names::named_as_ids;
pub use install::{import_files, import_inputs};
pub use options::{Duplicates, ImportOptions, ImportReport};
pub use read::format::{Format, Pick, PickProperties, ReadOptions};
pub use read::input::Input;
pub use text::listed::{IdLines, PairLines, ids_of_lines, pairs_of_lines};
pub use text::rows;

/// The example of README.md, run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
