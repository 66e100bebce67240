//! Keeps parts of a file in a fixed amount of memory: slide, cache, rewind (G-Store [1], VI).
//!
//! The file may hold anything that scans read in any order (tiles, lists); it implements `PagedFile`.
//!
//! [1] P. Kumar, H. Huang, "G-Store: High-Performance Graph Store for Trillion-Edge Processing", SC 2016.

mod options;
mod paged;
mod slots;
mod frames;

pub(crate) use frames::Pool;
pub use options::{CachePolicy, PoolOptions};
pub(crate) use paged::{PagedFile, Supply};
pub(crate) use slots::HeldExtent;
