//! Counts the arcs of each vertex that lie in a window.

use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use esker_format::{Error, Result};
use esker_graph::{Flow, Piece, Run, Select, VertexId, Visitor, vertex};

use super::arrays::{CountUnit, TimedArrays, TimedBuffers};
use super::copies::{Copies, Selected, TimeWindow};
use super::filter::FilteredLists;
use super::times::{Time, TimeBounds};
use crate::graph::side::GraphSide;
use crate::graph::weight::ColumnWeight;

/// Vertices whose lists one unit of work counts.
pub(super) const GRAIN: usize = 1 << 12;

/// Arcs of one direction.
pub(super) struct ArcCounts {
    /// Before each vertex, and in all.
    pub(super) sums: Vec<u64>,
    /// From a vertex to itself.
    pub(super) loops: u64,
}

impl ArcCounts {
    /// Adds up the arcs of each vertex, which stand after a place that is left empty.
    pub(super) fn from_counts(mut counts: Vec<u64>, loops: u64) -> Self {
        let mut sum = 0;
        for count in &mut counts {
            sum += *count;
            *count = sum;
        }
        Self { sums: counts, loops }
    }
}

/// What to count besides the arcs of each vertex.
#[derive(Clone, Copy)]
pub(super) struct CountAlso<'c> {
    /// The number of arcs to each target.
    pub(super) targets: Option<&'c TargetCounts>,
    /// Whether to count those from a vertex to itself.
    pub(super) loops: bool,
}

/// The number of arcs to each vertex, counted in the out-lists where in-lists are not kept.
pub(super) struct TargetCounts(Vec<AtomicU64>);

impl TargetCounts {
    pub(super) fn new(num_vertices: usize) -> Self {
        Self((0..=num_vertices).map(|_| AtomicU64::new(0)).collect())
    }

    pub(super) fn add(&self, target: VertexId) {
        self.0[target as usize + 1].fetch_add(1, Relaxed);
    }

    pub(super) fn finish(self) -> ArcCounts {
        ArcCounts::from_counts(self.0.into_iter().map(AtomicU64::into_inner).collect(), 0)
    }
}

/// Counts the arcs of each vertex that lie in a window and that a filter keeps.
pub(super) fn count_filtered(
    lists: &FilteredLists<'_>,
    window: &TimeWindow,
    num_vertices: usize,
    also: CountAlso<'_>,
    run: &Run,
) -> Result<ArcCounts> {
    count_lists(num_vertices, window, also, run, |v, selected: &mut Selected<()>| {
        lists.select(window, v, selected)
    })
}

/// Counts the arcs that `select` selects of the list of each vertex.
pub(super) fn count_lists<W: ColumnWeight>(
    num_vertices: usize,
    window: &TimeWindow,
    also: CountAlso<'_>,
    run: &Run,
    select: impl Fn(VertexId, &mut Selected<W>) -> Result<()> + Sync,
) -> Result<ArcCounts> {
    let counts: Vec<AtomicU64> = (0..=num_vertices).map(|_| AtomicU64::new(0)).collect();
    let counting = Counting { window, counts: &counts[1..], targets: also.targets };
    let new = || (0, Selected::new());
    let states = run.share_ranges(num_vertices, GRAIN, new, |(loops, selected), range: Range<usize>| {
        for v in range.into_iter().map(vertex) {
            selected.clear();
            select(v, selected)?;
            counting.count(loops, v, &selected.targets, selected.targets.len());
        }
        Ok::<_, Error>(())
    })?;
    let loops = states.into_iter().map(|(loops, _)| loops).sum();
    Ok(ArcCounts::from_counts(counts.into_iter().map(AtomicU64::into_inner).collect(), loops))
}

