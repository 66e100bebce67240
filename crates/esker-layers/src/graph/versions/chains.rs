//! Reads the lists of later layers, vertex by vertex.
//!
//! A reader of all lists that changed need not follow each chain from fragment to fragment: the directory
//! of a layer has its vertices in ascending order, so the fragments of a range of vertices are a range of
//! each directory.

use std::borrow::Cow;
use std::ops::Range;

use esker_format::Result;
use esker_graph::{Direction, Run, VertexId, vertex};

use crate::graph::versions::arcs::{ArcSlices, seek};
use crate::graph::versions::layered::{Layered, OldestLists, released_arcs_of, with_joined};
use crate::graph::weight::ColumnWeight;
use crate::layer::Section;
use crate::stack::Stack;

/// Bytes of a fragment beside its arcs: vertex, offset, link.
const FRAGMENT_BYTES: usize = size_of::<VertexId>() + 2 * size_of::<u64>();

/// Arcs of a layer that the system is asked to fetch at once.
const FETCHED_ARCS: usize = 1 << 16;

/// A later layer as slices, all of which the version sees.
struct LaterLayer<'a, W> {
    section: &'a Section,
    /// The edge property that the system is asked for ahead, with the targets; `None`: it reads ahead by
    /// itself.
    ahead: Option<u32>,
    /// Whether none of its arcs is wanted; its fragments count nevertheless.
    is_left_out: bool,
    vertices: &'a [VertexId],
    arcs: ArcSlices<'a, W>,
    /// The next older fragment of each fragment; 0: the fragment is the whole list.
    previous: &'a [u64],
    /// The vertices with tombstones, and the targets of these.
    dead: ArcSlices<'a, ()>,
}

/// The fragments of a range of vertices in one layer.
pub(crate) struct LayerFragments<'a, W> {
    /// The place of the layer, from the newest.
    pub(crate) at: usize,
    /// The slot of the first fragment.
    pub(crate) first_slot: usize,
    pub(crate) vertices: &'a [VertexId],
    /// The next older fragment of each fragment; 0: the fragment is the whole list.
    pub(crate) previous: &'a [u64],
    /// All arcs, with the offsets of these fragments; `None` if none is wanted.
    pub(crate) arcs: Option<ArcSlices<'a, W>>,
}

/// The later layers of a version, newest first.
pub(crate) struct LaterLayers<'a, W>(Vec<LaterLayer<'a, W>>);

/// Lists, concatenated.
#[derive(Debug, Default)]
pub(crate) struct ChainArcs<W> {
    pub(crate) targets: Vec<VertexId>,
    pub(crate) weights: Vec<W>,
}

impl<W: ColumnWeight> ChainArcs<W> {
    pub(crate) fn clear(&mut self) {
        self.truncate(0);
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.targets.truncate(len);
        self.weights.truncate(len);
    }

    /// Sorts the arcs from `start` on by target. Parallel arcs keep their order.
    pub(crate) fn sort_from(&mut self, start: usize) {
        if self.targets[start..].is_sorted() {
            return;
        }
        if size_of::<W>() == 0 {
            // Fast where runs are sorted already.
            return self.targets[start..].sort();
        }
        let arcs = self.targets.drain(start..).zip(self.weights.drain(start..));
        let mut sorted: Vec<(VertexId, W)> = arcs.collect();
        sorted.sort_by_key(|arc| arc.0);
        self.targets.extend(sorted.iter().map(|arc| arc.0));
        self.weights.extend(sorted.iter().map(|arc| arc.1));
    }
}

/// The buffers that a thread keeps from one range of vertices to the next.
#[derive(Default)]
pub(crate) struct ChainBuffers {
    /// Mapped bytes that were read.
    pub(crate) read_bytes: usize,
    /// Where the fragments of each vertex begin.
    starts: Vec<u32>,
    /// Layer and slot, vertex by vertex, newest first.
    fragments: Vec<(u32, u32)>,
    /// Where the tombstones of the vertices of each layer were found last.
    dead_at: Vec<usize>,
    /// Targets of the tombstones of newer layers, ascending.
    dead: Vec<VertexId>,
    /// The arcs of each layer that were asked for last.
    fetched: Vec<Range<usize>>,
}

impl<'a, W: ColumnWeight> LaterLayers<'a, W> {
    /// `None` if the version sees a layer in part, or leaves one out. If the system does not read ahead,
    /// because pages are read at random, `ahead` is the edge property that is read.
    pub(crate) fn new(layered: &Layered<'a, W>, ahead: Option<u32>, run: &Run) -> Result<Option<Self>> {
        let leaves_out = (0..layered.stack.layers().len()).any(|layer| layered.stack.is_left_out(layer));
        if leaves_out || layered.filter.is_some() {
            return Ok(None);
        }
        Self::over(layered.stack, layered.direction, ahead, |layer, _| Ok(layered.layers[layer]), run)
    }

