//! What changed from one version to the next, as live answers need it.

use std::time::{Duration, Instant};

use esker_algo::live::ChangedEdges;
use esker_graph::{Reservation, Run, VertexId};
use esker_store::View;
use esker_store::WindowLists;
use esker_store::diff::{DiffCache, DiffEdge, Difference, diff};
use esker_store::format::LayerRecord;
use esker_store::windows::{Copies, TimeWindow};

use super::points::LiveWeight;
use crate::error::Result;

/// The copies of what changed: also with weights of their type, and while lists grow.
const COPIES: usize = 2;
/// The number of edges and vertices between two looks at the clock.
const LOOK_EVERY: usize = 64;

/// The differences between two versions, or between two windows. Memory: 32 to 64 bytes (48 to 96 with 64-bit
/// ids) for each edge, reserved from the budget of the run.
#[derive(Debug)]
pub(super) struct VersionChange {
    /// Vertices that were removed.
    pub(super) left: Vec<VertexId>,
    /// Vertices that were added or restored.
    pub(super) came: Vec<VertexId>,
    /// Whether there are new vertices, also such as are not in a window.
    grew: bool,
    /// Edges of the older version only, with the bits of their weights.
    removed: Vec<(VertexId, VertexId, u64)>,
    /// Edges of the newer version only.
    added: Vec<(VertexId, VertexId, u64)>,
    /// Edges of both that have other properties: the bits of the old weight and of the new one.
    reweighed: Vec<(VertexId, VertexId, [u64; 2])>,
    memory: Reservation,
    /// Whether there was no room or no time for more.
    is_given_up: bool,
    /// The edges and vertices that the search has come to, whether they changed or not.
    seen: usize,
    begin: Instant,
    time_max: Duration,
}

impl VersionChange {
    /// Compares two versions, with the weights that the algorithm reads. Costs time linear in the lists of
    /// the changed vertices. Of windows, it also reads the times in the layers that reach into what the
    /// window left or came to. `None` if the budget has no room for them, or it takes longer than `time_max`.
    pub(super) fn between(
        older: &View,
        newer: &View,
        weighted: bool,
        cache: &mut DiffCache,
        run: &Run,
        time_max: Duration,
    ) -> Result<Option<Self>> {
        let Some(mut change) = Self::none(run, time_max) else { return Ok(None) };
        let found = change.find(older, newer, weighted, cache, run);
        if change.is_given_up { Ok(None) } else { found.map(|()| Some(change)) }
    }

