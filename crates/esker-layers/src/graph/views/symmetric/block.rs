//! The lists of a block of vertices, collected from a scan that hands them over in pieces and in any order.

use parking_lot::{Mutex, MutexGuard};
use std::ops::Range;
use std::sync::OnceLock;

use esker_format::Result;
use esker_graph::{AnyVisitor, Bitmap, Patch, Piece, Run, Select, Sink, Tile, VertexId, ones, vertex};

use crate::graph::mapped::points::odd_list;
use crate::graph::side::GraphSide;
use crate::graph::weight::ColumnWeight;

/// Vertices of a block, at most.
pub(super) const BLOCK_LEN: usize = if cfg!(test) { 128 } else { 1 << 17 };
/// Bytes that a block takes for each of its vertices, in one direction.
pub(super) const VERTEX_BYTES: u64 = 2 * size_of::<usize>() as u64;
/// Vertices whose lists one lock guards: those of a word of a bitmap.
pub(super) const CELL_LEN: usize = 64;

/// Some vertices that follow each other.
pub(super) struct CollectedBlock<'b> {
    /// Chosen ones among them have lists in the block.
    pub(super) vertices: Range<usize>,
    pub(super) chosen: &'b Bitmap,
}

impl CollectedBlock<'_> {
    /// The first vertex of the first word.
    pub(super) fn base(&self) -> usize {
        self.vertices.start / CELL_LEN * CELL_LEN
    }

    fn has(&self, v: VertexId) -> bool {
        self.vertices.contains(&(v as usize)) && self.chosen.get(v)
    }

    /// The chosen vertices of a cell, a bit each.
    pub(super) fn chosen_in(&self, cell: usize) -> u64 {
        let (first, Range { start, end }) = (self.base() + cell * CELL_LEN, self.vertices.clone());
        let before = u64::MAX << start.saturating_sub(first);
        Bitmap::selected(Some(self.chosen), first, end) & before
    }
}

/// Room for the lists of both directions, which blocks use one after another.
pub(super) struct BlockRoom<W> {
    targets: Vec<VertexId>,
    weights: Vec<W>,
    /// Where the list of each vertex begins in each direction, from the first vertex of the first cell on,
    /// and the end of the last one.
    starts: [Vec<usize>; 2],
}

/// The lists of 64 vertices. That of the `i`th begins at `starts[i]` relative to the first one.
pub(super) struct LockedCell<'r, W> {
    targets: &'r mut [VertexId],
    weights: &'r mut [W],
    starts: &'r [usize],
    /// Arcs that each list has so far.
    filled: [usize; CELL_LEN],
}

/// The collected lists of a block.
pub(super) type LockedCells<'r, W> = Vec<Mutex<LockedCell<'r, W>>>;

impl<W: ColumnWeight> BlockRoom<W> {
    /// With room for `num_arcs` arcs. A longer list makes room for itself.
    pub(super) fn new(num_arcs: usize) -> Self {
        let starts = Default::default();
        Self { targets: Vec::with_capacity(num_arcs), weights: Vec::with_capacity(num_arcs), starts }
    }

