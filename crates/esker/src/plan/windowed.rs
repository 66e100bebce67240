//! The needs of windows.

use esker_store::Snapshot;
use esker_store::windows::{Combine, Copies, WindowIndex};

use crate::catalogue::Entry;

/// Memory of the edges of a window, copied; `None` without one.
pub(super) fn gathered_bytes(snapshot: &Snapshot, entry: &Entry) -> Option<u64> {
    let weight = snapshot.weight_type().filter(|_| entry.reads_weights(snapshot));
    let weight_bytes = weight.map_or(0, |element| element.bytes() as u64);
    let only = entry.reading(snapshot).gathers_only();
    snapshot.window_index().map(|index| index.gathered_bytes(weight_bytes, only))
}

/// Whether a window is read list by list: copies of an edge are joined, or weights are read beside the times.
pub(super) fn reads_whole_lists(index: &WindowIndex, weighted: bool) -> bool {
    weighted || index.window().copies != Copies::All
}

/// Whether weights are read beside the times of a window.
pub(super) fn reads_weights_beside(index: &WindowIndex, weighted: bool) -> bool {
    weighted && index.window().copies != Copies::Weighted(Combine::Count)
}
