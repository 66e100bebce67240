//! The lists of a window, read layer by layer where all of them lie in arrays.
//!
//! A visitor of all arcs gets each piece through a pointer, a list that is read by itself follows its chain,
//! and both need the vertex table, which takes as long to make as some ten arcs of each vertex. Here the arcs
//! of a range of vertices are read from one layer after another, as they lie, and the directories of the
//! layers tell the rest.

use std::ops::Range;

use esker_format::{Error, Result};
use esker_graph::{Direction, Run, VertexId};

use super::times::{Time, WantedRanks};
use crate::graph::side::GraphSide;
use crate::graph::versions::arcs::ArcSlices;
use crate::graph::versions::chains::{ChainArcs, ChainBuffers, LaterLayers, LayerFragments, for_living};
use crate::layer::{Body, ListColumns, Section};
use crate::stack::Stack;

/// The lists of one direction, whose weights are times.
pub(super) struct TimedArrays<'a, T> {
    /// The lists of the oldest layer.
    base: ArcSlices<'a, T>,
    /// Finds the fragments in the other layers.
    later: Option<LaterLayers<'a, T>>,
    /// Whether targets are read; else only times.
    has_targets: bool,
}

/// Vertices whose lists one call counts.
pub(super) struct CountUnit<'u> {
    pub(super) vertices: Range<usize>,
    /// For each of them, the number of arcs that are wanted; 0 before.
    pub(super) counts: &'u mut [u64],
}

/// A part of a list, or its end.
pub(super) enum ListStep<'l, T> {
    /// Some targets of the list of this vertex, and the times of their arcs.
    Piece(usize, &'l [VertexId], &'l [T]),
    /// All pieces of the list were handed over; whether their targets ascend.
    End { is_sorted: bool },
}

/// The buffers that a thread keeps from one range of vertices to the next.
pub(super) struct TimedBuffers<T> {
    chains: ChainBuffers,
    arcs: ChainArcs<T>,
    ranks: WantedRanks,
    /// The arcs that were selected from the oldest layer, and from the others.
    base: SelectedLists,
    later: Vec<SelectedLists>,
    merged: Merged,
}

/// The arcs that were selected from successive lists of a layer.
#[derive(Default)]
struct SelectedLists {
    /// The number of the first.
    first: usize,
    targets: Vec<VertexId>,
    /// Where each begins, and the end of the last.
    starts: Vec<u64>,
}

impl SelectedLists {
    fn clear(&mut self) {
        self.targets.clear();
        self.starts.clear();
    }

    /// Selects the arcs that `mark` marks, of the lists with these offsets.
    fn select<T: Time>(
        &mut self,
        arcs: &ArcSlices<'_, T>,
        offsets: &[u64],
        ranks: &mut WantedRanks,
        mark: impl Fn(&[T], &mut [u64]),
    ) {
        self.clear();
        ranks.rank(arcs.weights, offsets, mark);
        let (start, end) = (offsets.first().copied().unwrap_or(0), offsets.last().copied().unwrap_or(0));
        ranks.select(&arcs.targets[start as usize..end as usize], &mut self.targets);
        self.starts.extend_from_slice(ranks.ranks());
    }

    /// A list by its place after the first; none beyond the last.
    #[inline(always)]
    fn list(&self, place: usize) -> &[VertexId] {
        match self.starts.get(place..place + 2) {
            Some(bounds) => &self.targets[bounds[0] as usize..bounds[1] as usize],
            None => &[],
        }
    }
}

/// Lists that are merged into one.
#[derive(Default)]
struct Merged {
    newer: Vec<VertexId>,
    all: Vec<VertexId>,
}

impl Merged {
    /// Calls `take` with the targets of some sorted lists together. The oldest is the longest of most.
    #[inline(always)]
    fn merge<'l>(
        &mut self,
        mut newer: impl Iterator<Item = &'l [VertexId]>,
        oldest: &'l [VertexId],
        take: &mut impl FnMut(&[VertexId]),
    ) {
        let Some(first) = newer.next() else { return take(oldest) };
        let mut joined = first;
        if let Some(second) = newer.next() {
            self.newer.clear();
            self.newer.extend_from_slice(first);
            self.newer.extend_from_slice(second);
            newer.for_each(|list| self.newer.extend_from_slice(list));
            // A stable sort merges runs.
            self.newer.sort();
            joined = &self.newer;
        }
        if oldest.is_empty() {
            return take(joined);
        }
        merge_two(joined, oldest, &mut self.all);
        take(&self.all);
    }
}

/// Merges two sorted lists.
fn merge_two(one: &[VertexId], other: &[VertexId], into: &mut Vec<VertexId>) {
    into.clear();
    into.resize(one.len() + other.len(), 0);
    let (mut i, mut j) = (0, 0);
    // Which is next is as good as random: without a branch that depends on it.
    while let (Some(&a), Some(&b)) = (one.get(i), other.get(j)) {
        let takes_one = a <= b;
        into[i + j] = if takes_one { a } else { b };
        i += usize::from(takes_one);
        j += usize::from(!takes_one);
    }
    let at = i + j;
    into[at..at + one.len() - i].copy_from_slice(&one[i..]);
    into[at + one.len() - i..].copy_from_slice(&other[j..]);
}

