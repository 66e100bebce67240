//! Where a graph is kept: a directory of immutable, checksummed files under one manifest.

mod error;
mod memory;
#[cfg(test)]
mod cases;
pub mod io;
pub mod format;
pub mod log;
pub mod lama;
pub mod delta;
pub mod layer;
pub mod pool;
pub mod tiles;
pub mod version;
pub mod ids;
#[cfg(test)]
mod sample;
pub mod property;
pub mod stack;
#[cfg(test)]
mod history;
pub mod freeze;
pub mod merge;
pub mod snapshot;
#[cfg(test)]
mod scans;
pub mod headed;
pub mod pooled;
pub mod diff;
pub mod commit;
pub mod database;
pub mod check;
pub mod import;
pub mod export;
pub mod store;

pub use commit::Batch;
pub use database::{Database, DatabaseOptions};
pub use delta::DynamicGraph;
pub use error::{Error, Result};
pub use snapshot::{HeadedOptions, Residency, Snapshot, StoredGraph, StoredWeight};
pub use store::Store;
