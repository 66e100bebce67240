//! Scans over several layers, or over a version in the middle of one.
//!
//! Lists come in pieces in any order, so a scan of all vertices does not follow chains: for each stretch of
//! vertices it sweeps the layers one after another, each sequentially. Only vertices with tombstones on their
//! chains, and those of a partial layer, are assembled along their chains; the table says which vertices, and
//! which fragments the sweeps leave out.

use std::borrow::Cow;
use std::sync::Arc;

use esker_format::Result;
use esker_graph::{Direction, Extents, Flow, Run, VertexId};

use crate::graph::mapped::points::only_tiles;
use crate::graph::versions::arcs::{ArcSlices, seek};
use crate::graph::weight::ColumnWeight;
use crate::layer::{AllLists, CodeSlice, CodedLists, ListExtents};
use crate::stack::{Area, ChainStretch, ListTable, Stack};

/// Data for reading a version in the middle of a layer: its rank, the births of arcs, and the past.
#[derive(Debug)]
pub(crate) struct BirthFilter<'a, W> {
    pub(crate) rank: u32,
    pub(crate) born: CodeSlice<'a>,
    pub(crate) past: ArcSlices<'a, W>,
    pub(crate) past_born: CodeSlice<'a>,
    pub(crate) past_died: CodeSlice<'a>,
}

/// One direction of a stack, verified.
#[derive(Debug)]
pub(crate) struct Layered<'a, W> {
    pub(crate) stack: &'a Stack,
    pub(crate) direction: Direction,
    pub(crate) table: Arc<ListTable>,
    /// The lists of the oldest layer; none if they are left out.
    pub(crate) base: OldestLists<'a>,
    /// The layers, oldest first. A layer that scans leave out has no vertices here. The oldest has no targets
    /// if its lists are coded or left out.
    pub(crate) layers: Vec<ArcSlices<'a, W>>,
    /// 1 if the lists of the oldest are left out, else 0.
    floor: usize,
    /// What the version sees of the newest layer, if that is only a part.
    pub(crate) filter: Option<BirthFilter<'a, W>>,
}

/// The lists of the oldest layer, which is mapped.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OldestLists<'a> {
    /// Plain arrays: the offset of each list, then the number of arcs; the targets of all lists.
    Arrays { offsets: &'a [u64], targets: &'a [VertexId] },
    /// Compressed blocks.
    Coded(CodedLists<'a>),
}

impl<'a> OldestLists<'a> {
    /// The range of arcs of each list.
    #[inline(always)]
    pub(crate) fn extents(&self) -> ListExtents<'a> {
        match *self {
            Self::Arrays { offsets, .. } => ListExtents::Offsets(offsets),
            Self::Coded(lists) => ListExtents::Index(lists.index()),
        }
    }
}

impl<'a, W: ColumnWeight> Layered<'a, W> {
    pub(crate) fn new(
        stack: &'a Stack,
        direction: Direction,
        table: Arc<ListTable>,
        property: u32,
        run: &Run,
    ) -> Result<Self> {
        Self::above(0, stack, direction, table, property, run)
    }

    /// The layers from `floor` on, 0 or 1: something else reads the oldest layer's lists. Its past arcs are
    /// among these.
    pub(crate) fn above(
        floor: usize,
        stack: &'a Stack,
        direction: Direction,
        table: Arc<ListTable>,
        property: u32,
        run: &Run,
    ) -> Result<Self> {
        let count = stack.layers().len();
        let mut layers = vec![ArcSlices::none(); floor];
        for layer in floor..count {
            layers.push(if floor > 0 {
                released_arcs_of(stack, layer, direction, property, run)?
            } else {
                arcs_of(stack, layer, direction, property, run)?
            });
        }
        let newest = stack.section(count - 1, direction)?;
        let filter = match (stack.rank(), newest.born()) {
            (Some(rank), Some(_)) if stack.is_left_out(count - 1) => {
                let none = CodeSlice::U8(&[]);
                Some(BirthFilter {
                    rank,
                    born: none,
                    past: ArcSlices::none(),
                    past_born: none,
                    past_died: none,
                })
            }
            (Some(rank), Some(born)) => {
                let (past, [past_born, past_died]) = match newest.past() {
                    Some(past) => (
                        ArcSlices::new(&past.lists, property, run)?,
                        [past.born.all(run)?, past.died.all(run)?],
                    ),
                    None => (ArcSlices::none(), [CodeSlice::U8(&[]); 2]),
                };
                let born = if count > floor { born.all(run)? } else { CodeSlice::U8(&[]) };
                Some(BirthFilter { rank, born, past, past_born, past_died })
            }
            _ => None,
        };
        let base = match floor {
            0 if !stack.is_left_out(0) => match stack.section(0, direction)?.main().all(run)? {
                AllLists::Arrays { offsets, targets } => OldestLists::Arrays { offsets, targets },
                AllLists::Coded(lists) => OldestLists::Coded(lists),
                AllLists::Tiled { .. } => return Err(only_tiles("they cannot be mapped")),
            },
            _ => OldestLists::Arrays { offsets: &[0], targets: &[] },
        };
        Ok(Self { stack, direction, table, base, layers, floor, filter })
    }