impl<T: Time> TimedBuffers<T> {
    pub(super) fn new() -> Self {
        let arcs = ChainArcs { targets: Vec::new(), weights: Vec::new() };
        Self {
            chains: ChainBuffers::default(),
            arcs,
            ranks: WantedRanks::default(),
            base: SelectedLists::default(),
            later: Vec::new(),
            merged: Merged::default(),
        }
    }
}

impl<'a, T: Time> TimedArrays<'a, T> {
    /// The lists with their targets if `has_targets`, or if tombstones delete arcs, which are found by their
    /// targets; else only the times. `None` if some of the lists do not lie in arrays, or the version sees a
    /// layer in part.
    pub(super) fn from_side(side: &GraphSide<'a, T>, has_targets: bool, run: &Run) -> Result<Option<Self>> {
        match side {
            GraphSide::Plain(side) => {
                let (lists, property) = side.columns();
                let base = arcs_of(lists, property, has_targets, run)?;
                Ok(base.map(|base| Self { base, later: None, has_targets }))
            }
            GraphSide::Layered(side) => {
                let (stack, direction, property) = side.layers();
                let buries = (1..stack.layers().len()).any(|layer| {
                    stack.section(layer, direction).is_ok_and(|section| section.dead().is_some())
                });
                Self::layered(stack, direction, property, has_targets || buries, run)
            }
            GraphSide::Compressed(_) | GraphSide::Gathered(_) | GraphSide::Source(..) => Ok(None),
        }
    }

    fn layered(
        stack: &'a Stack,
        direction: Direction,
        property: u32,
        has_targets: bool,
        run: &Run,
    ) -> Result<Option<Self>> {
        if stack.rank().is_some() {
            return Ok(None);
        }
        let of_section = |section: &'a Section| arcs_of(section.main(), property, has_targets, run);
        let base = match stack.is_left_out(0) {
            true => Some(ArcSlices::none()),
            false => of_section(stack.section(0, direction)?)?,
        };
        let Some(base) = base else { return Ok(None) };
        let arcs = |layer: usize, section| {
            of_section(section)?.ok_or_else(|| {
                let path = stack.layers()[layer].directory();
                Error::corrupt(path, 0, "the lists of a layer above the complete one are not plain arrays")
            })
        };
        let later = LaterLayers::over(stack, direction, None, arcs, run)?;
        Ok(later.map(|later| Self { base, later: Some(later), has_targets }))
    }

    /// The arcs of the oldest layer: its vertices are the first ones.
    fn base_range(&self, v: usize) -> Range<usize> {
        if v + 1 < self.base.offsets.len() { self.base.range(v) } else { 0..0 }
    }

    /// Counts some arcs of some vertices: `mark` marks those that are wanted, by their times. With targets,
    /// also those from a vertex to itself.
    pub(super) fn count(
        &self,
        mark: impl Fn(&[T], &mut [u64]),
        unit: CountUnit<'_>,
        buffers: &mut TimedBuffers<T>,
        loops: &mut u64,
    ) -> Result<()> {
        let CountUnit { vertices, counts } = unit;
        let first = vertices.start;
        let mut ranks = std::mem::take(&mut buffers.ranks);
        if self.has_targets {
            self.for_each(vertices, buffers, |step| {
                if let ListStep::Piece(v, targets, times) = step {
                    let mut count = |range: Range<usize>| {
                        let bounds = [range.start as u64, range.end as u64];
                        ranks.counts(times, &bounds, &mark).sum::<u64>()
                    };
                    counts[v - first] += count(0..times.len());
                    let at_itself = (0..targets.len()).filter(|&i| targets[i] as usize == v);
                    *loops += at_itself.map(|i| count(i..i + 1)).sum::<u64>();
                }
            })?;
        } else {
            let offsets = &self.base.offsets;
            let (from, to) = (first.min(offsets.len() - 1), vertices.end.min(offsets.len() - 1));
            let found = ranks.counts(self.base.weights, &offsets[from..=to], &mark);
            counts.iter_mut().zip(found).for_each(|(count, found)| *count = found);
            if let Some(later) = &self.later {
                later.for_each_layer(vertices, |LayerFragments { vertices, previous, arcs, .. }| {
                    let mut set = |at: usize, found: u64| {
                        let count = &mut counts[vertices[at] as usize - first];
                        // A fragment that continues none is the whole list.
                        *count = if previous[at] == 0 { found } else { *count + found };
                    };
                    match arcs {
                        Some(arcs) => {
                            let found = ranks.counts(arcs.weights, arcs.offsets, &mark);
                            (0..).zip(found).for_each(|(at, found)| set(at, found));
                        }
                        None => (0..vertices.len()).for_each(|at| set(at, 0)),
                    }
                });
            }
        }
        buffers.ranks = ranks;
        Ok(())
    }

