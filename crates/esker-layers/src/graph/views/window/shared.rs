//! Lists that several windows share: copied to memory once, and selected from for each window.
//!
//! Beside each arc stands the slot of its time, in two bytes: the number of ends of windows before the time.
//! The times of a window are a range of slots. So the times of the edges are read once, whatever the number
//! of windows.

use std::iter::Zip;
use std::ops::Range;
use std::slice::IterMut;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use esker_format::{Error, Result};
use esker_graph::{Direction, Flow, Piece, Reservation, Rows, Run, Select, VertexId, Visitor, vertex};

use super::arrays::{ListStep, TimedArrays, TimedBuffers};
use super::copies::{Copies, TimeWindow};
use super::count::{ArcCounts, GRAIN, TargetCounts, count_arrays};
use super::index::WindowIndex;
use super::times::{Time, TimeBounds, mark};
use crate::graph::gathered::{GatheredSide, Unit};
use crate::graph::side::GraphSide;
use crate::graph::weight::ColumnWeight;

/// The number of windows that can share lists.
pub const SHARED_WINDOWS_MAX: usize = 64;

/// Up to this number of ends, comparing a time with all takes less time than a search.
const FEW_ENDS: usize = 8;

/// The edges of several windows of one version, in memory.
///
/// Memory: 6 bytes an arc and 8 bytes a vertex, for each direction of lists that is kept; 10 bytes an arc
/// with ids of 64 bits.
pub struct SharedLists {
    num_vertices: usize,
    directed: bool,
    slots: TimeSlots,
    out: GatheredSide<u16>,
    incoming: Option<GatheredSide<u16>>,
    _memory: Reservation,
}

