//! Parts of a file in a fixed memory: slide, cache, rewind (G-Store [1], VI).
//!
//! What is kept may be anything that scans go over in any order: tiles, lists. It says so by `Paged`.
//!
//! [1] P. Kumar, H. Huang, "G-Store: High-Performance Graph Store for Trillion-Edge Processing", SC 2016.

mod options;
mod paged;
mod frames;

pub(crate) use frames::{Held, Pool};
pub use options::{CachePolicy, PoolOptions};
pub(crate) use paged::{Paged, Supply};