    /// The later layers of a version whose degrees [suffice](Stack::suffices_degrees). Each is verified, and
    /// its memory is given back to the system, before the next is read.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub(crate) fn without_table(
        stack: &'a Stack,
        direction: Direction,
        property: u32,
        run: &Run,
    ) -> Result<Self> {
        let arcs = |layer, _: &Section| released_arcs_of(stack, layer, direction, property, run);
        let layers = Self::over(stack, direction, Some(property), arcs, run)?;
        layers.ok_or_else(|| {
            let has_directory = |&layer: &usize| {
                let section = stack.section(layer, direction);
                section.is_ok_and(|section| section.main().vertices_column().is_some())
            };
            stack.no_directory((1..stack.layers().len()).find(|layer| !has_directory(layer)).unwrap_or(1))
        })
    }

    /// The later layers of a version that sees its layers wholly. Scans may leave out some of these: their
    /// arcs are not handed over. `arcs` gives the arcs of the other layers.
    pub(crate) fn over(
        stack: &'a Stack,
        direction: Direction,
        ahead: Option<u32>,
        arcs: impl Fn(usize, &'a Section) -> Result<ArcSlices<'a, W>>,
        run: &Run,
    ) -> Result<Option<Self>> {
        let count = stack.layers().len();
        let mut layers = Vec::with_capacity(count - 1);
        for layer in (1..count).rev() {
            let (section, is_left_out) = (stack.section(layer, direction)?, stack.is_left_out(layer));
            let arcs = if is_left_out { ArcSlices::none() } else { arcs(layer, section)? };
            // The directory of a layer that is left out is read nevertheless: its fragments may replace older
            // ones.
            let vertices = if is_left_out { section.main().vertices(run)? } else { arcs.vertices };
            let (Some(vertices), Some((_, previous))) = (vertices, section.links(run)?) else {
                return Ok(None);
            };
            let dead = section.dead().map(|dead| ArcSlices::new(&dead.lists, 0, run)).transpose()?;
            let dead = dead.unwrap_or_else(ArcSlices::none);
            if u32::try_from(vertices.len()).is_err() {
                return Ok(None);
            }
            layers.push(LaterLayer { section, ahead, is_left_out, vertices, arcs, previous, dead });
        }
        Ok(Some(Self(layers)))
    }

    /// Appends the list of each vertex of a range that has fragments to `into`, without what tombstones
    /// delete. Then calls `take` with the vertex, all lists so far, and what the tombstones delete of the
    /// complete layer's list; `None` if all of it is replaced.
    pub(crate) fn for_each(
        &self,
        range: Range<usize>,
        buffers: &mut ChainBuffers,
        into: &mut ChainArcs<W>,
        mut take: impl FnMut(VertexId, &mut ChainArcs<W>, Option<&[VertexId]>) -> Result<()>,
    ) -> Result<()> {
        self.place(range.clone(), buffers);
        let ChainBuffers { read_bytes, starts, fragments, dead_at, dead, fetched } = buffers;
        for (v, bounds) in range.map(vertex).zip(starts.windows(2)) {
            let fragments = &fragments[bounds[0] as usize..bounds[1] as usize];
            if fragments.is_empty() {
                continue;
            }
            dead.clear();
            let mut is_replaced = false;
            for &(at, slot) in fragments {
                let (at, slot) = (at as usize, slot as usize);
                let layer = &self.0[at];
                let arcs = if layer.is_left_out { 0..0 } else { layer.arcs.range(slot) };
                *read_bytes += FRAGMENT_BYTES + arcs.len() * (size_of::<VertexId>() + size_of::<W>());
                layer.fetch(&arcs, &mut fetched[at]);
                copy_living(&layer.arcs, arcs, dead, into);
                if layer.previous[slot] == 0 {
                    is_replaced = true;
                    break;
                }
                let deleted = layer.dead.vertices.unwrap_or(&[]);
                dead_at[at] = seek(deleted, dead_at[at], v as usize);
                if deleted.get(dead_at[at]) == Some(&v) {
                    let is_first = dead.is_empty();
                    *read_bytes += layer.dead.range(dead_at[at]).len() * size_of::<VertexId>();
                    dead.extend_from_slice(&layer.dead.targets[layer.dead.range(dead_at[at])]);
                    if !is_first {
                        // Two sorted runs: a stable sort merges them.
                        dead.sort();
                    }
                }
            }
            take(v, into, (!is_replaced).then_some(&**dead))?;
        }
        Ok(())
    }

    /// The fragments of a range of vertices, layer by layer, oldest first. Tombstones are passed over.
    pub(crate) fn for_each_layer(&self, range: Range<usize>, mut take: impl FnMut(LayerFragments<'a, W>)) {
        for (at, layer) in self.0.iter().enumerate().rev() {
            let slots = layer.slots(&range);
            let arcs = (!layer.is_left_out)
                .then(|| ArcSlices { offsets: &layer.arcs.offsets[slots.start..=slots.end], ..layer.arcs });
            let (vertices, previous) = (&layer.vertices[slots.clone()], &layer.previous[slots.clone()]);
            take(LayerFragments { at, first_slot: slots.start, vertices, previous, arcs });
        }
    }

    /// Calls `take` with each vertex of a range and its fragments: layer and slot, newest first, without
    /// those that a newer one replaces; and whether the complete layer's list is replaced too. Tombstones are
    /// passed over.
    pub(crate) fn for_each_chain(
        &self,
        range: Range<usize>,
        buffers: &mut ChainBuffers,
        mut take: impl FnMut(usize, &[(u32, u32)], bool),
    ) {
        self.place(range.clone(), buffers);
        let ChainBuffers { starts, fragments, .. } = buffers;
        for (v, bounds) in range.zip(starts.windows(2)) {
            let all = &fragments[bounds[0] as usize..bounds[1] as usize];
            let replaces = |&(at, slot): &(u32, u32)| self.0[at as usize].previous[slot as usize] == 0;
            match all.iter().position(replaces) {
                Some(last) => take(v, &all[..=last], true),
                None => take(v, all, false),
            }
        }
    }

    /// Arcs of the fragments of a range of vertices, which are more than those of the lists where a fragment
    /// replaces others.
    pub(crate) fn num_arcs(&self, range: &Range<usize>) -> usize {
        let of_layer = |layer: &LaterLayer<'a, W>| {
            let slots = layer.slots(range);
            (layer.arcs.offsets[slots.end] - layer.arcs.offsets[slots.start]) as usize
        };
        self.0.iter().filter(|layer| !layer.is_left_out).map(of_layer).sum()
    }

    /// Number of layers.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether tombstones delete arcs.
    pub(crate) fn bury(&self) -> bool {
        self.0.iter().any(|layer| layer.section.dead().is_some())
    }

    /// Calls `take` with each vertex of a range and its list, sorted, parallel arcs newest first. Returns
    /// `false`, and does nothing, if the complete layer is coded.
    pub(crate) fn for_each_list(
        &self,
        layered: &Layered<'a, W>,
        range: Range<usize>,
        mut take: impl FnMut(VertexId, &[VertexId], &[W]) -> Result<()>,
    ) -> Result<bool> {
        let OldestLists::Arrays { offsets, targets: base_targets } = layered.base else { return Ok(false) };
        let (mut arcs, mut lists, mut dead) = (ChainArcs::default(), Vec::new(), Vec::new());
        let buffers = &mut ChainBuffers::default();
        self.for_each(range.clone(), buffers, &mut arcs, |v, arcs, left_out| {
            dead.extend_from_slice(left_out.unwrap_or(&[]));
            lists.push((v, arcs.targets.len(), dead.len(), left_out.is_some()));
            Ok(())
        })?;
        let ChainArcs { targets, weights } = arcs;
        let base = |v: VertexId| match offsets.get(v as usize..v as usize + 2) {
            Some(bounds) => bounds[0] as usize..bounds[1] as usize,
            None => 0..0,
        };
        let base_weights = layered.layers[0].weights;
        let (mut changed, mut start, mut first_dead) = (lists.into_iter().peekable(), 0, 0);
        let (mut sorted, mut sorted_weights) = (Vec::new(), Vec::new());
        for v in range.map(vertex) {
            let Some((_, end, end_dead, goes_on)) = changed.next_if(|list| list.0 == v) else {
                take(v, &base_targets[base(v)], &base_weights[base(v)])?;
                continue;
            };
            let (mut list, mut list_weights) = (&targets[start..end], &weights[start..end]);
            if !list.is_sorted() {
                // Stable, and fast where runs are sorted already.
                let mut newer: Vec<(VertexId, W)> =
                    list.iter().copied().zip(list_weights.iter().copied()).collect();
                newer.sort_by_key(|arc| arc.0);
                sorted.clear();
                sorted_weights.clear();
                newer.iter().for_each(|&(target, weight)| {
                    sorted.push(target);
                    sorted_weights.push(weight);
                });
                (list, list_weights) = (&sorted, &sorted_weights);
            }
            let mut stretches = vec![(Cow::Borrowed(list), list_weights)];
            if goes_on {
                let range = base(v);
                let (list, weights) = (&base_targets[range.clone()], &base_weights[range]);
                for_living(list, &dead[first_dead..end_dead], |living| {
                    stretches.push((Cow::Borrowed(&list[living.clone()]), &weights[living]));
                });
            }
            with_joined(stretches, |targets, weights| take(v, targets, weights))?;
            (start, first_dead) = (end, end_dead);
        }
        Ok(true)
    }

    /// Finds the fragments of each vertex of a range.
    fn place(&self, range: Range<usize>, buffers: &mut ChainBuffers) {
        let ChainBuffers { starts, fragments, dead_at, fetched, .. } = buffers;
        let slots: Vec<Range<usize>> = self.0.iter().map(|layer| layer.slots(&range)).collect();
        self.0.iter().zip(&slots).for_each(|(layer, slots)| layer.fetch_slots(&range, slots));
        dead_at.clear();
        dead_at.resize(self.0.len(), 0);
        fetched.clear();
        fetched.resize(self.0.len(), 0..0);
        starts.clear();
        starts.resize(range.len() + 1, 0);
        let of_layer = |layer: &LaterLayer<'a, W>, slots: &Range<usize>| {
            let vertices: &'a [VertexId] = &layer.vertices[slots.clone()];
            vertices.iter().map(|&v| v as usize - range.start)
        };
        for (layer, slots) in self.0.iter().zip(&slots) {
            of_layer(layer, slots).for_each(|v| starts[v + 1] += 1);
        }
        let mut count = 0;
        for start in starts.iter_mut() {
            count += *start;
            *start = count;
        }
        fragments.clear();
        fragments.resize(count as usize, (0, 0));
        // Each start moves to the end of its vertex, where the next vertex begins.
        for (at, (layer, slots)) in self.0.iter().zip(&slots).enumerate() {
            for (v, slot) in of_layer(layer, slots).zip(slots.start as u32..) {
                fragments[starts[v] as usize] = (at as u32, slot);
                starts[v] += 1;
            }
        }
        starts.rotate_right(1);
        starts[0] = 0;
    }
}

