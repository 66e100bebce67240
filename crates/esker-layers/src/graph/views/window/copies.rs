//! Windows of times, and the rules that join the copies of an edge.

use std::cmp::Ordering;

use esker_format::{Error, Result};
use esker_graph::VertexId;

use crate::graph::weight::ColumnWeight;

/// A range of times, and what becomes of several edges from one vertex to another within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeWindow {
    /// Edges at this time are not in the window.
    pub after: i64,
    /// Edges at this time are in the window, later ones are not.
    pub until: i64,
    /// The kind of window.
    pub copies: Copies,
}

/// The rule for several edges from one vertex to another within a window (LLAMA thesis, 7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Copies {
    /// Each is an edge.
    #[default]
    All,
    /// Only the last one is an edge; if several have the last time, the one with the least weight.
    Distinct,
    /// They are one edge, whose weight is computed from theirs.
    Weighted(Combine),
}

/// How the weights of several edges become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// Their number.
    Count,
    /// Their sum.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The weight of the last edge; if several have the last time, the least of their weights.
    Last,
}

impl TimeWindow {
    /// All arcs, each an edge.
    pub const WHOLE: Self = Self { after: i64::MIN, until: i64::MAX, copies: Copies::All };

    /// Whether a time lies in the window.
    #[inline(always)]
    pub fn contains(&self, time: i64) -> bool {
        self.after < time && time <= self.until
    }

    /// Number of the times that lie in the window.
    #[inline(always)]
    pub(super) fn count(&self, times: &[i64]) -> usize {
        times.iter().filter(|&&time| self.contains(time)).count()
    }

    /// Appends the arcs of a list that the window selects. The list is sorted by target; `weights` are beside
    /// it, or nothing is if weights are not read.
    pub(super) fn select<W: ColumnWeight>(
        &self,
        targets: &[VertexId],
        times: &[i64],
        weights: Option<&[W]>,
        into: &mut Selected<W>,
    ) -> Result<()> {
        let weight = |i: usize| weights.map_or_else(W::default, |weights| weights[i]);
        if self.copies == Copies::All {
            for (i, _) in times.iter().enumerate().filter(|(_, time)| self.contains(**time)) {
                into.push(targets[i], weight(i));
            }
            return Ok(());
        }
        let mut start = 0;
        for run in targets.chunk_by(|a, b| a == b) {
            let range = start..start + run.len();
            start = range.end;
            into.copies.clear();
            let inside = range.filter(|&i| self.contains(times[i]));
            into.copies.extend(inside.map(|i| (times[i], weight(i))));
            if !into.copies.is_empty() {
                let weight = self.copies.join(&mut into.copies)?;
                into.push(run[0], weight);
            }
        }
        Ok(())
    }
}

impl Copies {
    /// The weight of the one edge that stands for some edges, at least one.
    fn join<W: ColumnWeight>(self, copies: &mut [(i64, W)]) -> Result<W> {
        let weights = copies.iter().map(|copy| copy.1);
        let found = match self {
            Self::All | Self::Distinct | Self::Weighted(Combine::Last) => {
                let last = copies.iter().map(|copy| copy.0).max();
                let of_last = copies.iter().filter(|copy| Some(copy.0) == last).map(|copy| copy.1);
                of_last.reduce(W::smaller)
            }
            Self::Weighted(Combine::Count) => Some(W::of_count(copies.len())),
            Self::Weighted(Combine::Min) => weights.reduce(W::smaller),
            Self::Weighted(Combine::Max) => weights.max_by(|a, b| order(*a, *b)),
            Self::Weighted(Combine::Sum) => {
                // In the order of their times, which does not depend on how the edges lie in layers.
                copies.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| order(a.1, b.1)));
                Some(W::sum(copies.iter().map(|copy| copy.1)).ok_or_else(|| {
                    let message = "the weights of the edges between two vertices have a sum that their type does not hold: \
                                   take the number, the least or the greatest of them, or weights of a wider type";
                    Error::invalid(message.to_owned())
                })?)
            }
        };
        Ok(found.unwrap_or_default())
    }
}

