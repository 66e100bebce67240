//! Scans over the lists of one direction.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use esker_format::BLOCK_BYTES;
use esker_format::io::Disk;
use esker_format::{Error, Result};
use esker_graph::{
    AnyVisitor, Bitmap, Flow, Piece, Run, SINK_BATCH_MAX, Select, Sink, Source, VertexId, ones, vertex,
};

use super::pages::{Kept, ListPages};
use super::turns::Turns;
use crate::graph::offer::{Decoded, Offer, PIECE_LEN};
use crate::graph::points::{PointReads, few};
use crate::graph::weight::StoredWeight;
use crate::layer::{AHEAD_BYTES, Arrays, Coded, Index, ListColumns, Place, Places};
use crate::pool::{Held, Pool, PoolOptions};

/// Lists per group of compressed lists.
const GROUP_LEN: usize = 64;

/// One direction.
pub(crate) struct PooledSide<'a, W> {
    pool: Pool<ListPages<'a>>,
    lists: &'a ListColumns,
    property: u32,
    points: PointReads<'a>,
    /// The first list that begins in each extent, and the number of lists.
    first_slots: Vec<usize>,
    /// Whether the targets of each extent were checked to be vertices. Later reads have the same checksums, so once is enough.
    sound: Vec<AtomicBool>,
    weight: PhantomData<fn() -> W>,
}

/// An extent in memory.
struct InHand<'h, W> {
    held: &'h Held,
    bytes: Range<u64>,
    /// The lists that begin there.
    slots: Range<usize>,
    /// The weights of their arcs, from arc `first_arc` on.
    weights: &'h [W],
    first_arc: usize,
}

/// One thread of a scan.
struct Worker<'p, W> {
    visitor: &'p dyn AnyVisitor<W>,
    sink: Box<dyn Sink<W> + 'p>,
    decoded: Decoded,
    places: Places,
    /// For lists decoded in parts.
    buffer: Vec<VertexId>,
}

impl<'a, W: StoredWeight> PooledSide<'a, W> {
    /// Verifies the offsets.
    pub(crate) fn new(
        disk: &Arc<dyn Disk>,
        lists: &'a ListColumns,
        property: u32,
        options: &PoolOptions,
        run: &Run,
    ) -> Result<Self> {
        let kept = Kept::new(lists, run)?;
        let pool = Pool::new(ListPages { disk: Arc::clone(disk), kept }, options)?;
        let num_extents = pool.num_extents();
        let starts = (0..num_extents).map(|extent| kept.slot_at_byte(pool.bytes_of(extent).start));
        let first_slots = starts.chain([kept.num_lists()]).collect();
        let sound = (0..num_extents).map(|_| AtomicBool::new(false)).collect();
        let points = PointReads::new(lists, property, true);
        Ok(Self { pool, lists, property, points, first_slots, sound, weight: PhantomData })
    }

    fn slots(&self, extent: usize) -> Range<usize> {
        self.first_slots[extent]..self.first_slots[extent + 1]
    }

    fn offer_extent(
        &self,
        run: &Run,
        extent: usize,
        bits: Option<&Bitmap>,
        worker: &mut Worker<'_, W>,
    ) -> Result<()> {
        let (bytes, slots) = (self.pool.bytes_of(extent), self.slots(extent));
        let held = self.pool.hold(extent, bytes.clone())?;
        let kept = self.pool.paged().kept;
        let arcs = kept.before(slots.start)..kept.before(slots.end);
        let weights: &[W] = W::some(self.lists, self.property, arcs.clone())?;
        let hand = InHand { held: &held, bytes, slots, weights, first_arc: arcs.start };
        let is_sound = self.sound[extent].load(Relaxed);
        match kept {
            Kept::Arrays { arrays, offsets } => {
                if !is_sound {
                    let first = hand.bytes.start as usize / size_of::<VertexId>();
                    arrays.check_targets(bytemuck::cast_slice(hand.held), first)?;
                }
                self.offer_arrays(run, (arrays, offsets), &hand, bits, worker)?;
            }
            Kept::Coded { coded, index } => {
                if !is_sound {
                    check(coded, index, &hand, worker)?;
                }
                self.offer_coded(run, (coded, index), &hand, bits, worker)?;
            }
        }
        self.sound[extent].store(true, Relaxed);
        if size_of::<W>() > 0 {
            self.points.touch((arcs.len() * size_of::<W>() + BLOCK_BYTES) as u64);
        }
        Ok(())
    }

