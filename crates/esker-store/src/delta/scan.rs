//! The waist over a dynamic graph: live slots of a chunk are gathered into a buffer of the worker and handed over as a slice.
//!
//! Vertices come in the order of their ids, so what an algorithm keeps per vertex is read in order; the chunks of the next few
//! are asked for ahead. A list of at most [`FIRST_SLOTS`] slots comes in one piece.

use esker_graph::{
    Direction, Flow, Graph, Lists, Piece, Run, Select, Stop, VertexId, Visitor, Weight, vertex,
};

use super::chunk::Edge;
use super::compact::{SLACK, compact};
use super::graph::{DynamicGraph, Edges};
use super::index::{Index, Indexed, Indexes};
use super::layout::Payload;
use super::robin::Slots;
use super::shard::Shard;
use super::side::{Side, with_shards};

/// Slots that are gathered at first: searches have often had enough after a few neighbours.
const FIRST_SLOTS: usize = 1 << 8;
/// Slots that are gathered at a time after that.
const PIECE_SLOTS: usize = 1 << 12;
/// Vertices and entries below which a scan stays on the calling thread.
const SERIAL_ENTRIES_MAX: usize = 1 << 13;
/// How many lists ahead a chunk is asked for; and how many, where a list begins.
const AHEAD: usize = 8;
const FAR_AHEAD: usize = 32;
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
        Self { targets: vec![0; SLACK], weights: vec![W::default(); SLACK] }
    }

    fn make_room(&mut self, entries: usize) {
        if self.targets.len() < entries + SLACK {
            let room = (entries + SLACK).next_power_of_two();
            self.targets.resize(room, 0);
            self.weights.resize(room, W::default());
        }
    }

    /// Gathers the live slots of a range; how many there are.
    #[inline(always)]
    fn gather<E: Edge, P: Payload>(
        &mut self,
        slots: &Slots<'_, E, P>,
        range: std::ops::Range<usize>,
        weigh: impl Weigh<P, W>,
    ) -> usize {
        self.make_room(range.len());
        let control = &slots.control[range.clone()];
        weigh.gather(control, &slots.payloads[range.clone()], &mut self.weights);
        E::gather(control, &slots.records[range], &mut self.targets)
    }
}

/// How weights come from payloads.
trait Weigh<P, W>: Copy + Sync {
    /// The weight of one edge.
    fn weight(self, payload: &P) -> W;

    /// Those of live slots to the front of `to`.
    fn gather(self, control: &[u8], payloads: &[P], to: &mut [W]);
}

/// A payload is the weight.
#[derive(Clone, Copy)]
struct Itself;

impl<P: Payload> Weigh<P, P> for Itself {
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

/// There are no weights.
#[derive(Clone, Copy)]
struct Nothing;

impl<P> Weigh<P, ()> for Nothing {
    #[inline(always)]
    fn weight(self, _: &P) {}

    #[inline(always)]
    fn gather(self, _: &[u8], _: &[P], _: &mut [()]) {}
}

/// A scan of the lists of one side.
struct Scan<'a, E, P, W, V, F> {
    shards: &'a [Shard<E, P>],
    index: &'a Index,
    run: &'a Run,
    visitor: &'a V,
    weigh: F,
    kind: std::marker::PhantomData<fn() -> W>,
}

impl<E: Edge, P: Payload, W: Weight, V: Visitor<W>, F: Weigh<P, W>> Scan<'_, E, P, W, V, F> {
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
                    let part = &list[i * unit..((i + 1) * unit).min(list.len())];
                    let vertices = part.iter().enumerate().map(|(at, &v)| {
                        if let Some(&later) = part.get(at + FAR_AHEAD) {
                            self.index.touch(later);
                        }
                        v
                    });
                    self.offer(state, vertices)
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

    /// Hands over the lists of some vertices, each a little after its chunk was asked for.
    #[inline(always)]
    fn offer(
        &self,
        state: &mut (V::State, Buffer<W>),
        vertices: impl Iterator<Item = VertexId>,
    ) -> Result<(), Stop> {
        let (mut asked, mut count) = ([(0, Indexed::default()); AHEAD], 0_usize);
        for v in vertices {
            if self.index.degree(v) == 0 || !self.visitor.wants(v) {
                continue;
            }
            let place = self.index.place(v);
            self.touch(v, place);
            if count.is_multiple_of(64) {
                self.run.check()?;
            }
            let (before, place) = std::mem::replace(&mut asked[count % AHEAD], (v, place));
            if count >= AHEAD {
                self.hand_over(state, before, place)?;
            }
            count += 1;
        }
        for i in count.saturating_sub(AHEAD)..count {
            let (v, place) = asked[i % AHEAD];
            self.hand_over(state, v, place)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn touch(&self, v: VertexId, place: Indexed) {
        let shard = &self.shards[usize::from(place.shard)];
        if place.low {
            shard.touch_low(v);
        } else {
            shard.touch_chunk(place.chunk, usize::from(place.class));
        }
    }

    #[inline(always)]
    fn hand_over(&self, state: &mut (V::State, Buffer<W>), v: VertexId, place: Indexed) -> Result<(), Stop> {
        if place.low {
            self.offer_low(state, v, place);
            return Ok(());
        }
        let slots = self.shards[usize::from(place.shard)].slots_at(place.chunk, usize::from(place.class));
        self.offer_chunk(state, v, &slots)
    }

    #[inline(always)]
    fn offer_chunk(
        &self,
        (state, buffer): &mut (V::State, Buffer<W>),
        v: VertexId,
        slots: &Slots<'_, E, P>,
    ) -> Result<(), Stop> {
        let capacity = slots.control.len();
        let (mut from, mut end) = (0, FIRST_SLOTS.min(capacity));
        while from < capacity {
            let count = buffer.gather(slots, from..end, self.weigh);
            let (targets, weights) = (&buffer.targets[..count], &buffer.weights[..count]);
            if count > 0
                && self.visitor.visit(state, v, Piece { targets, weights, exclusive: true }) == Flow::Enough
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

    fn offer_low(&self, (state, buffer): &mut (V::State, Buffer<W>), v: VertexId, place: Indexed) {
        let mut count = 0;
        buffer.make_room(self.index.degree(v));
        self.shards[usize::from(place.shard)].each_low(v, |slots, at| {
            buffer.targets[count] = slots.records[at].target;
            buffer.weights[count] = self.weigh.weight(&slots.payloads[at]);
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
        weigh: impl Weigh<P, W>,
    ) -> Result<Vec<Vis::State>, Stop> {
        let side = self.kept(direction)?;
        let indexes = self.indexes(run)?;
        let index = match (&indexes.incoming, direction) {
            (Some(incoming), Direction::In) => incoming,
            _ => &indexes.out,
        };
        let kind = std::marker::PhantomData;
        with_shards!(&side.shards, shards => {
            let scan = Scan { shards, index, run, visitor, weigh, kind };
            scan.all(select, self.num_vertices(), side.edges() as usize)
        })
    }

    fn with_sorted<W: Weight, R>(
        &self,
        direction: Direction,
        v: VertexId,
        weigh: impl Weigh<P, W>,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R, Stop> {
        let mut list = Vec::new();
        self.kept(direction)?.each_edge(v, |target, payload| list.push((target, weigh.weight(payload))));
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

waist!([P: Payload + Weight, V: Payload], DynamicGraph<P, V>, P, self => self, Itself);
waist!([P: Payload, V: Payload], Unweighted<'_, P, V>, (), self => self.0, Nothing);
