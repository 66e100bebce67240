//! Windows that move with the versions: each is made from the one before and from what changed.

use std::sync::Arc;

use esker_format::{ElementType, Result};
use esker_graph::{Run, VertexId};
use esker_layers::graph::views::window::{Copies, TimeWindow};

use crate::diff::{DiffEdge, Difference, diff};
use crate::view::{AgingEdges, MovedWindow, View, WindowMove};

/// A window is made from the one before if it moves by at most one part of its length in this many: finding
/// an edge that came or went takes as long as counting that many.
const PARTS_MIN: u64 = 64;
/// That of a window of few arcs.
const FEW_PARTS_MIN: u64 = 8;
/// The layers between the versions have at most one arc for this many of the window.
const LAYER_PARTS_MIN: u64 = 8;
/// Few arcs.
const FEW_ARCS: u64 = 1 << 12;
/// The copies of what changed while its lists grow.
const COPIES: usize = 2;
/// One part of a window in this many is looked through at a time for the edges that leave it next.
const AGING_PARTS: u64 = 8;

impl View {
    /// As [`View::window`], made from the window of an earlier version, or an earlier window of this one.
    /// The filter is that of this view, whose edges are counted. Without one, where little changed, that
    /// takes time in proportion to the change and to the number of vertices, not of edges; else the edges are
    /// counted.
    ///
    /// # Errors
    /// As [`View::window`].
    pub fn window_after(
        self,
        former: &Self,
        time: &str,
        window: TimeWindow,
        all_vertices: bool,
        run: &Run,
    ) -> Result<Self> {
        let newer = self.without_window();
        let moved = Move::of(former, &newer, time, window, all_vertices).map(|found| found.made(run));
        match moved.transpose()?.flatten() {
            Some(windowed) => Ok(windowed),
            None => newer.window(time, window, all_vertices, run),
        }
    }
}

/// A window, and the one that it is made from.
struct Move<'a> {
    /// The former version with its window.
    former: &'a View,
    newer: &'a View,
    time: &'a str,
    /// The number of the property that holds the times, and its type.
    property: (u32, ElementType),
    before: TimeWindow,
    after: TimeWindow,
    all_vertices: bool,
}

/// What is found of a move, as far as the budget allows.
struct FoundMove {
    moved: WindowMove,
    /// Whether there was no room for more.
    is_refused: bool,
    /// The least and the greatest of the times of edges that only one of the versions has.
    times: Option<(i64, i64)>,
}

impl FoundMove {
    fn add(&mut self, ends: (VertexId, VertexId)) {
        self.is_refused |= !self.moved.memory.push(&mut self.moved.added, ends, COPIES);
    }

    fn remove(&mut self, ends: (VertexId, VertexId)) {
        self.is_refused |= !self.moved.memory.push(&mut self.moved.removed, ends, COPIES);
    }

    /// The move, which takes no more memory than it needs; `None` if there was no room for all of it.
    fn complete(self) -> Option<WindowMove> {
        let mut moved = self.moved;
        let WindowMove { removed, added, vertices, memory, .. } = &mut moved;
        removed.shrink_to_fit();
        added.shrink_to_fit();
        vertices.shrink_to_fit();
        let of_edges = (removed.len() + added.len()) * size_of::<(VertexId, VertexId)>();
        memory.shrink_to((of_edges + vertices.len() * size_of::<VertexId>()) as u64);
        (!self.is_refused).then_some(moved)
    }
}

impl<'a> Move<'a> {
    /// The move, if the window can be made from the former one and little changed.
    fn of(
        former: &'a View,
        newer: &'a View,
        time: &'a str,
        after: TimeWindow,
        all_vertices: bool,
    ) -> Option<Self> {
        let lists = former.window_lists()?;
        let (before, record) = (*lists.index.window(), lists.time);
        let property = newer.version().edge_property(time).ok()?;
        let is_same_kind = (before.copies, after.copies) == (Copies::All, Copies::All)
            && !(former.is_filtered() || newer.is_filtered())
            && lists.all_vertices == all_vertices
            && (record.number, record.element) == (property.number, property.element);
        let is_ahead =
            before.after <= after.after && before.until <= after.until && after.after < before.until;
        let moved_by = after.until.abs_diff(before.until).max(after.after.abs_diff(before.after));
        let parts = if lists.index.num_arcs() <= FEW_ARCS { FEW_PARTS_MIN } else { PARTS_MIN };
        let is_near = moved_by.saturating_mul(parts) <= before.until.abs_diff(before.after);
        if !(is_same_kind && is_ahead && is_near && newer.version().continues(former.version())) {
            return None;
        }
        let since = former.version().number();
        let layers = newer.version().stack().layers().iter().map(|layer| layer.record());
        let changed = layers.filter(|layer| layer.last_version > since && since < newer.version().number());
        let arcs: u64 = changed.map(|layer| layer.out.arcs + layer.out.past_arcs).sum();
        let is_little = arcs <= (lists.index.num_arcs() / LAYER_PARTS_MIN).max(FEW_ARCS);
        let property = (property.number, property.element);
        is_little.then_some(Self { former, newer, time, property, before, after, all_vertices })
    }

