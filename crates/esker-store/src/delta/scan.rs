//! Scans of a dynamic graph: a worker copies the live slots of a chunk to its buffer and hands them over as a
//! slice.
//!
//! Vertices come in order of id, so an algorithm reads its arrays over vertices sequentially. The chunks of
//! the next few vertices are prefetched. A list of at most [`FIRST_SLOTS`] slots comes in one piece.

use esker_graph::{
    Direction, Flow, Graph, Lists, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex,
};

use super::chunk::EdgeRecord;
use super::compact::{SLACK, compact};
use super::graph::{DynamicEdges, DynamicGraph};
use super::index::{IndexedLocation, VertexIndex, VertexIndexes};
use super::layout::Payload;
use super::robin::Slots;
use super::shard::Shard;
use super::sharded::{ShardedLists, with_shards};

/// Number of slots in the first piece: searches often need only a few neighbours.
const FIRST_SLOTS: usize = 1 << 8;
/// Number of slots in later pieces.
const PIECE_SLOTS: usize = 1 << 12;
/// Maximum number of vertices and arcs for a scan on the calling thread.
const SERIAL_ENTRIES_MAX: usize = 1 << 13;
/// How many lists ahead a chunk is prefetched, and how many lists ahead its index entry.
const AHEAD: usize = 8;
const FAR_AHEAD: usize = 32;
/// Number of units of shared work per worker, which evens out uneven units, and their maximum size.
const UNITS_PER_WORKER: usize = 64;
const UNIT_VERTICES_MAX: usize = 1024;

/// A worker's buffer for gathered targets and weights.
struct GatherBuffer<W> {
    targets: Vec<VertexId>,
    weights: Vec<W>,
}

impl<W: Weight> GatherBuffer<W> {
    fn new() -> Self {
        Self { targets: vec![0; SLACK], weights: vec![W::default(); SLACK] }
    }

    fn grow(&mut self, entries: usize) {
        if self.targets.len() < entries + SLACK {
            let room = (entries + SLACK).next_power_of_two();
            self.targets.resize(room, 0);
            self.weights.resize(room, W::default());
        }
    }

    /// Gathers the live slots of a range; returns their number.
    #[inline(always)]
    fn gather<E: EdgeRecord, P: Payload>(
        &mut self,
        slots: &Slots<'_, E, P>,
        range: std::ops::Range<usize>,
        weigh: impl WeightSource<P, W>,
    ) -> usize {
        self.grow(range.len());
        let control = &slots.control[range.clone()];
        weigh.gather(control, &slots.payloads[range.clone()], &mut self.weights);
        E::gather(control, &slots.records[range], &mut self.targets)
    }
}

/// Converts payloads to weights.
trait WeightSource<P, W>: Copy + Sync {
    /// The weight for a payload.
    fn weight(self, payload: &P) -> W;

    /// Copies the weights of live slots to the front of `to`.
    fn gather(self, control: &[u8], payloads: &[P], to: &mut [W]);
}

/// The payload is the weight.
#[derive(Clone, Copy)]
struct PayloadWeight;

impl<P: Payload> WeightSource<P, P> for PayloadWeight {
    #[inline(always)]
    fn weight(self, payload: &P) -> P {
        *payload
    }

    #[inline(always)]
    fn gather(self, control: &[u8], payloads: &[P], to: &mut [P]) {
        if size_of::<P>() > 0 {
            compact(control, payloads, to);
        }
    }
}

/// No weights.
#[derive(Clone, Copy)]
struct NoWeight;

impl<P> WeightSource<P, ()> for NoWeight {
    #[inline(always)]
    fn weight(self, _: &P) {}

    #[inline(always)]
    fn gather(self, _: &[u8], _: &[P], _: &mut [()]) {}
}

/// The state of a worker: that of the visitor, and room for a list.
struct ScanState<S, W> {
    visitor: S,
    buffer: GatherBuffer<W>,
}

/// A scan of the lists of one direction.
struct DynamicScan<'a, E, P, W, V, F> {
    shards: &'a [Shard<E, P>],
    index: &'a VertexIndex,
    run: &'a Run,
    visitor: &'a V,
    weigh: F,
    kind: std::marker::PhantomData<fn() -> W>,
}

