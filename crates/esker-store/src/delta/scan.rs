//! The waist over a dynamic graph: live slots of a chunk are gathered into a buffer of the worker and handed over as a slice.
//!
//! Vertices come in the order of their ids, so what an algorithm keeps per vertex is read in order; the chunks of the next sixteen
//! are read ahead. A list of at most [`PIECE_SLOTS`] slots comes in one piece.

use esker_graph::{
    Direction, Flow, Graph, Lists, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex,
};

use super::chunk::Edge;
use super::graph::{DynamicGraph, Edges};
use super::index::{Index, Indexed, Indexes};
use super::layout::Payload;
use super::robin::{Slots, is_live};
use super::shard::Shard;
use super::side::{Side, with_shards};

/// Slots that are gathered at a time.
const PIECE_SLOTS: usize = 1 << 16;
/// Vertices and entries below which a scan stays on the calling thread.
const SERIAL_ENTRIES_MAX: usize = 1 << 13;
/// Vertices whose chunks are read side by side.
const BATCH: usize = 16;
/// Units of shared work per worker, so that uneven units even out, and their size.
const UNITS_PER_WORKER: usize = 64;
const UNIT_VERTICES_MAX: usize = 1024;

/// A worker's own lists: what it gathered.
struct Buffer<W> {
    targets: Vec<VertexId>,
    weights: Vec<W>,
}

impl<W: Weight> Buffer<W> {
    fn new() -> Self {
        Self { targets: vec![0; BATCH], weights: vec![W::default(); BATCH] }
    }

    fn make_room(&mut self, entries: usize) {
        if self.targets.len() < entries {
            let entries = entries.next_power_of_two();
            self.targets.resize(entries, 0);
            self.weights.resize(entries, W::default());
        }
    }

    /// Gathers the live slots of a range; how many there are.
    #[inline(always)]
    fn gather<E: Edge, P: Payload>(
        &mut self,
        slots: &Slots<'_, E, P>,
        range: std::ops::Range<usize>,
        weight: impl Fn(&P) -> W,
    ) -> usize {
        self.make_room(range.len());
        let targets = &mut self.targets[..range.len()];
        let weights = &mut self.weights[..range.len()];
        let control = &slots.control[range.clone()];
        let records = &slots.records[range.clone()];
        let payloads = &slots.payloads[range];
        let mut count = 0;
        // Every slot is written, and kept by counting it only if it is live: no branch that would be guessed wrong.
        for ((&control, &record), payload) in control.iter().zip(records).zip(payloads) {
            targets[count] = record.target();
            weights[count] = weight(payload);
            count += usize::from(is_live(control));
        }
        count
    }
}

/// A scan of the lists of one side.
struct Scan<'a, E, P, W, V, F> {
    shards: &'a [Shard<E, P>],
    bits: u32,
    index: &'a Index,
    run: &'a Run,
    visitor: &'a V,
    weight: F,
    kind: std::marker::PhantomData<fn() -> W>,
}

