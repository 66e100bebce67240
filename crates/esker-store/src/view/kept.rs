//! The edges of one vertex that a window and a filter keep.

use esker_format::{Error, Result};
use esker_graph::{Direction, Flow, VertexId};
use esker_layers::graph::views::window::{ListedArc, time_at};
use esker_layers::layer::ListColumns;

use super::choice::View;
use super::part::WindowPart;
use crate::version::VertexEdges;

impl View {
    /// The edges of `v` that lie in the window and that the filter keeps, in the directions of the version.
    /// Memory: 24 bytes an edge if some may be left out, beside that of [`VertexEdges`].
    ///
    /// # Errors
    /// As [`Version::edges`](crate::Version::edges); [`Error::Invalid`] if the window joins copies of an
    /// edge.
    pub fn kept_edges(&self, direction: Direction, v: VertexId) -> Result<VertexEdges<'_>> {
        let edges = self.version.edges(direction, v)?;
        let Some(part) = self.window.as_deref() else { return Ok(edges) };
        if part.joins() {
            return Err(joined());
        }
        let (window, filter) = (part.index().window(), self.filter.as_deref());
        edges.filtered(|other, lists, index| {
            if let Some(times) = part.time().and_then(|time| lists.property(time as usize))
                && !window.contains(time_at(times, index)?)
            {
                return Ok(false);
            }
            let arc = ListedArc::of_list(direction, v, other, lists, index);
            filter.map_or(Ok(true), |filter| filter.keeps(&arc))
        })
    }

    /// Calls `take` with each edge of `v` that lies in the window and that the filter keeps, in the
    /// directions of the version: its other end, and the lists and the place in them where its properties
    /// lie. Edges come layer by layer.
    ///
    /// # Errors
    /// As [`View::kept_edges`]; what `take` returns.
    pub fn visit_kept<E: From<Error>>(
        &self,
        direction: Direction,
        v: VertexId,
        mut take: impl FnMut(VertexId, &ListColumns, usize) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.visit_kept_runs(direction, v, |others, lists, first| {
            (first..).zip(others).try_for_each(|(index, &other)| take(other, lists, index))
        })
    }

    /// The same by runs of edges that lie beside each other: their other ends, the lists, and the place of
    /// the first in them. Without a window and a filter a run is all that a layer has of `v`.
    ///
    /// # Errors
    /// As [`View::visit_kept`].
    pub fn visit_kept_runs<E: From<Error>>(
        &self,
        direction: Direction,
        v: VertexId,
        mut take: impl FnMut(&[VertexId], &ListColumns, usize) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let part = self.window.as_deref();
        if part.is_some_and(WindowPart::joins) {
            return Err(joined().into());
        }
        let (window, filter) = (part.map(|part| part.index().window()), self.filter.as_deref());
        let time = part.and_then(WindowPart::time);
        let mut failed = None;
        let mut hand_over = |others: &[VertexId], lists: &ListColumns, first| {
            let taken = if others.is_empty() { Ok(()) } else { take(others, lists, first) };
            taken.map_or_else(
                |error| {
                    failed = Some(error);
                    Flow::Enough
                },
                |()| Flow::More,
            )
        };
        self.version.stack().visit(direction, v, |stretch| {
            let times = time.and_then(|time| stretch.lists.property(time as usize));
            let times = window.zip(times);
            if times.is_none() && filter.is_none() {
                return Ok(hand_over(&stretch.targets, stretch.lists, stretch.start));
            }
            let mut run = 0;
            for (place, &other) in stretch.targets.iter().enumerate() {
                let index = stretch.start + place;
                let is_in_window = match times {
                    Some((window, times)) => window.contains(time_at(times, index)?),
                    None => true,
                };
                let arc = ListedArc::of_list(direction, v, other, stretch.lists, index);
                if !(is_in_window && filter.map_or(Ok(true), |filter| filter.keeps(&arc))?) {
                    let kept = &stretch.targets[run..place];
                    if hand_over(kept, stretch.lists, stretch.start + run) == Flow::Enough {
                        return Ok(Flow::Enough);
                    }
                    run = place + 1;
                }
            }
            Ok(hand_over(&stretch.targets[run..], stretch.lists, stretch.start + run))
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// Number of edges of `v` that [`View::kept_edges`] returns.
    ///
    /// # Errors
    /// As [`Version::degree`](crate::Version::degree).
    pub fn kept_degree(&self, direction: Direction, v: VertexId) -> Result<usize> {
        match self.window_index() {
            Some(index) if self.version.has(direction) => Ok(index.degree(direction, v)),
            _ => self.version.degree(direction, v),
        }
    }
}

fn joined() -> Error {
    Error::invalid("a window that joins edges has no single ones".to_owned())
}