/// The order of two weights.
fn order<W: ColumnWeight>(a: W, b: W) -> Ordering {
    if a == b {
        Ordering::Equal
    } else if a.smaller(b) == a {
        Ordering::Less
    } else {
        Ordering::Greater
    }
}

/// Arcs that a window selected, and room for the copies of one edge.
#[derive(Debug, Default)]
pub(crate) struct Selected<W> {
    pub(crate) targets: Vec<VertexId>,
    pub(crate) weights: Vec<W>,
    copies: Vec<(i64, W)>,
    arcs: TimedArcs<W>,
}

/// Arcs of a list with their times, before copies of an edge are joined.
#[derive(Debug, Default)]
pub(crate) struct TimedArcs<W> {
    pub(super) targets: Vec<VertexId>,
    pub(super) times: Vec<i64>,
    pub(super) weights: Vec<W>,
}

impl<W: ColumnWeight> TimedArcs<W> {
    pub(super) fn new() -> Self {
        Self { targets: Vec::new(), times: Vec::new(), weights: Vec::new() }
    }

    pub(super) fn push(&mut self, target: VertexId, time: i64, weight: W) {
        self.targets.push(target);
        self.times.push(time);
        self.weights.push(weight);
    }

    fn clear(&mut self) {
        self.targets.clear();
        self.times.clear();
        self.weights.clear();
    }

    /// Sorts the arcs from a place on by target. Copies of an edge keep their order.
    pub(super) fn sort_from(&mut self, start: usize) {
        if self.targets[start..].is_sorted() {
            return;
        }
        let order = |i: usize| (self.targets[i], self.times[i], self.weights[i]);
        let mut arcs: Vec<(VertexId, i64, W)> = (start..self.targets.len()).map(order).collect();
        arcs.sort_by_key(|arc| arc.0);
        self.truncate(start);
        arcs.into_iter().for_each(|(target, time, weight)| self.push(target, time, weight));
    }

    /// Drops the arcs from a place on that lead to a target.
    pub(super) fn drop_target_from(&mut self, start: usize, target: VertexId) {
        let mut end = start;
        for i in start..self.targets.len() {
            if self.targets[i] != target {
                self.targets[end] = self.targets[i];
                self.times[end] = self.times[i];
                self.weights[end] = self.weights[i];
                end += 1;
            }
        }
        self.truncate(end);
    }

    fn truncate(&mut self, len: usize) {
        self.targets.truncate(len);
        self.times.truncate(len);
        self.weights.truncate(len);
    }
}

impl<W: ColumnWeight> Selected<W> {
    pub(super) fn new() -> Self {
        let arcs = TimedArcs::new();
        Self { targets: Vec::new(), weights: Vec::new(), copies: Vec::new(), arcs }
    }

    /// Appends what a window selects of the arcs that `read` reads, all of which lie in it.
    pub(super) fn with_arcs(
        &mut self,
        window: &TimeWindow,
        read: impl FnOnce(&mut TimedArcs<W>) -> Result<()>,
    ) -> Result<()> {
        let mut arcs = std::mem::replace(&mut self.arcs, TimedArcs::new());
        arcs.clear();
        let read = read(&mut arcs);
        // Arcs without times lie in any window.
        let whole = TimeWindow { copies: window.copies, ..TimeWindow::WHOLE };
        let selected =
            read.and_then(|()| whole.select(&arcs.targets, &arcs.times, Some(&arcs.weights), self));
        self.arcs = arcs;
        selected
    }

    pub(super) fn clear(&mut self) {
        self.targets.clear();
        self.weights.clear();
    }

    fn push(&mut self, target: VertexId, weight: W) {
        self.targets.push(target);
        self.weights.push(weight);
    }
}