impl SharedLists {
    /// Reads the times of all edges of a graph of `num_vertices` vertices twice, and copies the edges of the
    /// windows.
    pub(crate) fn new<'a>(
        out_side: &GraphSide<'a, i64>,
        in_side: Option<&GraphSide<'a, i64>>,
        num_vertices: usize,
        directed: bool,
        windows: &[TimeWindow],
        run: &Run,
    ) -> Result<Self> {
        let slots = TimeSlots::new(windows)?;
        let in_side = in_side.filter(|side| side.has_lists());
        let count = |side: &GraphSide<'_, i64>| {
            let counted = match side.narrow() {
                Some(narrow) => count_wanted(narrow, &slots, num_vertices, run)?,
                None => count_wanted(side, &slots, num_vertices, run)?,
            };
            if let Some(counted) = counted {
                return Ok(counted.sums);
            }
            let counts: Vec<AtomicU64> = (0..=num_vertices).map(|_| AtomicU64::new(0)).collect();
            side.scan(run, Select::All, &CountingWanted { slots: &slots, counts: &counts[1..] })?;
            let counts = counts.into_iter().map(AtomicU64::into_inner).collect();
            Ok::<_, Error>(ArcCounts::from_counts(counts, 0).sums)
        };
        let fill = |side: &GraphSide<'_, i64>, sums: Vec<u64>| {
            match side.narrow() {
                Some(narrow) => {
                    if let Some(lists) = TimedArrays::from_side(narrow, true, run)? {
                        return copy_arrays(&lists, &slots, sums, run);
                    }
                }
                None => {
                    if let Some(lists) = TimedArrays::from_side(side, true, run)? {
                        return copy_arrays(&lists, &slots, sums, run);
                    }
                }
            }
            side.prepare(run)?;
            copy_lists(sums, run, |v, room| {
                side.with_list(v, |targets, times| {
                    let arcs = targets.iter().zip(times.iter().map(|&time| slots.of_time(time)));
                    arcs.filter(|arc| slots.wanted[usize::from(arc.1)])
                        .for_each(|(&target, slot)| room.push(target, slot));
                })
            })
        };
        let (out, incoming, memory) = copied(out_side, in_side, num_vertices, count, fill, run)?;
        Ok(Self { num_vertices, directed, slots, out, incoming, _memory: memory })
    }

    /// The edges of some of the windows.
    ///
    /// # Errors
    /// [`esker_graph::Stop::OverBudget`]; cancellation.
    pub fn narrowed(&self, windows: &[TimeWindow], run: &Run) -> Result<Self> {
        let slots = TimeSlots::new(windows)?;
        // Ends that no longer matter join two slots.
        let renamed: Vec<u16> = self.slots.names_in(&slots);
        let wanted: Vec<bool> = renamed.iter().map(|&slot| slots.wanted[usize::from(slot)]).collect();
        let count = |side: &GatheredSide<u16>| {
            let is_wanted = |slot: u16| wanted[usize::from(slot)];
            count(&side.rows(), is_wanted, false, None, run).map(|counted| counted.sums)
        };
        let fill = |side: &GatheredSide<u16>, sums| {
            let rows = side.rows();
            copy_lists(sums, run, |v, room| {
                let (targets, slots) = rows.list(v);
                let inside = targets.iter().zip(slots).filter(|arc| wanted[usize::from(*arc.1)]);
                inside.for_each(|(&target, &slot)| room.push(target, renamed[usize::from(slot)]));
                Ok(())
            })
        };
        let incoming = self.incoming.as_ref();
        let (out, incoming, memory) = copied(&self.out, incoming, self.num_vertices, count, fill, run)?;
        Ok(Self {
            num_vertices: self.num_vertices,
            directed: self.directed,
            slots,
            out,
            incoming,
            _memory: memory,
        })
    }

    /// The index of one of the windows; see [`StoredGraph::window`].
    ///
    /// # Errors
    /// [`esker_graph::Stop::OverBudget`]; cancellation; [`Error::Invalid`] for a window that is none of those
    /// that share the lists.
    ///
    /// [`StoredGraph::window`]: crate::StoredGraph::window
    pub fn window(&self, window: TimeWindow, absent: Option<&[VertexId]>, run: &Run) -> Result<WindowIndex> {
        let n = self.num_vertices;
        let bytes = WindowIndex::bytes(n as u64, self.directed);
        let _memory: Reservation = run.budget().reserve("the degrees in a window", bytes)?;
        let (range, joins) = (self.slots.of_window(&window)?, window.copies != Copies::All);
        let is_inside = |slot: u16| range.contains(&slot);
        // Where in-lists are not kept, the out-lists tell how many arcs lead to a vertex.
        let targets = (self.directed && self.incoming.is_none()).then(|| TargetCounts::new(n));
        let out = count(&self.out.rows(), is_inside, joins, targets.as_ref(), run)?;
        let incoming = self.incoming.as_ref();
        let incoming = incoming.map(|side| count(&side.rows(), is_inside, joins, None, run)).transpose()?;
        let incoming = incoming.or(targets.map(TargetCounts::finish));
        let keeps_incoming = self.incoming.is_some();
        WindowIndex::of_counted(out, incoming, keeps_incoming, self.directed, window, absent)
    }

    /// The lists of both directions, and the slot of each arc; no in-lists if the graph is undirected, or
    /// does not keep them.
    pub fn rows(&self) -> (Rows<'_, u16>, Option<Rows<'_, u16>>) {
        (self.out.rows(), self.incoming.as_ref().map(GatheredSide::rows))
    }

    /// For each slot, the windows that have its times: bit `i` stands for window `i` of those given.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a window that does not share the lists.
    pub fn members(&self, windows: &[TimeWindow]) -> Result<Vec<u64>> {
        let mut members = vec![0; self.slots.wanted.len()];
        for (i, window) in windows.iter().enumerate() {
            let range = self.slots.of_window(window)?;
            members[usize::from(range.start)..usize::from(range.end)]
                .iter_mut()
                .for_each(|bits| *bits |= 1 << i);
        }
        Ok(members)
    }

    /// Whether in-lists are kept.
    pub(crate) fn has_incoming(&self) -> bool {
        self.incoming.is_some()
    }

    /// Whether out-lists and in-lists differ.
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// Number of vertices, those without an edge included.
    pub(crate) fn num_vertices(&self) -> usize {
        self.num_vertices
    }

    /// Copies the lists of a window that was counted, without weights; `None` if lists of the direction are
    /// not kept. The caller has reserved the memory.
    pub(crate) fn gather<W: ColumnWeight>(
        &self,
        direction: Direction,
        index: &WindowIndex,
        run: &Run,
    ) -> Result<Option<GatheredSide<W>>> {
        let side = match (direction, &self.incoming) {
            (Direction::Out, _) => &self.out,
            (Direction::In, Some(incoming)) => incoming,
            (Direction::In, None) => return Ok(None),
        };
        let (rows, remaining) = (side.rows(), index.remaining());
        let (range, joins) = (self.slots.of_window(index.window())?, index.window().copies != Copies::All);
        let offsets = index.offsets(direction);
        let lists = GatheredSide::fill(
            offsets,
            run,
            || (),
            |(), unit: Unit<'_, W>| {
                let mut room = unit.targets.iter_mut();
                for place in unit.places {
                    let v = remaining.map_or(vertex(place), |remaining| remaining.origin(vertex(place)));
                    let (list, slots) = rows.list(v);
                    select(
                        list,
                        slots,
                        |slot| range.contains(&slot),
                        joins,
                        |target| {
                            if let Some(into) = room.next() {
                                *into = remaining.map_or(target, |remaining| remaining.rank(target));
                            }
                        },
                    );
                }
                Ok(())
            },
        );
        lists.map(Some)
    }
}