    /// Finds what changed.
    fn find(
        &mut self,
        older: &View,
        newer: &View,
        weighted: bool,
        cache: &mut DiffCache,
        run: &Run,
    ) -> Result<()> {
        let weight = newer.weight_property().filter(|_| weighted).map(|property| property.number);
        if let (Some(before), Some(after)) = (older.window_lists(), newer.window_lists()) {
            return Slide { older, newer, before, after, weight, run }.change(self);
        }
        let bits = |edge: &DiffEdge<'_>| weight.map_or(Ok(0), |weight| edge.bits(weight));
        cache.diff(older.version(), newer.version(), run, |difference| {
            self.see()?;
            match difference {
                Difference::VertexAdded(v) => self.came.push(v),
                Difference::VertexRemoved(v) => self.left.push(v),
                Difference::ValueChanged(..) => {}
                Difference::EdgeAdded(edge) => self.add((edge.source, edge.target, bits(&edge)?))?,
                Difference::EdgeRemoved(edge) => self.remove((edge.source, edge.target, bits(&edge)?))?,
                Difference::EdgeChanged(old, new) => {
                    let weights = [bits(&old)?, bits(&new)?];
                    if weights[0] != weights[1] {
                        self.reweigh((old.source, old.target, weights))?;
                    }
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Without a change; `None` if the budget is spent.
    fn none(run: &Run, time_max: Duration) -> Option<Self> {
        let memory = run.budget().try_reserve(0)?;
        let (removed, added, reweighed) = (Vec::new(), Vec::new(), Vec::new());
        let (left, came) = (Vec::new(), Vec::new());
        let (grew, is_given_up, seen, begin) = (false, false, 0, Instant::now());
        Some(Self { left, came, grew, removed, added, reweighed, memory, is_given_up, seen, begin, time_max })
    }

    fn add(&mut self, edge: (VertexId, VertexId, u64)) -> esker_store::Result<()> {
        self.is_given_up |= !self.memory.push(&mut self.added, edge, COPIES);
        self.go_on()
    }

    fn remove(&mut self, edge: (VertexId, VertexId, u64)) -> esker_store::Result<()> {
        self.is_given_up |= !self.memory.push(&mut self.removed, edge, COPIES);
        self.go_on()
    }

    fn reweigh(&mut self, edge: (VertexId, VertexId, [u64; 2])) -> esker_store::Result<()> {
        self.is_given_up |= !self.memory.push(&mut self.reweighed, edge, COPIES);
        self.go_on()
    }

    /// Counts an edge or a vertex that the search has come to. An error, which ends the search, if there is
    /// no time for more.
    fn see(&mut self) -> esker_store::Result<()> {
        self.seen += 1;
        if self.seen.is_multiple_of(LOOK_EVERY) {
            self.is_given_up |= self.begin.elapsed() > self.time_max;
        }
        self.go_on()
    }

    /// An error, which ends the search, if it was given up.
    fn go_on(&self) -> esker_store::Result<()> {
        let given_up = || esker_store::Error::invalid("the search for what changed was given up".to_owned());
        if self.is_given_up { Err(given_up()) } else { Ok(()) }
    }

    /// Whether nothing that an algorithm reads changed.
    pub(super) fn is_empty(&self) -> bool {
        self.num_edges() == 0 && self.left.is_empty() && self.came.is_empty() && !self.grew
    }

    /// The number of edges that changed.
    pub(super) fn num_edges(&self) -> usize {
        self.removed.len() + self.added.len() + self.reweighed.len()
    }

    /// The edges with weights of type `W`.
    pub(super) fn edges<W: LiveWeight>(&self) -> ChangedEdges<W> {
        let typed = |&(u, v, bits): &(VertexId, VertexId, u64)| (u, v, W::of_bits(bits));
        let mut changes = ChangedEdges {
            removed: self.removed.iter().map(typed).collect(),
            added: self.added.iter().map(typed).collect(),
            left: self.left.clone(),
            came: self.came.clone(),
        };
        for &(u, v, [old, new]) in &self.reweighed {
            changes.removed.push((u, v, W::of_bits(old)));
            changes.added.push((u, v, W::of_bits(new)));
        }
        changes
    }
}

/// Whether a state of one window can be taken to the other edge by edge: both or none is a window, they
/// differ in their range only, and no filter leaves out edges.
pub(super) fn is_slide(older: &View, newer: &View) -> bool {
    if older.is_filtered() || newer.is_filtered() {
        return false;
    }
    match (older.window_lists(), newer.window_lists()) {
        (None, None) => true,
        (Some(before), Some(after)) => {
            let is_kept = |lists: &WindowLists<'_>| lists.index.window().copies == Copies::All;
            is_kept(&before)
                && is_kept(&after)
                && before.all_vertices == after.all_vertices
                && (before.time.number, before.time.element) == (after.time.number, after.time.element)
        }
        _ => false,
    }
}

/// Checks that `to` numbers the vertices as a followed version does. It may not: if that version was undone,
/// the numbers of the vertices that it added may belong to others now.
pub(super) fn check_same_vertices(followed: &View, to: &View) -> Result<()> {
    if followed.version().manifest().ids != to.version().manifest().ids {
        return Err(esker_store::Error::invalid(format!(
            "a compaction renumbered the vertices of {} and left out removed ones: follow it anew",
            to.version().path().display()
        ))
        .into());
    }
    let (before, now) = (followed.version().ids(), to.version().ids());
    let count = followed.version().num_vertices();
    let mut are_same = count <= to.version().num_vertices();
    // The newest vertices first: those of an undone version are the last.
    let mut vertices = (0..count).rev().map(esker_graph::vertex);
    while are_same && let Some(v) = vertices.next() {
        are_same = before.external_of(v)? == now.external_of(v)?;
    }
    if are_same {
        return Ok(());
    }
    let (known, number) = (followed.version().number(), to.version().number());
    Err(esker_store::Error::invalid(format!(
        "version {known}, which added vertices, is not part of the history of version {number}: it was forgotten, or the database \
         put back to an earlier state; follow it anew"
    ))
    .into())
}

/// How large a version or a window is, and how much of it may differ from an older one: in arcs and lists, or
/// the length of the window and how far it moved. `None` if only one of them is a window.
pub(super) fn extent(older: &View, newer: &View) -> Option<(u64, u64)> {
    match (older.window_index(), newer.window_index()) {
        (Some(before), Some(after)) => {
            let (before, after) = (before.window(), after.window());
            Some((after.until.abs_diff(after.after), after.until.abs_diff(before.until)))
        }
        (None, None) => {
            let later = newer.version().stack().layers().iter().map(|layer| layer.record());
            let later = later.filter(|record| record.last_version > older.version().number());
            let part =
                later.map(|LayerRecord { out, .. }| out.lists + out.arcs + out.dead_arcs + out.past_arcs);
            Some((newer.version().num_vertices() as u64 + newer.num_arcs(), part.sum()))
        }
        _ => None,
    }
}

/// A window that moved, perhaps with the version.
///
/// An edge that both versions have belongs to the change if its time lies in one of the two ranges only. Of
/// the edges that only one version has, those of both ranges do; the others are found by the range that they
/// alone lie in.
struct Slide<'a> {
    older: &'a View,
    newer: &'a View,
    before: WindowLists<'a>,
    after: WindowLists<'a>,
    /// The property of the weights.
    weight: Option<u32>,
    run: &'a Run,
}

impl Slide<'_> {
    /// Finds what changed.
    fn change(&self, change: &mut VersionChange) -> Result<()> {
        change.grew = self.newer.version().num_vertices() > self.older.version().num_vertices();
        if self.weight.is_none()
            && let Some(moved) = self.newer.window_move(self.older)
        {
            for &(u, v) in &moved.removed {
                change.see()?;
                change.remove((u, v, 0))?;
            }
            for &(u, v) in &moved.added {
                change.see()?;
                change.add((u, v, 0))?;
            }
            return self.move_vertices(moved.vertices.clone(), change);
        }
        let (before, after) = (*self.before.index.window(), *self.after.index.window());
        let mut named = Vec::new();
        let in_both = |edge: &DiffEdge<'_>| {
            let time = self.after.time_of(edge.bits(self.after.time.number)?);
            Ok::<_, esker_store::Error>(before.contains(time) && after.contains(time))
        };
        let put = |change: &mut VersionChange, edge: &DiffEdge<'_>, is_new: bool| {
            if in_both(edge)? {
                let bits = self.weight.map_or(Ok(0), |weight| edge.bits(weight))?;
                let edge = (edge.source, edge.target, bits);
                return if is_new { change.add(edge) } else { change.remove(edge) };
            }
            Ok::<_, esker_store::Error>(())
        };
        diff(self.older.version(), self.newer.version(), self.run, |difference| {
            change.see()?;
            match difference {
                Difference::VertexAdded(v) | Difference::VertexRemoved(v) => named.push(v),
                Difference::ValueChanged(..) => {}
                Difference::EdgeAdded(edge) => put(change, &edge, true)?,
                Difference::EdgeRemoved(edge) => put(change, &edge, false)?,
                Difference::EdgeChanged(old, new) => {
                    put(change, &old, false)?;
                    put(change, &new, true)?;
                }
            }
            Ok(())
        })?;
        for part in left_out(before, after) {
            self.take(self.older, part, |edge| change.see().and_then(|()| change.remove(edge)))?;
        }
        for part in left_out(after, before) {
            self.take(self.newer, part, |edge| change.see().and_then(|()| change.add(edge)))?;
        }
        self.move_vertices(named, change)
    }

    /// Takes the edges of a version whose times lie in a range.
    fn take(
        &self,
        version: &View,
        range: TimeWindow,
        mut take: impl FnMut((VertexId, VertexId, u64)) -> esker_store::Result<()>,
    ) -> Result<()> {
        version.edges_within(&range, self.run, |source, target, columns, index| {
            let values = self.weight.and_then(|weight| columns.property(weight as usize));
            take((source, target, values.map_or(Ok(0), |values| values.bits_at(index))?))
        })?;
        Ok(())
    }

    /// Finds the vertices that are in one of the two windows only. `named` are those that one version added,
    /// removed or restored.
    fn move_vertices(&self, mut named: Vec<VertexId>, change: &mut VersionChange) -> Result<()> {
        let edges = change.removed.iter().chain(&change.added);
        named.extend(edges.flat_map(|&(source, target, _)| [source, target]));
        named.sort_unstable();
        named.dedup();
        let (before, after) = (self.older.removed(self.run)?, self.newer.removed(self.run)?);
        for v in named {
            let was_there = (v as usize) < self.older.version().num_vertices() && !before.is_removed(v);
            match (was_there, !after.is_removed(v)) {
                (true, false) => change.left.push(v),
                (false, true) => change.came.push(v),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The parts of a range of times that lie outside of another.
fn left_out(range: TimeWindow, other: TimeWindow) -> impl Iterator<Item = TimeWindow> {
    let first = TimeWindow { until: range.until.min(other.after), ..range };
    let last = TimeWindow { after: range.after.max(other.until), ..range };
    // Ranges that do not meet leave one part, the whole.
    let is_apart = other.until <= range.after || range.until <= other.after;
    let parts = if is_apart { [Some(range), None] } else { [Some(first), Some(last)] };
    parts.into_iter().flatten().filter(|part| part.after < part.until)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_looks_at_the_clock_also_where_it_finds_no_change() {
        let run = Run::with_threads(1).unwrap();
        let mut change = VersionChange::none(&run, Duration::ZERO).unwrap();
        (1..LOOK_EVERY).for_each(|_| change.see().unwrap());
        assert!(change.see().is_err() && change.is_given_up && change.num_edges() == 0);
        let mut change = VersionChange::none(&run, Duration::MAX).unwrap();
        (0..3 * LOOK_EVERY).for_each(|_| change.see().unwrap());
    }

    #[test]
    fn what_a_range_has_alone_is_in_its_parts_and_nothing_else_is() {
        let range = |after, until| TimeWindow { after, until, copies: Copies::All };
        let ends = || (0..7_i64).flat_map(|after| (after..7).map(move |until| range(after, until)));
        for (one, other) in ends().flat_map(|one| ends().map(move |other| (one, other))) {
            for time in -1..8 {
                let found = left_out(one, other).filter(|part| part.contains(time)).count();
                let expected = one.contains(time) && !other.contains(time);
                assert_eq!(found, usize::from(expected), "{time} of {one:?} without {other:?}");
            }
        }
    }
}