    /// Reads the lists of the chosen vertices in both directions. `wanted` says which vertices will be wanted
    /// in the next scan, as [`AnyVisitor::wanted`] does.
    pub(super) fn collect(
        &mut self,
        sides: [&GraphSide<'_, W>; 2],
        block: &CollectedBlock<'_>,
        wanted: &(dyn Fn(usize, u64) -> u64 + Sync),
        run: &Run,
    ) -> Result<[LockedCells<'_, W>; 2]> {
        let Self { targets, weights, starts } = self;
        let mut counts = [0; 2];
        for ((starts, side), count) in starts.iter_mut().zip(sides).zip(&mut counts) {
            starts.clear();
            starts.extend((block.base()..block.vertices.end).map(vertex).map(|v| {
                let start = *count;
                *count += if block.has(v) { side.degree(v) } else { 0 };
                start
            }));
            starts.push(*count);
        }
        let (targets, their_targets) = resized(targets, counts[0] + counts[1]).split_at_mut(counts[0]);
        let (weights, their_weights) = resized(weights, counts[0] + counts[1]).split_at_mut(counts[0]);
        let [starts, their_starts] = &*starts;
        let out = cells(starts, targets, weights);
        let incoming = cells(their_starts, their_targets, their_weights);
        let too_long = OnceLock::new();
        for ((side, cells), count) in sides.into_iter().zip([&out, &incoming]).zip(counts) {
            if count > 0 {
                let collector = ListCollector { block, cells, wanted, too_long: &too_long };
                side.scan_any(run, Select::Bits(block.chosen), &collector)?;
            }
        }
        match too_long.get() {
            Some(&v) => Err(odd_list(v)),
            None => Ok([out, incoming]),
        }
    }
}

/// Lists that begin at `starts`, 64 by 64.
fn cells<'r, W>(
    starts: &'r [usize],
    mut targets: &'r mut [VertexId],
    mut weights: &'r mut [W],
) -> LockedCells<'r, W> {
    let num_lists = starts.len() - 1;
    let cell = |first: usize| {
        let starts = &starts[first..=num_lists.min(first + CELL_LEN)];
        let len = starts[starts.len() - 1] - starts[0];
        let these = targets.split_off_mut(..len).unwrap_or_default();
        let theirs = weights.split_off_mut(..len).unwrap_or_default();
        Mutex::new(LockedCell { targets: these, weights: theirs, starts, filled: [0; CELL_LEN] })
    };
    (0..num_lists).step_by(CELL_LEN).map(cell).collect()
}

/// The first `len` elements, in no more room than they need. Their values are those of an earlier block, or
/// the default.
fn resized<T: Default + Clone>(elements: &mut Vec<T>, len: usize) -> &mut [T] {
    if elements.capacity() < len {
        // Not both rooms at a time.
        *elements = Vec::new();
        elements.reserve_exact(len);
    }
    if elements.len() < len {
        elements.resize(len, T::default());
    }
    &mut elements[..len]
}

impl<W: ColumnWeight> LockedCell<'_, W> {
    fn range(&self, i: usize) -> Range<usize> {
        self.starts[i] - self.starts[0]..self.starts[i + 1] - self.starts[0]
    }

    /// Appends to the `i`th list; false if that makes it longer than its degree.
    fn append(&mut self, i: usize, targets: &[VertexId], weights: &[W]) -> bool {
        let start = self.range(i).start + self.filled[i];
        let end = start + targets.len();
        if end > self.range(i).end {
            return false;
        }
        self.targets[start..end].copy_from_slice(targets);
        self.weights[start..end].copy_from_slice(weights);
        self.filled[i] += targets.len();
        true
    }

    /// The `i`th list, which is that of `v`, sorted.
    pub(super) fn list(
        &mut self,
        i: usize,
        v: VertexId,
        order: &mut Vec<usize>,
    ) -> Result<(&[VertexId], &[W])> {
        let range = self.range(i);
        if self.filled[i] != range.len() {
            return Err(odd_list(v));
        }
        let (targets, weights) = (&mut self.targets[range.clone()], &mut self.weights[range]);
        if !targets.is_sorted() {
            sort(targets, weights, order);
        }
        Ok((targets, weights))
    }
}

/// Memory for each arc of a list with weights of a number of bytes while it is sorted.
pub(super) const fn sort_bytes(weight_bytes: u64) -> u64 {
    if weight_bytes == 0 { 0 } else { size_of::<usize>() as u64 }
}