    /// Selects the arcs of some vertices that `mark` marks by their times, and calls `take` with the targets
    /// of each list, sorted.
    pub(super) fn select(
        &self,
        mark: impl Fn(&[T], &mut [u64]),
        vertices: Range<usize>,
        buffers: &mut TimedBuffers<T>,
        mut take: impl FnMut(&[VertexId]),
    ) -> Result<()> {
        if self.later.as_ref().is_some_and(LaterLayers::bury) {
            return self.select_living(mark, vertices, buffers, take);
        }
        let TimedBuffers { chains, ranks, base, later: selected, merged, .. } = buffers;
        let (first, ends) = (vertices.start, self.base.offsets.len() - 1);
        let offsets = &self.base.offsets[first.min(ends)..=vertices.end.min(ends)];
        base.select(&self.base, offsets, ranks, &mark);
        let Some(later) = &self.later else {
            (0..vertices.len()).for_each(|i| take(base.list(i)));
            return Ok(());
        };
        selected.resize_with(later.len(), SelectedLists::default);
        later.for_each_layer(vertices.clone(), |layer| {
            let lists = &mut selected[layer.at];
            lists.clear();
            lists.first = layer.first_slot;
            if let Some(arcs) = layer.arcs {
                lists.select(&arcs, arcs.offsets, ranks, &mark);
            }
        });
        later.for_each_chain(vertices, chains, |v, fragments, is_replaced| {
            let oldest = if is_replaced { &[] } else { base.list(v - first) };
            let newer = fragments.iter().map(|&(at, slot)| {
                let lists = &selected[at as usize];
                lists.list(slot as usize - lists.first)
            });
            merged.merge(newer.filter(|list| !list.is_empty()), oldest, &mut take);
        });
        Ok(())
    }

    /// As [`TimedArrays::select`], where tombstones delete arcs.
    fn select_living(
        &self,
        mark: impl Fn(&[T], &mut [u64]),
        vertices: Range<usize>,
        buffers: &mut TimedBuffers<T>,
        mut take: impl FnMut(&[VertexId]),
    ) -> Result<()> {
        let (mut ranks, mut list) = (std::mem::take(&mut buffers.ranks), Vec::new());
        self.for_each(vertices, buffers, |step| match step {
            ListStep::Piece(_, targets, times) => {
                ranks.rank(times, &[0, times.len() as u64], &mark);
                ranks.select(targets, &mut list);
            }
            ListStep::End { is_sorted } => {
                if !is_sorted {
                    // A stable sort merges runs.
                    list.sort();
                }
                take(&list);
                list.clear();
            }
        })?;
        buffers.ranks = ranks;
        Ok(())
    }

    /// Hands over the lists of some vertices in their order, each in pieces, then its end.
    pub(super) fn for_each(
        &self,
        vertices: Range<usize>,
        buffers: &mut TimedBuffers<T>,
        mut take: impl FnMut(ListStep<'_, T>),
    ) -> Result<()> {
        let mut next = vertices.start;
        if let Some(later) = &self.later {
            let TimedBuffers { chains, arcs, .. } = buffers;
            later.for_each(vertices.clone(), chains, arcs, |v, arcs, left_out| {
                let v = v as usize;
                (next..v).for_each(|v| self.hand_over(v, &mut take));
                next = v + 1;
                if let Some(dead) = left_out {
                    let range = self.base_range(v);
                    let (targets, times) = (&self.base.targets[range.clone()], &self.base.weights[range]);
                    for_living(targets, dead, |living| {
                        take(ListStep::Piece(v, &targets[living.clone()], &times[living]));
                    });
                }
                take(ListStep::Piece(v, &arcs.targets, &arcs.weights));
                take(ListStep::End { is_sorted: false });
                arcs.clear();
                Ok(())
            })?;
        }
        (next..vertices.end).for_each(|v| self.hand_over(v, &mut take));
        Ok(())
    }

    /// Hands over a list that lies only in the oldest layer.
    #[inline(always)]
    fn hand_over(&self, v: usize, take: &mut impl FnMut(ListStep<'_, T>)) {
        let range = self.base_range(v);
        take(ListStep::Piece(v, &self.base.targets[range.clone()], &self.base.weights[range]));
        take(ListStep::End { is_sorted: true });
    }
}

/// Some lists as arrays; `None` if they do not lie so. Without `has_targets`, these are not read.
fn arcs_of<'a, T: Time>(
    lists: &'a ListColumns,
    property: u32,
    has_targets: bool,
    run: &Run,
) -> Result<Option<ArcSlices<'a, T>>> {
    let Body::Arrays(arrays) = lists.body() else { return Ok(None) };
    let (vertices, offsets) = (lists.vertices(run)?, arrays.offsets(run)?);
    let targets = if has_targets { arrays.targets(run)? } else { &[] };
    Ok(Some(ArcSlices { vertices, offsets, targets, weights: T::all(lists, property, run)? }))
}