    fn offer_arrays(
        &self,
        run: &Run,
        (arrays, offsets): (&Arrays, &[u64]),
        hand: &InHand<'_, W>,
        bits: Option<&Bitmap>,
        worker: &mut Worker<'_, W>,
    ) -> Result<()> {
        let width = size_of::<VertexId>() as u64;
        let mut batch = Vec::with_capacity(SINK_BATCH_MAX);
        for (first, mask) in groups(&hand.slots) {
            let selected = mask & bits.map_or(u64::MAX, |bits| bits.word(first / GROUP_LEN));
            let wanted = if selected == 0 { 0 } else { worker.visitor.wanted(first, selected) };
            batch.clear();
            for v in ones(wanted).map(|i| vertex(first + i)) {
                let arcs = offsets[v as usize]..offsets[v as usize + 1];
                if arcs.is_empty() {
                    continue;
                }
                let targets = if arcs.end * width <= hand.bytes.end {
                    let in_hand = |arc: u64| (arc * width - hand.bytes.start) as usize;
                    bytemuck::cast_slice(&hand.held[in_hand(arcs.start)..in_hand(arcs.end)])
                } else {
                    self.points.touch((arcs.end - arcs.start) * width + BLOCK_BYTES as u64);
                    arrays.some_targets(arcs.start as usize..arcs.end as usize)?
                };
                let weights = &hand.weights[arcs.start as usize - hand.first_arc..][..targets.len()];
                if targets.len() <= PIECE_LEN {
                    batch.push((v, Piece { targets, weights, exclusive: true }));
                    continue;
                }
                for (targets, weights) in targets.chunks(PIECE_LEN).zip(weights.chunks(PIECE_LEN)) {
                    if worker.sink.visit_one(v, Piece { targets, weights, exclusive: true }) == Flow::Enough {
                        break;
                    }
                    run.check()?;
                }
            }
            worker.sink.visit(&batch);
        }
        Ok(())
    }

    fn offer_coded(
        &self,
        run: &Run,
        (coded, index): (&Coded, Index<'_>),
        hand: &InHand<'_, W>,
        bits: Option<&Bitmap>,
        worker: &mut Worker<'_, W>,
    ) -> Result<()> {
        let lists = coded.some(index, hand.bytes.start as usize, hand.held);
        let offer = Offer::some(lists, hand.weights, hand.first_arc);
        let Worker { visitor, sink, decoded, places, buffer } = worker;
        for (first, mask) in groups(&hand.slots) {
            let selected = mask & bits.map_or(u64::MAX, |bits| bits.word(first / GROUP_LEN));
            let wanted = if selected == 0 { 0 } else { visitor.wanted(first, selected) };
            if wanted == 0 {
                continue;
            }
            lists.places(first, places);
            let within =
                ones(wanted).filter(|&i| is_in_hand(hand, places, i)).fold(0, |within, i| within | 1 << i);
            offer.block_into(&mut **sink, decoded, (first, places), within);
            for i in ones(wanted & !within) {
                let (v, place) = (vertex(first + i), places.at(i));
                // Visits may change what is wanted.
                if !visitor.wants(v) {
                    continue;
                }
                let length = places.end_byte(i) - place.byte;
                let bytes = whole(hand, place, length);
                if bytes.is_none() {
                    self.points.touch((length + BLOCK_BYTES) as u64);
                }
                coded.visit_list((first + i, place, length), bytes, buffer, |done, targets| {
                    let weights = &hand.weights[place.arc + done - hand.first_arc..][..targets.len()];
                    let flow = sink.visit_one(v, Piece { targets, weights, exclusive: true });
                    if run.check().is_err() { Flow::Enough } else { flow }
                })?;
                run.check()?;
            }
        }
        Ok(())
    }
}

impl<W: StoredWeight> Source<W, Error> for PooledSide<'_, W> {
    #[inline(always)]
    fn degree(&self, v: VertexId) -> usize {
        self.pool.paged().kept.degree(v)
    }