impl<E: EdgeRecord, P: Payload, W: Weight, V: Visitor<W>, F: WeightSource<P, W>>
    DynamicScan<'_, E, P, W, V, F>
{
    fn all(&self, select: Select<'_>, num_vertices: usize, entries: usize) -> Result<Vec<V::State>, Stop> {
        let units = self.run.threads() * UNITS_PER_WORKER;
        let unit = (num_vertices / units).next_multiple_of(64).clamp(64, UNIT_VERTICES_MAX);
        let unit = if num_vertices + entries <= SERIAL_ENTRIES_MAX { num_vertices } else { unit };
        let new_state = || ScanState { visitor: self.visitor.new_state(), buffer: GatherBuffer::new() };
        let states = match select {
            Select::All => self.run.share_ranges(num_vertices, unit, new_state, |state, range| {
                self.visit_lists(state, range.map(vertex))
            }),
            Select::Bits(bits) => self.run.share_ranges(num_vertices, unit, new_state, |state, range| {
                self.visit_lists(state, bits.iter_range(range))
            }),
            Select::List(list) => {
                let few = self.run.threads() == 1 || self.is_small(list);
                let unit = if few { list.len() } else { (list.len() / units).clamp(1, UNIT_VERTICES_MAX) };
                self.run.share(list.len().div_ceil(unit.max(1)), new_state, |state, i| {
                    let part = &list[i * unit..((i + 1) * unit).min(list.len())];
                    let vertices = part.iter().enumerate().map(|(at, &v)| {
                        if let Some(&later) = part.get(at + FAR_AHEAD) {
                            self.index.prefetch(later);
                        }
                        v
                    });
                    self.visit_lists(state, vertices)
                })
            }
        };
        Ok(states?.into_iter().map(|state| state.visitor).collect())
    }

    fn is_small(&self, list: &[VertexId]) -> bool {
        let mut entries = list.len();
        entries <= SERIAL_ENTRIES_MAX
            && list.iter().all(|&v| {
                entries += self.index.degree(v);
                entries <= SERIAL_ENTRIES_MAX
            })
    }

    /// Visits the lists of some vertices, each a few vertices after prefetching it.
    #[inline(always)]
    fn visit_lists(
        &self,
        state: &mut ScanState<V::State, W>,
        vertices: impl Iterator<Item = VertexId>,
    ) -> Result<(), Stop> {
        let (mut asked, mut count) = ([(0, IndexedLocation::default()); AHEAD], 0_usize);
        for v in vertices {
            if self.index.degree(v) == 0 || !self.visitor.wants(v) {
                continue;
            }
            let location = self.index.location(v);
            self.prefetch(v, location);
            if count.is_multiple_of(64) {
                self.run.check()?;
            }
            let (before, location) = std::mem::replace(&mut asked[count % AHEAD], (v, location));
            if count >= AHEAD {
                self.visit_list(state, before, location)?;
            }
            count += 1;
        }
        for i in count.saturating_sub(AHEAD)..count {
            let (v, location) = asked[i % AHEAD];
            self.visit_list(state, v, location)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn prefetch(&self, v: VertexId, location: IndexedLocation) {
        let shard = &self.shards[usize::from(location.shard)];
        if location.low {
            shard.prefetch_low(v);
        } else {
            shard.prefetch_chunk(location.chunk, usize::from(location.class));
        }
    }

    #[inline(always)]
    fn visit_list(
        &self,
        state: &mut ScanState<V::State, W>,
        v: VertexId,
        location: IndexedLocation,
    ) -> Result<(), Stop> {
        if location.low {
            self.visit_low(state, v, location);
            return Ok(());
        }
        let slots =
            self.shards[usize::from(location.shard)].slots_at(location.chunk, usize::from(location.class));
        self.visit_chunk(state, v, &slots)
    }

    #[inline(always)]
    fn visit_chunk(
        &self,
        state: &mut ScanState<V::State, W>,
        v: VertexId,
        slots: &Slots<'_, E, P>,
    ) -> Result<(), Stop> {
        let buffer = &mut state.buffer;
        let capacity = slots.control.len();
        let (mut from, mut end) = (0, FIRST_SLOTS.min(capacity));
        while from < capacity {
            let count = buffer.gather(slots, from..end, self.weigh);
            let (targets, weights) = (&buffer.targets[..count], &buffer.weights[..count]);
            if count > 0
                && self.visitor.visit(&mut state.visitor, v, Piece { targets, weights, exclusive: true })
                    == Flow::Enough
            {
                break;
            }
            (from, end) = (end, (end + PIECE_SLOTS).min(capacity));
            if from < capacity {
                self.run.check()?;
            }
        }
        Ok(())
    }

    fn visit_low(&self, state: &mut ScanState<V::State, W>, v: VertexId, location: IndexedLocation) {
        let (buffer, mut count) = (&mut state.buffer, 0);
        buffer.grow(self.index.degree(v));
        self.shards[usize::from(location.shard)].each_low(v, |slots, at| {
            buffer.targets[count] = slots.records[at].target;
            buffer.weights[count] = self.weigh.weight(&slots.payloads[at]);
            count += 1;
        });
        let (targets, weights) = (&buffer.targets[..count], &buffer.weights[..count]);
        self.visitor.visit(&mut state.visitor, v, Piece { targets, weights, exclusive: true });
    }
}

impl<P: Payload> DynamicGraph<P> {
    /// Builds the index of all vertices, which speeds up scans and degrees: 12 bytes a vertex and direction.
    /// The first scan after a change does it too.
    ///
    /// # Errors
    /// Cancellation, or if there is no memory.
    pub fn prepare(&self, run: &Run) -> Result<(), Stop> {
        self.indexes(run).map(|_| ())
    }

    fn indexes(&self, run: &Run) -> Result<&VertexIndexes, Stop> {
        if let Some(indexes) = self.indexes.get() {
            return Ok(indexes);
        }
        let n = self.num_vertices();
        let incoming = self.incoming.as_ref().map(|side| VertexIndex::new(side, n, run)).transpose()?;
        let made = VertexIndexes { out: VertexIndex::new(&self.out, n, run)?, incoming };
        // Another scan may have been faster; use its index.
        Ok(self.indexes.get_or_init(|| made))
    }

    fn lists_of(&self, direction: Direction) -> Option<&ShardedLists<P>> {
        match (direction, self.options.edges) {
            (Direction::In, DynamicEdges::OutAndIn) => self.incoming.as_ref(),
            (Direction::In, DynamicEdges::Out) => None,
            _ => Some(&self.out),
        }
    }

    pub(super) fn require_lists(&self, direction: Direction) -> Result<&ShardedLists<P>, Stop> {
        self.lists_of(direction).ok_or_else(|| {
            Stop::unsuitable("the dynamic graph has no in-lists: create it with `Edges::OutAndIn`".to_owned())
        })
    }

    #[inline(always)]
    fn degree_of(&self, direction: Direction, v: VertexId) -> usize {
        match (self.indexes.get(), direction, self.options.edges) {
            (Some(VertexIndexes { incoming: Some(index), .. }), Direction::In, DynamicEdges::OutAndIn) => {
                index.degree(v)
            }
            (Some(VertexIndexes { out, .. }), Direction::Out, _)
            | (Some(VertexIndexes { out, .. }), _, DynamicEdges::Undirected) => out.degree(v),
            _ => self.lists_of(direction).expect("the graph has lists of this direction").degree(v),
        }
    }

    fn scan_lists<W: Weight, Vis: Visitor<W>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &Vis,
        weigh: impl WeightSource<P, W>,
    ) -> Result<Vec<Vis::State>, Stop> {
        let side = self.require_lists(direction)?;
        let indexes = self.indexes(run)?;
        let index = match (&indexes.incoming, direction) {
            (Some(incoming), Direction::In) => incoming,
            _ => &indexes.out,
        };
        let kind = std::marker::PhantomData;
        with_shards!(&side.shards, shards => {
            let scan = DynamicScan { shards, index, run, visitor, weigh, kind };
            scan.all(select, self.num_vertices(), side.edges() as usize)
        })
    }

    fn with_sorted<W: Weight, R>(
        &self,
        direction: Direction,
        v: VertexId,
        weigh: impl WeightSource<P, W>,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R, Stop> {
        let mut list = Vec::new();
        self.require_lists(direction)?
            .each_edge(v, |target, payload| list.push((target, weigh.weight(payload))));
        list.sort_unstable_by_key(|&(target, _)| target);
        let (targets, weights): (Vec<_>, Vec<_>) = list.into_iter().unzip();
        Ok(f(&targets, &weights))
    }
}

/// A dynamic graph without the payloads of its edges, for algorithms that need no weights.
#[derive(Debug)]
pub struct Unweighted<'a, P>(&'a DynamicGraph<P>);

impl<P: Payload> DynamicGraph<P> {
    /// The graph without its payloads.
    pub fn unweighted(&self) -> Unweighted<'_, P> {
        Unweighted(self)
    }
}