impl<W: ColumnWeight> LaterLayer<'_, W> {
    /// The slots of a range of vertices.
    fn slots(&self, range: &Range<usize>) -> Range<usize> {
        let place = |v: usize| self.vertices.partition_point(|&other| (other as usize) < v);
        place(range.start)..place(range.end)
    }

    /// Has the system fetch what says where the fragments and the tombstones of a range of vertices are, and
    /// these tombstones.
    fn fetch_slots(&self, range: &Range<usize>, slots: &Range<usize>) {
        if slots.is_empty() || self.ahead.is_none() {
            return;
        }
        self.section.main().will_need_slots(slots.clone());
        self.section.will_need_links(slots.clone());
        let (Some(dead), Some(deleted)) = (self.section.dead(), self.dead.vertices) else { return };
        let place = |v: usize| deleted.partition_point(|&other| (other as usize) < v);
        let slots = place(range.start)..place(range.end);
        if !slots.is_empty() {
            dead.lists.will_need_slots(slots.clone());
            dead.lists
                .will_need_targets(self.dead.range(slots.start).start..self.dead.range(slots.end - 1).end);
        }
    }

    /// Has the system fetch arcs, and some that follow, unless it was asked for them last.
    #[inline]
    fn fetch(&self, arcs: &Range<usize>, fetched: &mut Range<usize>) {
        let Some(property) = self.ahead else { return };
        if fetched.start <= arcs.start && arcs.end <= fetched.end {
            return;
        }
        *fetched = arcs.start..arcs.end.max(arcs.start + FETCHED_ARCS);
        self.section.main().will_need_targets(fetched.clone());
        W::will_need(self.section.main(), property, fetched.clone());
    }
}

/// Appends the arcs of a fragment whose targets are not dead.
fn copy_living<W: ColumnWeight>(
    arcs: &ArcSlices<'_, W>,
    range: Range<usize>,
    dead: &[VertexId],
    into: &mut ChainArcs<W>,
) {
    let (all_targets, all_weights) = (&arcs.targets[range.clone()], &arcs.weights[range]);
    for_living(all_targets, dead, |living| {
        into.targets.extend_from_slice(&all_targets[living.clone()]);
        into.weights.extend_from_slice(&all_weights[living]);
    });
}

/// Calls `take` with the ranges of a sorted list between the targets that are dead, which ascend.
pub(crate) fn for_living(list: &[VertexId], dead: &[VertexId], mut take: impl FnMut(Range<usize>)) {
    let mut start = 0;
    for &target in dead {
        let end = start + list[start..].partition_point(|&other| other < target);
        take(start..end);
        start = end + list[end..].partition_point(|&other| other == target);
    }
    take(start..list.len());
}