/// Counts the arcs of each vertex that lie in a window.
pub(super) fn count(
    side: &GraphSide<'_, i64>,
    window: &TimeWindow,
    num_vertices: usize,
    also: CountAlso<'_>,
    run: &Run,
) -> Result<ArcCounts> {
    if window.copies == Copies::All && also.targets.is_none() {
        let found = match side.narrow() {
            Some(narrow) => count_inside(narrow, window, num_vertices, also.loops, run),
            None => count_inside(side, window, num_vertices, also.loops, run),
        };
        if let Some(counted) = found? {
            return Ok(counted);
        }
    }
    if window.copies != Copies::All {
        side.prepare(run)?;
        return count_lists(num_vertices, window, also, run, |v, selected: &mut Selected<()>| {
            side.with_list(v, |list, times| window.select(list, times, None, selected))?
        });
    }
    let counts: Vec<AtomicU64> = (0..=num_vertices).map(|_| AtomicU64::new(0)).collect();
    let counting = Counting { window, counts: &counts[1..], targets: also.targets };
    let loops: Vec<u64> = side.scan(run, Select::All, &counting)?;
    Ok(ArcCounts::from_counts(
        counts.into_iter().map(AtomicU64::into_inner).collect(),
        loops.into_iter().sum(),
    ))
}

/// Counts the arcs inside a window, if the lists lie in arrays.
fn count_inside<T: Time>(
    side: &GraphSide<'_, T>,
    window: &TimeWindow,
    num_vertices: usize,
    counts_loops: bool,
    run: &Run,
) -> Result<Option<ArcCounts>> {
    let bounds = TimeBounds::new(window);
    count_arrays(side, |times, words| bounds.mark(times, words), num_vertices, counts_loops, run)
}

/// Counts the arcs of lists that lie in arrays: those that `mark` marks by their times. Reads only the times.
/// `None` if the lists do not lie so.
pub(super) fn count_arrays<T: Time>(
    side: &GraphSide<'_, T>,
    mark: impl Fn(&[T], &mut [u64]) + Sync,
    num_vertices: usize,
    counts_loops: bool,
    run: &Run,
) -> Result<Option<ArcCounts>> {
    let Some(lists) = TimedArrays::from_side(side, counts_loops, run)? else { return Ok(None) };
    let mut counts = vec![0; num_vertices + 1];
    let units: Vec<_> = counts[1..].chunks_mut(GRAIN).map(|unit| Mutex::new(Some(unit))).collect();
    let loops = run.share(
        units.len(),
        || (0, TimedBuffers::new()),
        |(loops, buffers), i| {
            let unit = units[i].lock().take();
            let Some(counts) = unit else { return Ok(()) };
            let vertices = i * GRAIN..i * GRAIN + counts.len();
            let unit = CountUnit { vertices, counts };
            lists.count(&mark, unit, buffers, loops)
        },
    )?;
    drop(units);
    Ok(Some(ArcCounts::from_counts(counts, loops.into_iter().map(|(loops, _)| loops).sum())))
}

/// Counts arcs in a window.
struct Counting<'c> {
    window: &'c TimeWindow,
    counts: &'c [AtomicU64],
    targets: Option<&'c TargetCounts>,
}

impl Counting<'_> {
    /// Adds `count` arcs of `v`, whose targets are given.
    fn count(&self, loops: &mut u64, v: VertexId, targets: &[VertexId], count: usize) {
        self.counts[v as usize].fetch_add(count as u64, Relaxed);
        *loops += targets.iter().filter(|&&target| target == v).count() as u64;
        if let Some(counts) = self.targets {
            targets.iter().for_each(|&target| counts.add(target));
        }
    }
}

impl Visitor<i64> for Counting<'_> {
    /// Arcs from a vertex to itself.
    type State = u64;

    const STOPS: bool = false;

    fn new_state(&self) -> u64 {
        0
    }

    fn visit(&self, loops: &mut u64, v: VertexId, piece: Piece<'_, i64>) -> Flow {
        let count = self.window.count(piece.weights);
        if count == piece.targets.len() {
            self.count(loops, v, piece.targets, count);
        } else if count > 0 {
            let inside = piece.targets.iter().zip(piece.weights).filter(|arc| self.window.contains(*arc.1));
            let inside: Vec<_> = inside.map(|arc| *arc.0).collect();
            self.count(loops, v, &inside, count);
        }
        Flow::More
    }
}
