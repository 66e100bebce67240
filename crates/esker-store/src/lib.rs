//! Where a graph is kept: a directory of immutable, checksummed files under one manifest.
//!
//! ```
//! use esker_import::{ImportOptions, Input, ReadOptions, import_inputs};
//! use esker_store::{Database, DatabaseOptions, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("people.esker");
//! // Import: version 1. `import_files` takes names of files.
//! let edges = Input::memory("follows.csv", *b"source,target\nalice,bob\nbob,carol\n");
//! import_inputs(&[edges], &path, &ReadOptions::default(), &ImportOptions::default())?;
//!
//! // Change it: a commit makes version 2, durably.
//! let db = Database::open(&path, DatabaseOptions::default())?;
//! let mut batch = db.batch();
//! batch.add_edge("erin", "alice", &[])?;
//! let version = db.commit(batch, "erin follows alice")?;
//! assert_eq!((version, db.at(version)?.num_edges()), (2, 3));
//! db.close()?;
//!
//! // Read any version, from any process.
//! let before = Store::open(&path)?.at(1)?;
//! assert_eq!(before.num_edges(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! * [`Store`] reads a database; [`Database`] also writes, one process at a time.
//! * [`Follower`] reads a database that is being written, and keeps up with it at the cost of what changes.
//! * [`Version`] is one version of the graph: what is stored, and point reads of single vertices.
//! * [`View`] is how a run reads a version. [`View::graph`] gives the graph to compute on.
//! * [`mod@check`] verifies every byte. The crate `esker-import` reads and writes files of other formats.
//! * [`DynamicGraph`] is a graph in memory that changes edge by edge.
//!
//! `docs/format.md` describes the files. All access to the disk goes through [`io`]. This crate knows no
//! algorithms.

mod holding;
pub mod position;
pub mod log;
pub mod delta;
mod temporary_targets;
pub mod conversion;
pub mod manifest;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod history;
mod buffers;
pub mod freeze;
pub mod merge;
pub mod version;
pub mod view;
#[cfg(test)]
mod scans;
pub mod diff;
mod slide;
mod commit;
mod queue;
pub mod database;
pub mod check;
mod store;
mod queued;
pub mod backup;
mod follower;

pub use commit::{Batch, CommitOptions, EdgeMatch, KINDS_NAMED_MAX, unknown_kind};
pub use database::{CommitSizing, Committed, Database, DatabaseOptions};
pub use delta::DynamicGraph;
pub use esker_format::{self as format, Error, ErrorKind, LockHolder, Reported, Result, Sought, io};
pub use esker_layers::graph::{
    WEIGHTS_MAX, bounded::headed, bounded::pooled, bounded::stacked, copied_bytes, undirected_block_bytes,
    undirected_bytes, views::window as windows,
};
pub use esker_layers::{
    Access, FormFiles, GraphEncoding, HeadedOptions, Residency, StoredGraph, StoredWeight, graph, ids, lama,
    layer, pool, property, stack, tiles,
};
pub use follower::Follower;

pub use queued::QueuedDatabase;
pub use store::{CommitInLog, LogCheck, Store};
pub use version::{ReservedBits, Version, VertexEdges};
pub use view::{View, WindowLists, WindowMove};

/// The example of README.md, run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