impl std::fmt::Debug for SharedLists {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedLists").field("slots", &self.slots).finish_non_exhaustive()
    }
}

/// The times between the ends of windows.
#[derive(Debug)]
struct TimeSlots {
    /// Ascending, each once.
    ends: Vec<i64>,
    /// Whether the times of each slot lie in a window.
    wanted: Vec<bool>,
}

impl TimeSlots {
    fn new(windows: &[TimeWindow]) -> Result<Self> {
        if windows.len() > SHARED_WINDOWS_MAX {
            let message = format!("{} windows share lists: at most {SHARED_WINDOWS_MAX} can", windows.len());
            return Err(Error::invalid(message));
        }
        let mut ends: Vec<i64> = windows.iter().flat_map(|window| [window.after, window.until]).collect();
        ends.sort_unstable();
        ends.dedup();
        let mut slots = Self { wanted: vec![false; ends.len() + 1], ends };
        for window in windows {
            let range = slots.of_window(window)?;
            slots.wanted[usize::from(range.start)..usize::from(range.end)].fill(true);
        }
        Ok(slots)
    }

    /// The slot of a time.
    #[inline(always)]
    fn of_time(&self, time: i64) -> u16 {
        if self.ends.len() <= FEW_ENDS {
            return self.ends.iter().map(|&end| u16::from(end < time)).sum();
        }
        self.ends.partition_point(|&end| end < time) as u16
    }

    /// The times that are wanted, if they are one range.
    fn all(&self) -> Option<TimeWindow> {
        let first = self.wanted.iter().position(|&wanted| wanted)?;
        let end = self.wanted.iter().rposition(|&wanted| wanted)? + 1;
        // The times before the first end and after the last are in no window.
        let is_whole = self.wanted[first..end].iter().all(|&wanted| wanted);
        let (after, until) = (*self.ends.get(first.checked_sub(1)?)?, *self.ends.get(end - 1)?);
        is_whole.then_some(TimeWindow { after, until, copies: Copies::All })
    }