    fn read_bytes(&self) -> u64 {
        self.pool.read_bytes()
    }

    fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[W])) -> Result<()> {
        self.points.with_list(v, take)
    }

    fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        if let Some(list) = few(select, self.lists.num_arcs() as u64, |v| self.degree(v)) {
            return self.points.scan(run, list, visitor);
        }
        let of_list;
        let bits = match select {
            Select::All => None,
            Select::Bits(bits) => Some(bits),
            Select::List(list) => {
                of_list = Bitmap::new(self.pool.paged().kept.num_lists());
                list.iter().for_each(|&v| of_list.insert_alone(v));
                Some(&of_list)
            }
        };
        let any = |extent: usize, bits: Option<&Bitmap>| {
            groups(&self.slots(extent)).any(|(first, mask)| {
                let selected = mask & bits.map_or(u64::MAX, |bits| bits.word(first / GROUP_LEN));
                selected != 0
                    && ones(visitor.wanted(first, selected)).any(|i| self.degree(vertex(first + i)) > 0)
            })
        };
        let wanted: Vec<bool> = (0..self.sound.len()).map(|extent| any(extent, bits)).collect();
        let needed = |extent: u32| any(extent as usize, None);
        let _scanning = self.pool.begin(|extent| wanted[extent])?;
        let turns = Turns::default();
        run.share(
            run.threads(),
            || Worker {
                visitor,
                sink: visitor.sink(),
                decoded: Decoded::new(visitor.stops(), run.deterministic()),
                places: Places::default(),
                buffer: Vec::new(),
            },
            |worker, _| {
                let supply = |ready: &mut _| self.pool.supply(|extent| wanted[extent], &needed, ready);
                while let Some(turn) = turns.take(run, supply, || self.pool.wait())? {
                    self.offer_extent(run, turn.extent, bits, worker)?;
                    self.pool.done(turn.extent);
                    turn.done();
                }
                Ok::<(), Error>(())
            },
        )?;
        Ok(())
    }
}

/// Whether a list of a group can be decoded as a whole from an extent.
fn is_in_hand<W>(hand: &InHand<'_, W>, places: &Places, index: usize) -> bool {
    places.at(index).degree <= PIECE_LEN && (places.end_byte(index) + AHEAD_BYTES) as u64 <= hand.bytes.end
}

/// The bytes of a list and those that decoders read behind it, if all are in the extent.
fn whole<'h, W>(hand: &InHand<'h, W>, place: Place, length: usize) -> Option<&'h [u8]> {
    let start = place.byte - hand.bytes.start as usize;
    hand.held.get(start..start + length + AHEAD_BYTES)
}

/// Verifies the lists that lie wholly in an extent.
fn check<W>(coded: &Coded, index: Index<'_>, hand: &InHand<'_, W>, worker: &mut Worker<'_, W>) -> Result<()> {
    let lists = coded.some(index, hand.bytes.start as usize, hand.held);
    let Worker { places, buffer, .. } = worker;
    for (first, mut mask) in groups(&hand.slots) {
        lists.places(first, places);
        while mask != 0 {
            let i = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            let place = places.at(i);
            let length = places.end_byte(i) - place.byte;
            if let Some(bytes) = whole(hand, place, length) {
                coded.visit_list((first + i, place, length), Some(bytes), buffer, |_, _| Flow::More)?;
            }
        }
    }
    Ok(())
}

/// The groups that contain some of `slots`: the first slot of each, and a bit for each of its slots in the range.
fn groups(slots: &Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let Range { start, end } = *slots;
    (start / GROUP_LEN..end.div_ceil(GROUP_LEN)).map(move |group| {
        let first = group * GROUP_LEN;
        let bit = |slot: usize| slot.clamp(first, first + GROUP_LEN) - first;
        let below = |bits: usize| if bits == GROUP_LEN { u64::MAX } else { (1 << bits) - 1 };
        (first, below(bit(end)) & !below(bit(start)))
    })
}
