//! Filters arcs by conditions on their properties.

use std::fmt::Debug;

use esker_format::{Result, Values};
use esker_graph::{Direction, Flow, Run, VertexId};

use super::copies::{Selected, TimeWindow, TimedArcs};
use crate::graph::weight::ColumnWeight;
use crate::layer::ListColumns;
use crate::stack::Stack;

/// An arc as it lies in the lists of a layer.
#[derive(Debug, Clone, Copy)]
pub struct ListedArc<'a> {
    /// The vertex that it leaves.
    pub source: VertexId,
    /// The vertex at which it arrives.
    pub target: VertexId,
    /// The lists that hold its properties.
    pub lists: &'a ListColumns,
    /// Its index there.
    pub index: usize,
}

impl<'a> ListedArc<'a> {
    /// The arc between `v`, in whose list of a direction it lies, and another vertex.
    pub fn of_list(
        direction: Direction,
        v: VertexId,
        other: VertexId,
        lists: &'a ListColumns,
        index: usize,
    ) -> Self {
        let (source, target) = match direction {
            Direction::Out => (v, other),
            Direction::In => (other, v),
        };
        Self { source, target, lists, index }
    }
}

/// A filter of arcs by their properties and their ends.
pub trait ArcFilter: Debug + Send + Sync {
    /// Whether it keeps an arc.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`].
    fn keeps(&self, arc: &ListedArc<'_>) -> Result<bool>;

    /// Whether it keeps at most one of the arcs from one vertex to another, also in a multigraph.
    fn keeps_one_a_pair(&self) -> bool {
        false
    }
}

/// The arcs of a version that a filter keeps, with the properties that are read beside them.
#[derive(Debug, Clone, Copy)]
pub struct FilteredArcs<'a> {
    /// The layers. Scans may leave some out.
    pub stack: &'a Stack,
    /// The filter.
    pub filter: &'a dyn ArcFilter,
    /// The number of the property that holds the times; `None`: all arcs are in any window.
    pub time: Option<u32>,
    /// The number of the property that is the weight; `None`: weights are not read.
    pub weight: Option<u32>,
}

/// The lists of one direction that a filter keeps. Each list is read along its chain from mapped layers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FilteredLists<'a> {
    arcs: FilteredArcs<'a>,
    direction: Direction,
}

impl<'a> FilteredArcs<'a> {
    pub(crate) fn is_directed(&self) -> bool {
        self.stack.layers()[0].is_directed()
    }

    pub(crate) fn out(&self) -> FilteredLists<'a> {
        FilteredLists { arcs: *self, direction: Direction::Out }
    }

    /// The in-lists of a directed graph, if they are kept.
    pub(crate) fn incoming(&self) -> Option<FilteredLists<'a>> {
        let are_kept = self.is_directed() && self.stack.has(Direction::In);
        are_kept.then_some(FilteredLists { arcs: *self, direction: Direction::In })
    }
}

impl FilteredLists<'_> {
    /// Makes the vertex table, if there is room: without it, each list is searched for in each layer.
    pub(super) fn prepare(&self, run: &Run) -> Result<()> {
        if !self.arcs.stack.is_plain() {
            self.arcs.stack.table_if_room(self.direction, run)?;
        }
        Ok(())
    }

    /// Appends the arcs of `v` that lie in a window and that the filter keeps, sorted by target.
    pub(super) fn arcs<W: ColumnWeight>(
        &self,
        window: &TimeWindow,
        v: VertexId,
        into: &mut TimedArcs<W>,
    ) -> Result<()> {
        let FilteredArcs { stack, filter, time, weight } = self.arcs;
        let start = into.targets.len();
        stack.visit(self.direction, v, |stretch| {
            if stack.is_left_out(stretch.layer) {
                return Ok(Flow::More);
            }
            let arcs = stretch.start..stretch.start + stretch.targets.len();
            let times = time.and_then(|time| stretch.lists.property(time as usize));
            let weights = weight.map(|weight| W::some(stretch.lists, weight, arcs.clone())).transpose()?;
            for (i, index) in arcs.enumerate() {
                let time = times.map_or(Ok(0), |times| time_at(times, index))?;
                let is_inside = self.arcs.time.is_none() || window.contains(time);
                let other = stretch.targets[i];
                let arc = ListedArc::of_list(self.direction, v, other, stretch.lists, index);
                if is_inside && filter.keeps(&arc)? {
                    let weight = weights.map_or_else(W::default, |weights| weights[i]);
                    into.push(other, time, weight);
                }
            }
            Ok(Flow::More)
        })?;
        into.sort_from(start);
        Ok(())
    }

    /// Appends the arcs of `v` that a window selects of those that the filter keeps, sorted by target.
    pub(super) fn select<W: ColumnWeight>(
        &self,
        window: &TimeWindow,
        v: VertexId,
        into: &mut Selected<W>,
    ) -> Result<()> {
        into.with_arcs(window, |arcs| self.arcs(window, v, arcs))
    }
}

/// A time in a column of 32-bit or 64-bit integers.
///
/// # Errors
/// [`esker_format::Error::Corrupt`].
pub fn time_at(times: &Values, index: usize) -> Result<i64> {
    let bits = times.bits_at(index)?;
    Ok(match times {
        Values::I32(_) => i64::from(bits as i32),
        _ => bits as i64,
    })
}