    /// The slots of the times of a window.
    fn of_window(&self, window: &TimeWindow) -> Result<Range<u16>> {
        let place = |end: i64| {
            self.ends.binary_search(&end).map_err(|_| {
                Error::invalid(format!("no window that shares these lists begins or ends at {end}"))
            })
        };
        let (after, until) = (place(window.after)?, place(window.until)?);
        let range = after as u16 + 1..until as u16 + 1;
        Ok(if range.start < range.end { range } else { 0..0 })
    }

    /// The slot of each slot's times among others, whose ends are some of these.
    fn names_in(&self, others: &Self) -> Vec<u16> {
        let before = |i: usize| self.ends[i - 1];
        let name = |i: usize| if i == 0 { 0 } else { others.ends.partition_point(|&end| end <= before(i)) };
        (0..self.wanted.len()).map(|i| name(i) as u16).collect()
    }
}

/// Hands over the targets of a sorted list whose slot is wanted, each once if copies of an edge are joined.
#[inline(always)]
fn select(
    targets: &[VertexId],
    slots: &[u16],
    is_wanted: impl Fn(u16) -> bool,
    joins: bool,
    mut take: impl FnMut(VertexId),
) {
    let inside = targets.iter().zip(slots).filter(|arc| is_wanted(*arc.1)).map(|arc| *arc.0);
    let mut last = None;
    for target in inside {
        if !joins || last != Some(target) {
            take(target);
        }
        last = Some(target);
    }
}

/// Counts the arcs of each vertex whose slot is wanted, and marks their targets.
fn count(
    rows: &Rows<'_, u16>,
    is_wanted: impl Fn(u16) -> bool + Sync,
    joins: bool,
    targets: Option<&TargetCounts>,
    run: &Run,
) -> Result<ArcCounts> {
    let n = rows.num_vertices();
    let counts: Vec<AtomicU64> = (0..=n).map(|_| AtomicU64::new(0)).collect();
    let loops: Vec<u64> = run.share_ranges(
        n,
        GRAIN,
        || 0,
        |loops, range: Range<usize>| {
            for v in range.map(vertex) {
                let mut count = 0;
                let (list, slots) = rows.list(v);
                select(list, slots, &is_wanted, joins, |target| {
                    count += 1;
                    *loops += u64::from(target == v);
                    if let Some(counts) = targets {
                        counts.add(target);
                    }
                });
                counts[v as usize + 1].store(count, Relaxed);
            }
            Ok::<_, Error>(())
        },
    )?;
    let counts = counts.into_iter().map(AtomicU64::into_inner).collect();
    Ok(ArcCounts::from_counts(counts, loops.into_iter().sum()))
}

/// Counts the arcs of each vertex that lie in any window.
struct CountingWanted<'c> {
    slots: &'c TimeSlots,
    counts: &'c [AtomicU64],
}

impl Visitor<i64> for CountingWanted<'_> {
    type State = ();

    const STOPS: bool = false;
    const BOXED: bool = true;

    fn new_state(&self) {}

    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, i64>) -> Flow {
        let is_wanted = |time: &&i64| self.slots.wanted[usize::from(self.slots.of_time(**time))];
        let count = piece.weights.iter().filter(is_wanted).count();
        self.counts[v as usize].fetch_add(count as u64, Relaxed);
        Flow::More
    }
}

/// Counts the arcs of each list that are to be copied, reserves memory for them, and copies them: of both
/// directions, if there are two.
fn copied<S>(
    out: &S,
    incoming: Option<&S>,
    num_vertices: usize,
    count: impl Fn(&S) -> Result<Vec<u64>>,
    fill: impl Fn(&S, Vec<u64>) -> Result<GatheredSide<u16>>,
    run: &Run,
) -> Result<(GatheredSide<u16>, Option<GatheredSide<u16>>, Reservation)> {
    let reserve = |bytes| run.budget().reserve("the edges of several windows", bytes);
    let mut memory = reserve(offset_bytes(num_vertices, incoming.is_some()))?;
    let (out_sums, in_sums) = (count(out)?, incoming.map(&count).transpose()?);
    memory.absorb(reserve(arc_bytes(&out_sums, in_sums.as_ref()))?);
    let out = fill(out, out_sums)?;
    let incoming = incoming.zip(in_sums).map(|(side, sums)| fill(side, sums)).transpose()?;
    Ok((out, incoming, memory))
}

