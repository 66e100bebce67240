//! The lists of one direction with the time of each arc.

use esker_format::Result;
use esker_graph::VertexId;

use super::copies::{Copies, Selected, TimeWindow};
use crate::graph::side::Side;
use crate::graph::weight::ColumnWeight;

/// Lists whose weights are times, and the same lists with the weights that algorithms read.
pub(crate) struct TimedLists<'a, W> {
    pub(crate) times: Side<'a, i64>,
    /// `None`: weights are not read, or counted.
    pub(crate) weights: Option<Side<'a, W>>,
}

impl<W: ColumnWeight> TimedLists<'_, W> {
    /// Appends the arcs of `v` that a window selects, sorted by target.
    pub(super) fn select(&self, window: &TimeWindow, v: VertexId, into: &mut Selected<W>) -> Result<()> {
        self.times.with_list(v, |targets, times| match &self.weights {
            None => window.select((targets, times, None), into),
            // Both are the same lists, joined in the same order.
            Some(side) => {
                side.with_list(v, |_, weights| window.select((targets, times, Some(weights)), into))?
            }
        })?
    }

    /// Whether arcs can be handed over as they come: copies of an edge are not joined, and no second column is read beside the times.
    pub(super) fn stream(&self, window: &TimeWindow) -> bool {
        window.copies == Copies::All && self.weights.is_none()
    }

    /// Whether single lists can be read; else they are only scanned.
    pub(crate) fn has_lists(&self) -> bool {
        self.times.has_lists()
    }

    /// Whether the arcs in a window can be read, as they come or list by list.
    pub(crate) fn can_filter(&self, window: &TimeWindow) -> bool {
        self.stream(window) || self.has_lists()
    }
}