    /// Calls `take` with the pieces of the list of `v`. Returns the targets of the tombstones for the layers
    /// below the first that is read, ascending; `None` if the chain does not go on there, or `take` has
    /// enough.
    pub(crate) fn visit_chain(
        &self,
        v: VertexId,
        mut take: impl FnMut(ChainStretch<'a>, &'a [W]) -> Result<Flow>,
    ) -> Result<Option<Vec<VertexId>>> {
        let Some(head) = self.table.head(v) else { return Ok(None) };
        let place = self.stack.place(self.layers.len(), head, self.direction, v)?;
        self.stack.visit_above(self.floor, place, self.direction, v, &mut |stretch| {
            if self.stack.is_left_out(stretch.layer) {
                return Ok(Flow::More);
            }
            let range = stretch.start..stretch.start + stretch.targets.len();
            let weights = match (stretch.area, &self.filter) {
                (Area::Past, Some(filter)) => &filter.past.weights[range],
                _ => &self.layers[stretch.layer].weights[range],
            };
            take(stretch, weights)
        })
    }

    /// Calls `f` with the whole list of `v`, sorted.
    pub(crate) fn with_list<R>(&self, v: VertexId, f: impl FnOnce(&[VertexId], &[W]) -> R) -> Result<R> {
        let mut stretches: Vec<(Cow<'_, [VertexId]>, &[W])> = Vec::new();
        self.visit_chain(v, |stretch, weights| {
            stretches.push((stretch.targets, weights));
            Ok(Flow::More)
        })?;
        Ok(with_joined(stretches, f))
    }
}

/// The arcs of a layer; none if scans leave it out. Verifies its tombstones too.
fn arcs_of<'a, W: ColumnWeight>(
    stack: &'a Stack,
    layer: usize,
    direction: Direction,
    property: u32,
    run: &Run,
) -> Result<ArcSlices<'a, W>> {
    let section = stack.section(layer, direction)?;
    let arcs = match stack.is_left_out(layer) {
        true => ArcSlices::none(),
        false => ArcSlices::new(section.main(), property, run)?,
    };
    if let Some(dead) = section.dead() {
        dead.lists.all(run)?;
    }
    Ok(arcs)
}

/// As [`arcs_of`], for a later layer that is verified now and read later. Its memory is released in between,
/// so that never all layers are in memory at once.
pub(crate) fn released_arcs_of<'a, W: ColumnWeight>(
    stack: &'a Stack,
    layer: usize,
    direction: Direction,
    property: u32,
    run: &Run,
) -> Result<ArcSlices<'a, W>> {
    let arcs = arcs_of(stack, layer, direction, property, run)?;
    let section = stack.section(layer, direction)?;
    section.links(run)?;
    section.dead().map(|dead| dead.lists.vertices(run)).transpose()?;
    section.release();
    Ok(arcs)
}

/// A part of a list: targets and their weights.
type ListPart<'a, W> = (Cow<'a, [VertexId]>, &'a [W]);

/// Calls `f` with the arcs of some stretches of one list, sorted. Parallel arcs stay in the order of the
/// stretches.
pub(crate) fn with_joined<W: ColumnWeight, R>(
    mut stretches: Vec<ListPart<'_, W>>,
    f: impl FnOnce(&[VertexId], &[W]) -> R,
) -> R {
    if let [] | [_] = stretches[..] {
        let (targets, weights) = stretches.pop().unwrap_or_default();
        return f(&targets, weights);
    }
    let (targets, weights) = joined(stretches);
    f(&targets, &weights)
}

