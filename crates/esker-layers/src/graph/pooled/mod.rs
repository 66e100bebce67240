//! Lists in a fixed memory, plain or compressed: slide, cache, rewind (G-Store [1], VI) over the file that they lie in.
//!
//! A list belongs to the extent of the file in which it begins. Extents have a block in common with the next one, so that most lists that
//! go on behind lie in one piece all the same; what goes on further is read through the page cache, and given up again. Where lists
//! begin is mapped, and stays in memory; weights are mapped too, and are given up as they are passed.
//!
//! A scan reads the extents in which a list begins that is selected and wanted; the lists of few vertices are read one by one. A list is handed
//! over by the one thread that has its extent, in pieces if it is long.
//!
//! [1] P. Kumar, H. Huang, "G-Store: High-Performance Graph Store for Trillion-Edge Processing", SC 2016.

mod pages;
mod turns;
mod side;
mod needs;

pub use needs::PooledNeeds;
pub(crate) use side::PooledSide;
