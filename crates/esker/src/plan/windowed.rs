//! The needs of windows.

use esker_store::Snapshot;
use esker_store::windows::{Combine, Copies, WindowIndex};

use super::candidate::Candidate;
use crate::catalogue::Entry;

/// The memory of a run that copies the edges of a window, if without the copy it takes `bytes`, vertex tables among them; `None` without a
/// window.
///
/// Arrays are copied layer by layer, which makes no vertex tables: lists that are filtered as they are read, or read one by one, need them.
pub(super) fn copied_bytes(snapshot: &Snapshot, entry: &Entry, bytes: u64) -> Option<u64> {
    let index = snapshot.window_index()?;
    let weight = snapshot.weight_type().filter(|_| entry.reads_weights(snapshot));
    let weight_bytes = weight.map_or(0, |element| element.bytes() as u64);
    let copies_arrays = snapshot.reads_arrays() && !reads_whole_lists(index, weight.is_some());
    let tables = if copies_arrays { snapshot.stack().table_bytes() } else { 0 };
    let only = entry.reading(snapshot).gathers_only();
    Some(bytes.saturating_sub(tables) + index.gathered_bytes(weight_bytes, only))
}

/// Mapped lists, with the least memory of a run that copies the edges of a window, if that is less.
pub(super) fn copied_or_not(lists: Candidate, snapshot: &Snapshot, entry: &Entry) -> Candidate {
    let least_bytes = lists.least_bytes;
    let copied = copied_bytes(snapshot, entry, least_bytes).unwrap_or(least_bytes);
    Candidate { least_bytes: least_bytes.min(copied), ..lists }
}

/// Whether a window is read list by list: copies of an edge are joined, or weights are read beside the times.
pub(super) fn reads_whole_lists(index: &WindowIndex, weighted: bool) -> bool {
    weighted || index.window().copies != Copies::All
}

/// Whether weights are read beside the times of a window.
pub(super) fn reads_weights_beside(index: &WindowIndex, weighted: bool) -> bool {
    weighted && index.window().copies != Copies::Weighted(Combine::Count)
}