/// The arcs of some stretches, sorted. A function of its own, so that it is compiled once for each kind
/// of weight, not for each caller.
///
/// The last stretches are nearly all of most lists: those of the oldest layer, in ascending order. The others
/// are merged into them.
fn joined<W: ColumnWeight>(mut stretches: Vec<ListPart<'_, W>>) -> (Vec<VertexId>, Vec<W>) {
    stretches.retain(|(targets, _)| !targets.is_empty());
    let ascend = |pair: &[ListPart<'_, W>]| pair[0].0.last() <= pair[1].0.first();
    let last = stretches.windows(2).rev().take_while(|pair| ascend(pair)).count() + 1;
    let (newer, oldest) = stretches.split_at(stretches.len().saturating_sub(last));
    let arcs =
        newer.iter().flat_map(|(targets, weights)| targets.iter().copied().zip(weights.iter().copied()));
    let mut newer: Vec<(VertexId, W)> = arcs.collect();
    // Stable, and fast where runs are sorted already.
    newer.sort_by_key(|arc| arc.0);
    let len = newer.len() + oldest.iter().map(|stretch| stretch.1.len()).sum::<usize>();
    let (mut targets, mut weights) = (Vec::with_capacity(len), Vec::with_capacity(len));
    let mut newer = newer.into_iter().peekable();
    for (old_targets, old_weights) in oldest {
        let mut from = 0;
        let last = old_targets.last().copied();
        while let Some((target, weight)) = newer.next_if(|arc| Some(arc.0) <= last) {
            let to = seek(old_targets, from, target as usize);
            targets.extend_from_slice(&old_targets[from..to]);
            weights.extend_from_slice(&old_weights[from..to]);
            targets.push(target);
            weights.push(weight);
            from = to;
        }
        targets.extend_from_slice(&old_targets[from..]);
        weights.extend_from_slice(&old_weights[from..]);
    }
    for (target, weight) in newer {
        targets.push(target);
        weights.push(weight);
    }
    (targets, weights)
}

impl<W: ColumnWeight> Extents for Layered<'_, W> {
    fn num_vertices(&self) -> usize {
        self.stack.num_vertices()
    }

    /// Only the arcs of the oldest layer count.
    fn entries_before(&self, v: usize) -> usize {
        let extents = self.base.extents();
        v + extents.before(v.min(extents.len()))
    }

    fn degree(&self, v: VertexId) -> usize {
        self.table.degree(v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Stretches = [(&'static [VertexId], &'static [i32])];

    /// As they are joined, and as a stable sort of all arcs joins them.
    fn assert_joined(stretches: &Stretches) {
        let mut expected: Vec<(VertexId, i32)> = Vec::new();
        for (targets, weights) in stretches {
            expected.extend(targets.iter().copied().zip(weights.iter().copied()));
        }
        expected.sort_by_key(|arc| arc.0);
        let stretches =
            stretches.iter().map(|&(targets, weights)| (Cow::Borrowed(targets), weights)).collect();
        let found = with_joined(stretches, |targets, weights: &[i32]| {
            targets.iter().copied().zip(weights.iter().copied()).collect::<Vec<_>>()
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn stretches_of_a_list_are_joined_in_order_and_parallel_arcs_newest_first() {
        assert_joined(&[]);
        assert_joined(&[(&[], &[]), (&[], &[])]);
        assert_joined(&[(&[3, 5], &[1, 2])]);
        assert_joined(&[(&[9], &[1]), (&[1, 2, 3], &[2, 3, 4])]);
        assert_joined(&[(&[0], &[1]), (&[1, 2, 3], &[2, 3, 4])]);
        assert_joined(&[(&[2, 2], &[1, 2]), (&[], &[]), (&[1, 2, 2, 3], &[3, 4, 5, 6])]);
        // Two newer layers, and an oldest one with deleted arcs.
        let newer: &Stretches = &[(&[2, 7], &[1, 2]), (&[0, 4, 7], &[3, 4, 5])];
        let oldest: &Stretches = &[(&[1, 2], &[6, 7]), (&[4], &[8]), (&[4, 6, 7, 8], &[9, 10, 11, 12])];
        assert_joined(&[newer, oldest].concat());
        // Nothing newer; and an oldest stretch that does not end the list.
        assert_joined(oldest);
        assert_joined(&[oldest, newer].concat());
    }
}
