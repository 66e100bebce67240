//! Where a graph is kept: a directory of immutable, checksummed files under one manifest.
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
//! use esker_store::{Database, DatabaseOptions, Store};
//!
//! # fn main() -> esker_store::Result<()> {
//! // Import a file: version 1.
//! let disk: Arc<dyn Disk> = Arc::new(RealDisk);
//! let reader = open_reader(&["follows.csv"], &ReadOptions::default())?;
//! let (target, options) = (Path::new("people.esker"), ImportOptions::default());
//! let report = import(&disk, reader, target, &options, StagingOptions::default())?;
//! println!("{} vertices, {} edges", report.vertices, report.edges);
//!
//! // Change it: a commit makes version 2, durably.
//! let db = Database::open(target, DatabaseOptions::default())?;
//! let mut batch = db.batch();
//! batch.add_edge("erin", "alice", &[])?;
//! let version = db.commit(batch, "erin follows alice")?;
//! println!("version {version} has {} edges", db.at(version)?.num_edges());
//! db.close()?;
//!
//! // Read any version, from any process.
//! let before = Store::open(target)?.at(1)?;
//! println!("version 1 has {} edges", before.num_edges());
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
pub mod log;
pub mod delta;
mod apart;
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
pub mod database;
pub mod check;
mod store;
pub mod backup;
mod follower;

pub use commit::{Batch, CommitOptions, EdgeMatch};
pub use database::{CommitSizing, Committed, Database, DatabaseOptions};
pub use delta::DynamicGraph;
pub use esker_format::{self as format, Error, LockHolder, Result, Sought, io};
pub use esker_layers::graph::{
    WEIGHTS_MAX, copied_bytes, headed, pooled, stacked, undirected_block_bytes, undirected_bytes,
    window as windows,
};
pub use esker_layers::{
    Access, FormFiles, GraphEncoding, HeadedOptions, Residency, StoredGraph, StoredWeight, graph, ids, lama,
    layer, pool, property, stack, tiles,
};
pub use follower::Follower;

pub use store::{CommitInLog, LogCheck, Store};
pub use version::{Version, VertexEdges};
pub use view::{View, WindowLists, WindowMove};