    /// The later version with its window; `None` if its edges must be counted.
    fn made(&self, run: &Run) -> Result<Option<View>> {
        let Some(aging) = self.aging(run)? else { return Ok(None) };
        let Some(mut found) = self.differences(run)? else { return Ok(None) };
        if let Some(leaving) = self.leaving() {
            let Some(edges) = aging.as_ref().and_then(|aging| aging.within(&leaving)) else {
                return Ok(None);
            };
            edges.iter().for_each(|&(_, source, target)| found.remove((source, target)));
        }
        if let Some(coming) = self.coming().filter(|_| !self.comes_by_commits()) {
            let Some(edges) = self.newer.timed_edges(self.time, &coming, run)? else { return Ok(None) };
            edges.0.iter().for_each(|&(_, source, target)| found.add((source, target)));
        }
        let is_untouched = |aging: &Arc<AgingEdges>| {
            found.times.is_none_or(|(least, most)| most <= aging.range.after || aging.range.until < least)
        };
        let aging = aging.filter(is_untouched);
        let Some(difference) = found.complete() else { return Ok(None) };
        let (time, window, all_vertices) = (self.time, self.after, self.all_vertices);
        let moved = MovedWindow { time, window, all_vertices, difference, aging };
        self.newer.clone().moved_window(self.former, moved, run)
    }

    /// The range of times of edges that leave the window.
    fn leaving(&self) -> Option<TimeWindow> {
        let leaving = TimeWindow { until: self.after.after, ..self.before };
        (leaving.after < leaving.until).then_some(leaving)
    }

    /// The range of times of edges that come to the window.
    fn coming(&self) -> Option<TimeWindow> {
        let coming = TimeWindow { after: self.before.until, ..self.after };
        (coming.after < coming.until).then_some(coming)
    }

    /// Whether the former version has no edges of the times that come to the window, so that all of these are
    /// differences between the versions.
    fn comes_by_commits(&self) -> bool {
        let stated = self.former.version().stack().value_range(self.property.0);
        stated.is_some_and(|(_, latest)| latest <= self.before.until)
    }

    /// The edges of the former version that leave the window next, as far as this move and further, if it has
    /// any: the known ones, or else those of a part of the window. The outer `None`: there is no room for
    /// them.
    fn aging(&self, run: &Run) -> Result<Option<Option<Arc<AgingEdges>>>> {
        let known = self.former.aging();
        let Some(leaving) = self.leaving() else { return Ok(Some(known.cloned())) };
        if let Some(known) = known.filter(|aging| aging.within(&leaving).is_some()) {
            return Ok(Some(Some(Arc::clone(known))));
        }
        let part = (self.before.until.abs_diff(self.before.after) / AGING_PARTS) as i64;
        let until = leaving.after.saturating_add(part).max(leaving.until);
        for until in [until, leaving.until] {
            let range = TimeWindow { until, ..leaving };
            if let Some((edges, memory)) = self.former.timed_edges(self.time, &range, run)? {
                return Ok(Some(Some(Arc::new(AgingEdges { range, edges, _memory: memory }))));
            }
        }
        Ok(None)
    }

    /// The differences between the versions, of the edges that both windows show, and of those that only the
    /// later one shows if all of these came between the versions. `None`: there is no room for them.
    fn differences(&self, run: &Run) -> Result<Option<FoundMove>> {
        let Some(from) = self.former.window_position() else {
            unreachable!("the former version has a window")
        };
        let Some(memory) = run.budget().try_reserve(0) else { return Ok(None) };
        let moved = WindowMove { from, removed: Vec::new(), added: Vec::new(), vertices: Vec::new(), memory };
        let mut found = FoundMove { moved, is_refused: false, times: None };
        let comes_by_commits = self.comes_by_commits();
        let time_of = |edge: &DiffEdge<'_>| {
            let bits = edge.bits(self.property.0)?;
            Ok::<_, esker_format::Error>(match self.property.1 {
                ElementType::I32 => i64::from(bits as i32),
                _ => bits as i64,
            })
        };
        let take = |found: &mut FoundMove, edge: &DiffEdge<'_>, is_new: bool| {
            let (time, ends) = (time_of(edge)?, (edge.source, edge.target));
            let (least, most) = found.times.unwrap_or((time, time));
            found.times = Some((least.min(time), most.max(time)));
            let is_shown_before = self.before.contains(time);
            if self.after.contains(time) && (is_shown_before || is_new && comes_by_commits) {
                if is_new { found.add(ends) } else { found.remove(ends) }
            }
            Ok::<_, esker_format::Error>(())
        };
        diff(self.former.version(), self.newer.version(), run, |difference| {
            match difference {
                Difference::VertexAdded(v) | Difference::VertexRemoved(v) => {
                    found.is_refused |= !found.moved.memory.push(&mut found.moved.vertices, v, COPIES);
                }
                Difference::ValueChanged(..) => {}
                Difference::EdgeAdded(edge) => take(&mut found, &edge, true)?,
                Difference::EdgeRemoved(edge) => take(&mut found, &edge, false)?,
                Difference::EdgeChanged(old, new) => {
                    take(&mut found, &old, false)?;
                    take(&mut found, &new, true)?;
                }
            }
            Ok(())
        })?;
        Ok(Some(found).filter(|found| !found.is_refused))
    }
}
