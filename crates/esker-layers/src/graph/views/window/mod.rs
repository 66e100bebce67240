//! Windows over a stream of edges (LLAMA thesis, chapter 7): the edges whose time lies in a range.
//!
//! A filter of arcs by their other properties is the same with another test, and the two combine: an arc is
//! in the view if both keep it.
//!
//! A window is not stored. [`WindowIndex`] counts what lies in the range; after that, the edges are either
//! filtered as they are read, whatever the encoding and the residency, or gathered in memory once, for
//! algorithms that read them often.

mod copies;
mod vector;
mod times;
mod arrays;
mod filter;
mod lists;
mod count;
mod index;
mod moved;
mod shared;
mod streamed;
mod joined;
mod gather;

pub use copies::{Combine, Copies, TimeWindow};
pub use filter::{ArcFilter, FilteredArcs, ListedArc, time_at};
pub(crate) use gather::gather;
pub use index::WindowIndex;
pub(crate) use index::{SORTED_TIME_BYTES, sorted_times, sources_within, time_range};
pub use joined::made_joined_bytes;
pub(crate) use joined::{JoinedSide, made_in_lists};
pub(crate) use lists::TimedLists;
pub use moved::TimedEdge;
pub(crate) use moved::timed_edges;
pub use shared::{SHARED_WINDOWS_MAX, SharedLists};
pub(crate) use streamed::WindowSide;