/// As [`count`], of lists that lie in arrays; `None` if they do not.
fn count_wanted<T: Time>(
    side: &GraphSide<'_, T>,
    slots: &TimeSlots,
    num_vertices: usize,
    run: &Run,
) -> Result<Option<ArcCounts>> {
    let is_wanted = |time: T| slots.wanted[usize::from(slots.of_time(time.wide()))];
    match slots.all() {
        // Where the windows overlap, as they mostly do, they are one.
        Some(window) => {
            let bounds = TimeBounds::new(&window);
            count_arrays(side, |times, words| bounds.mark(times, words), num_vertices, false, run)
        }
        None => count_arrays(side, |times, words| mark(times, is_wanted, words), num_vertices, false, run),
    }
}

/// As [`copy_lists`], from lists that lie in arrays.
fn copy_arrays<T: Time>(
    lists: &TimedArrays<'_, T>,
    slots: &TimeSlots,
    sums: Vec<u64>,
    run: &Run,
) -> Result<GatheredSide<u16>> {
    let new = || (TimedBuffers::new(), Vec::new());
    GatheredSide::fill(sums, run, new, |(buffers, list), unit: Unit<'_, u16>| {
        let mut room = ArcWriter(unit.targets.iter_mut().zip(unit.weights));
        list.clear();
        lists.for_each(unit.places, buffers, |step| match step {
            ListStep::Piece(_, targets, times) => {
                let arcs = targets.iter().zip(times.iter().map(|time| slots.of_time(time.wide())));
                list.extend(
                    arcs.filter(|arc| slots.wanted[usize::from(arc.1)]).map(|(&target, slot)| (target, slot)),
                );
            }
            ListStep::End { is_sorted } => {
                if !is_sorted {
                    // A stable sort merges runs.
                    list.sort_by_key(|arc| arc.0);
                }
                list.drain(..).for_each(|(target, slot)| room.push(target, slot));
            }
        })
    })
}

/// Where the arcs of successive lists go.
struct ArcWriter<'u>(Zip<IterMut<'u, VertexId>, IterMut<'u, u16>>);

impl ArcWriter<'_> {
    #[inline(always)]
    fn push(&mut self, target: VertexId, slot: u16) {
        if let Some((into, into_slot)) = self.0.next() {
            (*into, *into_slot) = (target, slot);
        }
    }
}

/// Copies lists: `list` hands over the arcs of a vertex that are to be copied, and their slots.
fn copy_lists(
    sums: Vec<u64>,
    run: &Run,
    list: impl Fn(VertexId, &mut ArcWriter<'_>) -> Result<()> + Sync,
) -> Result<GatheredSide<u16>> {
    GatheredSide::fill(
        sums,
        run,
        || (),
        |(), unit: Unit<'_, u16>| {
            let mut room = ArcWriter(unit.targets.iter_mut().zip(unit.weights));
            unit.places.map(vertex).try_for_each(|v| list(v, &mut room))
        },
    )
}

fn offset_bytes(num_vertices: usize, two: bool) -> u64 {
    (num_vertices as u64 + 1) * size_of::<u64>() as u64 * if two { 2 } else { 1 }
}

fn arc_bytes(out: &[u64], incoming: Option<&Vec<u64>>) -> u64 {
    let arcs = |sums: &[u64]| sums.last().copied().unwrap_or(0);
    (arcs(out) + incoming.map_or(0, |sums| arcs(sums)))
        * (size_of::<VertexId>() as u64 + size_of::<u16>() as u64)
}