/// Implements [`Graph`] and [`Lists`] for a type, given an expression for the graph, the weight type and the
/// conversion from payloads.
macro_rules! waist {
    ([$($generics:tt)*], $graph:ty, $weight:ty, $self:ident => $inner:expr, $of:expr) => {
        impl<$($generics)*> Graph for $graph {
            type Weight = $weight;
            type Error = Stop;

            fn num_vertices(&$self) -> usize {
                DynamicGraph::num_vertices($inner)
            }

            fn num_arcs(&$self) -> u64 {
                $inner.num_entries()
            }

            fn is_directed(&$self) -> bool {
                $inner.options.edges != DynamicEdges::Undirected
            }

            fn has(&$self, direction: Direction) -> bool {
                $inner.lists_of(direction).is_some()
            }

            #[inline(always)]
            fn degree(&$self, direction: Direction, v: VertexId) -> usize {
                $inner.degree_of(direction, v)
            }

            fn scan<Vis: Visitor<$weight>>(
                &$self,
                run: &Run,
                direction: Direction,
                select: Select<'_>,
                visitor: &Vis,
            ) -> Result<Vec<Vis::State>, Stop> {
                $inner.scan_lists(run, direction, select, visitor, $of)
            }
        }

        /// Gathers and sorts the list at each call.
        impl<$($generics)*> Lists for $graph {
            fn with_list<R>(
                &$self,
                direction: Direction,
                v: VertexId,
                f: impl FnOnce(&[VertexId], &[$weight]) -> R,
            ) -> Result<R, Stop> {
                $inner.with_sorted(direction, v, $of, f)
            }
        }
    };
}

waist!([P: Payload + Weight], DynamicGraph<P>, P, self => self, PayloadWeight);
waist!([P: Payload], Unweighted<'_, P>, (), self => self.0, NoWeight);
