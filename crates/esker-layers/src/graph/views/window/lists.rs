//! The lists of one direction with the time of each arc.

use esker_format::Result;
use esker_graph::{Run, VertexId};

use super::copies::{Copies, Selected, TimeWindow, TimedArcs};
use super::filter::FilteredLists;
use crate::graph::side::GraphSide;
use crate::graph::weight::ColumnWeight;

/// The lists of one direction, from which a window selects arcs.
#[allow(clippy::large_enum_variant, reason = "one for each graph, never many")]
pub(crate) enum TimedLists<'a, W> {
    /// The lists of a graph, in any encoding and residency.
    Columns {
        /// Lists whose weights are times.
        times: GraphSide<'a, i64>,
        /// The same lists with the weights that algorithms read; `None` if weights are not read, or are
        /// numbers of edges.
        weights: Option<GraphSide<'a, W>>,
    },
    /// Only the arcs that a filter keeps.
    Filtered(FilteredLists<'a>),
}

impl<'a, W: ColumnWeight> TimedLists<'a, W> {
    /// Appends the arcs of `v` that a window selects, sorted by target.
    pub(super) fn select(&self, window: &TimeWindow, v: VertexId, into: &mut Selected<W>) -> Result<()> {
        match self {
            Self::Columns { times, weights } => times.with_list(v, |targets, times| match weights {
                None => window.select(targets, times, None, into),
                // Both are the same lists, joined in the same order.
                Some(side) => {
                    side.with_list(v, |_, weights| window.select(targets, times, Some(weights), into))?
                }
            })?,
            Self::Filtered(lists) => lists.select(window, v, into),
        }
    }

    /// Appends all arcs of `v` in a window, sorted by target; copies of an edge are not joined.
    pub(super) fn arcs(&self, window: &TimeWindow, v: VertexId, into: &mut TimedArcs<W>) -> Result<()> {
        let mut extend = |targets: &[VertexId], times: &[i64], weights: Option<&[W]>| {
            for (i, &time) in times.iter().enumerate().filter(|(_, time)| window.contains(**time)) {
                into.push(targets[i], time, weights.map_or_else(W::default, |weights| weights[i]));
            }
        };
        match self {
            Self::Columns { times, weights: None } => {
                times.with_list(v, |targets, times| extend(targets, times, None))
            }
            Self::Columns { times, weights: Some(side) } => times.with_list(v, |targets, times| {
                side.with_list(v, |_, weights| extend(targets, times, Some(weights)))
            })?,
            Self::Filtered(lists) => lists.arcs(window, v, into),
        }
    }

    /// The lists whose arcs can be handed over as they come: copies of an edge are not joined, no second
    /// column is read beside the times, and there is no filter.
    pub(super) fn streamed(&self, window: &TimeWindow) -> Option<&GraphSide<'a, i64>> {
        match self {
            Self::Columns { times, weights: None } if window.copies == Copies::All => Some(times),
            Self::Columns { .. } | Self::Filtered(_) => None,
        }
    }

    pub(super) fn prepare(&self, run: &Run) -> Result<()> {
        match self {
            Self::Columns { times, weights } => {
                times.prepare(run)?;
                weights.as_ref().map_or(Ok(()), |weights| weights.prepare(run))
            }
            Self::Filtered(lists) => lists.prepare(run),
        }
    }

    pub(super) fn read_bytes(&self) -> u64 {
        match self {
            Self::Columns { times, weights } => {
                times.read_bytes() + weights.as_ref().map_or(0, GraphSide::read_bytes)
            }
            Self::Filtered(_) => 0,
        }
    }

    /// Whether single lists can be read; else they are only scanned.
    pub(crate) fn has_lists(&self) -> bool {
        match self {
            Self::Columns { times, .. } => times.has_lists(),
            Self::Filtered(_) => true,
        }
    }

    /// Whether the arcs in a window can be read, as they come or list by list.
    pub(crate) fn can_filter(&self, window: &TimeWindow) -> bool {
        self.streamed(window).is_some() || self.has_lists()
    }
}