impl<E: Edge, P: Payload, W: Weight, V: Visitor<W>, F: Fn(&P) -> W + Sync> Scan<'_, E, P, W, V, F> {
    fn all(&self, select: Select<'_>, num_vertices: usize, entries: usize) -> Result<Vec<V::State>, Stop> {
        let units = self.run.threads() * UNITS_PER_WORKER;
        let unit = (num_vertices / units).next_multiple_of(64).clamp(64, UNIT_VERTICES_MAX);
        let unit = if num_vertices + entries <= SERIAL_ENTRIES_MAX { num_vertices } else { unit };
        let new_state = || (self.visitor.new_state(), Buffer::new());
        let states = match select {
            Select::All => self.run.share_ranges(num_vertices, unit, new_state, |state, range| {
                self.offer(state, range.map(vertex))
            }),
            Select::Bits(bits) => self.run.share_ranges(num_vertices, unit, new_state, |state, range| {
                self.offer(state, bits.iter_range(range))
            }),
            Select::List(list) => {
                let few = self.run.threads() == 1 || self.is_handful(list);
                let unit = if few { list.len() } else { (list.len() / units).clamp(1, UNIT_VERTICES_MAX) };
                self.run.share(list.len().div_ceil(unit.max(1)), new_state, |state, i| {
                    self.offer(state, list[i * unit..((i + 1) * unit).min(list.len())].iter().copied())
                })
            }
        };
        Ok(states?.into_iter().map(|(state, _)| state).collect())
    }

    fn is_handful(&self, list: &[VertexId]) -> bool {
        let mut entries = list.len();
        entries <= SERIAL_ENTRIES_MAX
            && list.iter().all(|&v| {
                entries += self.index.degree(v);
                entries <= SERIAL_ENTRIES_MAX
            })
    }

    /// Hands over the lists of some vertices, a batch at a time.
    #[inline(always)]
    fn offer(
        &self,
        state: &mut (V::State, Buffer<W>),
        mut vertices: impl Iterator<Item = VertexId>,
    ) -> Result<(), Stop> {
        loop {
            let (mut batch, mut count) = ([0; BATCH], 0);
            for v in vertices.by_ref() {
                batch[count] = v;
                count += 1;
                if count == BATCH {
                    break;
                }
            }
            if count == 0 {
                return Ok(());
            }
            self.run.check()?;
            self.offer_batch(state, &batch[..count])?;
        }
    }

    #[inline(always)]
    fn offer_batch(&self, state: &mut (V::State, Buffer<W>), batch: &[VertexId]) -> Result<(), Stop> {
        let (mut wanted, mut count) = ([0; BATCH], 0);
        for &v in batch {
            self.index.touch(v);
        }
        for &v in batch {
            wanted[count] = v;
            count += usize::from(self.index.degree(v) > 0 && self.visitor.wants(v));
        }
        for &v in &wanted[..count] {
            if let Indexed::Chunk(chunk, class) = self.index.place(v) {
                self.shard(v).touch_chunk(chunk, class);
            }
        }
        for &v in &wanted[..count] {
            match self.index.place(v) {
                Indexed::Chunk(chunk, class) => self.offer_chunk(state, v, chunk, class)?,
                Indexed::Low => self.offer_low(state, v),
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn shard(&self, v: VertexId) -> &Shard<E, P> {
        &self.shards[Side::<P>::place(v, self.bits)]
    }

    #[inline(always)]
    fn offer_chunk(
        &self,
        (state, buffer): &mut (V::State, Buffer<W>),
        v: VertexId,
        chunk: u32,
        class: usize,
    ) -> Result<(), Stop> {
        let slots = self.shard(v).slots_at(chunk, class);
        let capacity = slots.control.len();
        let mut from = 0;
        while from < capacity {
            let end = (from + PIECE_SLOTS).min(capacity);
            let count = buffer.gather(&slots, from..end, &self.weight);
            let (targets, weights) = (&buffer.targets[..count], &buffer.weights[..count]);
            if count > 0
                && self.visitor.visit(state, v, Piece { targets, weights, exclusive: true }) == Flow::Enough
            {
                break;
            }
            from = end;
            if from < capacity {
                self.run.check()?;
            }
        }
        Ok(())
    }

    fn offer_low(&self, (state, buffer): &mut (V::State, Buffer<W>), v: VertexId) {
        let mut count = 0;
        buffer.make_room(self.index.degree(v));
        self.shard(v).each_low(v, |slots, at| {
            buffer.targets[count] = slots.records[at].target;
            buffer.weights[count] = (self.weight)(&slots.payloads[at]);
            count += 1;
        });
        let (targets, weights) = (&buffer.targets[..count], &buffer.weights[..count]);
        self.visitor.visit(state, v, Piece { targets, weights, exclusive: true });
    }
}

impl<P: Payload, V: Payload> DynamicGraph<P, V> {
    /// Makes the index of all vertices that scans and degrees are quick by: 12 bytes a vertex and direction. The first scan after a
    /// change does it too.
    ///
    /// # Errors
    /// Cancellation, or if there is no memory.
    pub fn prepare(&self, run: &Run) -> Result<(), Stop> {
        self.indexes(run).map(|_| ())
    }

    fn indexes(&self, run: &Run) -> Result<&Indexes, Stop> {
        if let Some(indexes) = self.indexes.get() {
            return Ok(indexes);
        }
        let n = self.num_vertices();
        let incoming = self.incoming.as_ref().map(|side| Index::new(side, n, run)).transpose()?;
        let made = Indexes { out: Index::new(&self.out, n, run)?, incoming };
        // Another scan may have been quicker; then its index serves.
        Ok(self.indexes.get_or_init(|| made))
    }

    fn side(&self, direction: Direction) -> Option<&Side<P>> {
        match (direction, self.options.edges) {
            (Direction::In, Edges::OutAndIn) => self.incoming.as_ref(),
            (Direction::In, Edges::Out) => None,
            _ => Some(&self.out),
        }
    }

    pub(super) fn kept(&self, direction: Direction) -> Result<&Side<P>, Stop> {
        self.side(direction)
            .ok_or_else(|| Stop::Unsuitable("the dynamic graph is kept without its in-edges".to_owned()))
    }

    #[inline(always)]
    fn degree_of(&self, direction: Direction, v: VertexId) -> usize {
        match (self.indexes.get(), direction, self.options.edges) {
            (Some(Indexes { incoming: Some(index), .. }), Direction::In, Edges::OutAndIn) => index.degree(v),
            (Some(Indexes { out, .. }), Direction::Out, _)
            | (Some(Indexes { out, .. }), _, Edges::Undirected) => out.degree(v),
            _ => self.side(direction).expect("the direction is kept").degree(v),
        }
    }

    fn scan_lists<W: Weight, Vis: Visitor<W>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &Vis,
        weight: impl Fn(&P) -> W + Sync,
    ) -> Result<Vec<Vis::State>, Stop> {
        let side = self.kept(direction)?;
        let indexes = self.indexes(run)?;
        let index = match (&indexes.incoming, direction) {
            (Some(incoming), Direction::In) => incoming,
            _ => &indexes.out,
        };
        let (bits, kind) = (side.bits, std::marker::PhantomData);
        with_shards!(&side.shards, shards => {
            let scan = Scan { shards, bits, index, run, visitor, weight, kind };
            scan.all(select, self.num_vertices(), side.edges() as usize)
        })
    }

    fn with_sorted<W: Weight, R>(
        &self,
        direction: Direction,
        v: VertexId,
        weight: impl Fn(&P) -> W,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R, Stop> {
        let mut list = Vec::new();
        self.kept(direction)?.each_edge(v, |target, payload| list.push((target, weight(payload))));
        list.sort_unstable_by_key(|&(target, _)| target);
        let (targets, weights): (Vec<_>, Vec<_>) = list.into_iter().unzip();
        Ok(f(&targets, &weights))
    }
}

/// A dynamic graph without the payloads of its edges, for algorithms that need none, whatever the payloads are.
#[derive(Debug)]
pub struct Unweighted<'a, P, V>(&'a DynamicGraph<P, V>);

impl<P: Payload, V: Payload> DynamicGraph<P, V> {
    /// The graph without its payloads.
    pub fn unweighted(&self) -> Unweighted<'_, P, V> {
        Unweighted(self)
    }
}

/// Implements the waist for a type: an expression for the graph, the weight and how it comes from a payload.
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
                $inner.options.edges != Edges::Undirected
            }

            fn has(&$self, direction: Direction) -> bool {
                $inner.side(direction).is_some()
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

        /// A list is gathered and sorted at each call.
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

waist!([P: Payload + Weight, V: Payload], DynamicGraph<P, V>, P, self => self, |&payload: &P| payload);
waist!([P: Payload, V: Payload], Unweighted<'_, P, V>, (), self => self.0, |_: &P| ());
