//! Lists, plain or compressed, in a fixed amount of memory: slide, cache, rewind (G-Store [1], VI) over their
//! file.
//!
//! A list belongs to the extent in which it begins. Neighbouring extents share a block, so most lists that
//! cross the end of their extent are still in one piece. Longer lists are read through the page cache, which
//! then releases them. Offsets are mapped and stay in memory; weights are mapped and released as the scan
//! passes them.
//!
//! A scan reads the extents in which a selected and wanted list begins. The lists of few vertices are read
//! one by one. One thread hands over all lists of an extent, long ones in pieces.
//!
//! [1] P. Kumar, H. Huang, "G-Store: High-Performance Graph Store for Trillion-Edge Processing", SC 2016.

mod pages;
mod extent_queue;
mod side;
mod needs;

pub use needs::PooledNeeds;
pub(crate) use side::PooledSide;
