//! The needs of windows.

use esker_store::windows::{Combine, Copies, made_joined_bytes};
use esker_store::{Residency, View};

use super::candidate::Candidate;
use crate::catalogue::Entry;

/// The memory of a run that copies the edges of a window, if without the copy it takes `bytes`, vertex tables
/// among them; `None` without a window.
///
/// Arrays are copied layer by layer, which makes no vertex tables: lists that are filtered as they are read,
/// or read one by one, need them.
pub(super) fn copied_bytes(view: &View, entry: &Entry, bytes: u64) -> Option<u64> {
    let index = view.window_index()?;
    let weight = view.weight_type().filter(|_| entry.reads_weights(view));
    let weight_bytes = weight.map_or(0, |element| element.bytes() as u64);
    let copies_arrays = view.reads_arrays() && !reads_whole_lists(view, weight.is_some());
    let tables = if copies_arrays { view.version().stack().table_bytes() } else { 0 };
    let only = entry.reading(view).gathers_only();
    let made = if view.makes_in_lists() {
        index.made_bytes(weight_bytes) + made_joined(view, weight.is_some(), weight_bytes)
    } else {
        0
    };
    Some(bytes.saturating_sub(tables) + index.gathered_bytes(weight_bytes, only) + made)
}

/// The edges of a window in memory, if there is one: what `mapped` lists, as [`copied_or_not`] returned them,
/// are copied to where that fits.
pub(super) fn copied_window(mapped: &Candidate, view: &View, entry: &Entry, base: u64) -> Option<Candidate> {
    let bytes = copied_bytes(view, entry, base)?;
    let unsuited = "the edges of a window are copied without being asked, where they fit";
    Some(Candidate {
        residency: Residency::Memory,
        graph_bytes: bytes.saturating_sub(base),
        least_bytes: bytes,
        whole_bytes: bytes,
        unsuited: Some(unsuited.to_owned()),
        ..mapped.clone()
    })
}

/// Bytes of the in-lists that are made to be joined with the out-lists, each with the times and the weights;
/// 0 if they are not joined.
fn made_joined(view: &View, weighted: bool, weight_bytes: u64) -> u64 {
    if !(weighted && view.drops_directions() && joins(view)) {
        return 0;
    }
    let num_arcs = view.version().stack().arcs_scanned().max(view.version().num_arcs());
    made_joined_bytes(view.version().num_vertices() as u64, num_arcs, weight_bytes)
}

/// Mapped lists, with the least memory of a run that copies the edges of a window, if that is less, or if
/// in-lists are made from the copy.
pub(super) fn copied_or_not(lists: Candidate, view: &View, entry: &Entry) -> Candidate {
    let least_bytes = lists.least_bytes;
    let copied = copied_bytes(view, entry, least_bytes).unwrap_or(least_bytes);
    let least_bytes = if view.makes_in_lists() { copied } else { least_bytes.min(copied) };
    Candidate { least_bytes, ..lists }
}

/// Whether copies of an edge of a window are joined.
fn joins(view: &View) -> bool {
    view.window_index().is_some_and(|index| index.window().copies != Copies::All)
}

/// Whether a window is read list by list: edges are filtered by other properties than their times, copies of
/// an edge are joined, or weights are read beside the times.
pub(super) fn reads_whole_lists(view: &View, weighted: bool) -> bool {
    view.window_index().is_some() && (weighted || view.is_filtered() || joins(view))
}

/// Whether weights are read from a second graph, beside the times of a window.
pub(super) fn reads_weights_beside(view: &View, weighted: bool) -> bool {
    let counts = |copies: Copies| matches!(copies, Copies::Weighted(Combine::Count));
    let reads = |copies| weighted && !view.is_filtered() && !counts(copies);
    view.window_index().is_some_and(|index| reads(index.window().copies))
}