/// Sorts a list by targets; equal ones keep their order. Memory: [`sort_bytes`] an arc, in `order`.
fn sort<W: ColumnWeight>(targets: &mut [VertexId], weights: &mut [W], order: &mut Vec<usize>) {
    if size_of::<W>() == 0 {
        targets.sort_unstable();
        return;
    }
    order.clear();
    order.reserve_exact(targets.len());
    order.extend(0..targets.len());
    order.sort_unstable_by_key(|&at| (targets[at], at));
    // Each place takes what belongs there, and the place that gave it is the next.
    for start in 0..order.len() {
        let mut place = start;
        while order[place] != start {
            let from = std::mem::replace(&mut order[place], place);
            targets.swap(place, from);
            weights.swap(place, from);
            place = from;
        }
        order[place] = place;
    }
}

/// The visitor of a scan that collects lists.
struct ListCollector<'c, 'r, W> {
    block: &'c CollectedBlock<'c>,
    cells: &'c [Mutex<LockedCell<'r, W>>],
    /// Which vertices outside the block will be wanted: a pool keeps their lists.
    wanted: &'c (dyn Fn(usize, u64) -> u64 + Sync),
    /// A vertex whose list is longer than its degree.
    too_long: &'c OnceLock<VertexId>,
}

impl<W: ColumnWeight> ListCollector<'_, '_, W> {
    /// Appends arcs, each to the list of a vertex.
    fn append<'p>(&self, arcs: impl Iterator<Item = (VertexId, &'p [VertexId], &'p [W])>)
    where
        W: 'p,
    {
        let mut held: Option<(usize, MutexGuard<'_, LockedCell<'_, W>>)> = None;
        for (v, targets, weights) in arcs.filter(|arc| self.block.has(arc.0)) {
            let place = v as usize - self.block.base();
            let (cell, i) = (place / CELL_LEN, place % CELL_LEN);
            if held.as_ref().is_none_or(|held| held.0 != cell) {
                // Never two at a time.
                drop(held.take());
                held = Some((cell, self.cells[cell].lock()));
            }
            let is_right = held.as_mut().is_some_and(|held| held.1.append(i, targets, weights));
            if !is_right {
                self.too_long.get_or_init(|| v);
            }
        }
    }
}

impl<W: ColumnWeight> AnyVisitor<W> for ListCollector<'_, '_, W> {
    fn stops(&self) -> bool {
        false
    }

    fn wants(&self, v: VertexId) -> bool {
        self.wanted(v as usize, 1) != 0
    }

    fn wanted(&self, first: usize, selected: u64) -> u64 {
        let Range { start, end } = self.block.vertices;
        if first >= end || first + 64 <= start {
            return (self.wanted)(first, selected);
        }
        ones(selected).fold(0, |wanted, i| {
            let v = vertex(first + i);
            let is_wanted = if self.block.vertices.contains(&(v as usize)) {
                self.block.chosen.get(v)
            } else {
                (self.wanted)(first + i, 1) != 0
            };
            wanted | u64::from(is_wanted) << i
        })
    }

    fn minds_any(&self, _vertices: Range<usize>) -> bool {
        true
    }

    fn left_out(&self, _tile: Tile) -> &[u32] {
        &[]
    }

    fn sink(&self) -> Box<dyn Sink<W> + '_> {
        Box::new(CollectingSink(self))
    }
}

struct CollectingSink<'s, 'c, 'r, W>(&'s ListCollector<'c, 'r, W>);

impl<W: ColumnWeight> Sink<W> for CollectingSink<'_, '_, '_, W> {
    fn visit(&mut self, batch: &[(VertexId, Piece<'_, W>)]) -> u64 {
        self.0.append(batch.iter().map(|(v, piece)| (*v, piece.targets, piece.weights)));
        0
    }

    fn visit_back(&mut self, u: VertexId, vertices: Piece<'_, W>) {
        let u = [u];
        let weights = vertices.weights.iter().map(std::slice::from_ref);
        self.0.append(vertices.targets.iter().zip(weights).map(|(&v, weight)| (v, &u[..], weight)));
    }

    fn visit_patch(&mut self, patch: &Patch<'_, W>) {
        (self as &mut dyn Sink<W>).visit_rows(patch);
    }
}
