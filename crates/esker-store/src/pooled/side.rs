//! The lists of one direction, and scans over them.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use esker_graph::{Bitmap, Flow, Piece, Run, Select, VertexId, Visitor, vertex};

use super::pages::{Kept, ListPages};
use super::turns::Turns;
use crate::error::{Error, Result};
use crate::format::BLOCK_BYTES;
use crate::io::Disk;
use crate::layer::{AHEAD_BYTES, Arrays, Coded, Index, ListColumns, Place, Places};
use crate::pool::{Held, Pool, PoolOptions};
use crate::snapshot::{Decoded, Offer, PIECE_LEN, PointReads, StoredWeight, few};

/// Lists of a group of coded ones.
const GROUP_LEN: usize = 64;

/// One direction.
#[derive(Debug)]
pub(super) struct PooledSide<'a> {
    pool: Pool<ListPages<'a>>,
    lists: &'a ListColumns,
    property: u32,
    points: PointReads<'a>,
    /// The first list that begins in each extent, and the number of lists.
    first_slots: Vec<usize>,
    /// Of each extent, whether its lists were found to be lists of vertices. What is read later has the same checksums.
    sound: Vec<AtomicBool>,
}

/// An extent in memory.
struct InHand<'h, W> {
    held: &'h Held,
    bytes: Range<u64>,
    /// The lists that begin there.
    slots: Range<usize>,
    /// Beside their arcs, of which this is the first.
    weights: &'h [W],
    first_arc: usize,
}

/// One thread of a scan.
struct Worker<S> {
    state: S,
    decoded: Decoded,
    places: Places,
    /// For lists that are decoded in parts.
    buffer: Vec<VertexId>,
}

impl<'a> PooledSide<'a> {
    /// Verifies where lists lie.
    pub(super) fn new(
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
        Ok(Self { pool, lists, property, points, first_slots, sound })
    }

    /// Bytes read from the disk so far.
    pub(super) fn read_bytes(&self) -> u64 {
        self.pool.read_bytes()
    }

    #[inline(always)]
    pub(super) fn degree(&self, v: VertexId) -> usize {
        self.pool.paged().kept.degree(v)
    }

    fn slots(&self, extent: usize) -> Range<usize> {
        self.first_slots[extent]..self.first_slots[extent + 1]
    }

    /// A point read.
    pub(super) fn with_list<W: StoredWeight, R>(
        &self,
        v: VertexId,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R> {
        self.points.with_list(v, f)
    }

    pub(super) fn scan<W: StoredWeight, V: Visitor<W>>(
        &self,
        run: &Run,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>> {
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
        let wants = |v: VertexId| visitor.wants(v) && self.degree(v) > 0;
        let is_wanted = |extent: usize| any(&self.slots(extent), bits, wants);
        let wanted: Vec<bool> = (0..self.sound.len()).map(is_wanted).collect();
        let needed = |extent: u32| any(&self.slots(extent as usize), None, wants);
        let _scanning = self.pool.begin(|extent| wanted[extent])?;
        let turns = Turns::default();
        let workers = run.share(
            run.threads(),
            || Worker {
                state: visitor.new_state(),
                decoded: Decoded::new(V::STOPS, run.deterministic()),
                places: Places::default(),
                buffer: Vec::new(),
            },
            |worker, _| {
                let supply = |ready: &mut _| self.pool.supply(|extent| wanted[extent], &needed, ready);
                while let Some(turn) = turns.take(run, supply, || self.pool.wait())? {
                    self.offer_extent(run, turn.extent, bits, visitor, worker)?;
                    self.pool.done(turn.extent);
                    turn.done();
                }
                Ok::<(), Error>(())
            },
        )?;
        Ok(workers.into_iter().map(|worker| worker.state).collect())
    }

    fn offer_extent<W: StoredWeight, V: Visitor<W>>(
        &self,
        run: &Run,
        extent: usize,
        bits: Option<&Bitmap>,
        visitor: &V,
        worker: &mut Worker<V::State>,
    ) -> Result<()> {
        let (bytes, slots) = (self.pool.bytes_of(extent), self.slots(extent));
        let held = self.pool.hold(extent, bytes.clone())?;
        let kept = self.pool.paged().kept;
        let arcs = kept.before(slots.start)..kept.before(slots.end);
        let weights = W::some(self.lists, self.property, arcs.clone())?;
        let hand = InHand { held: &held, bytes, slots, weights, first_arc: arcs.start };
        let is_sound = self.sound[extent].load(Relaxed);
        match kept {
            Kept::Arrays { arrays, offsets } => {
                if !is_sound {
                    let first = hand.bytes.start as usize / size_of::<VertexId>();
                    arrays.check_targets(bytemuck::cast_slice(hand.held), first)?;
                }
                self.offer_arrays(run, (arrays, offsets), &hand, bits, visitor, worker)?;
            }
            Kept::Coded { coded, index } => {
                if !is_sound {
                    check(coded, index, &hand, worker)?;
                }
                self.offer_coded(run, (coded, index), &hand, bits, visitor, worker)?;
            }
        }
        self.sound[extent].store(true, Relaxed);
        if size_of::<W>() > 0 {
            self.points.touch((arcs.len() * size_of::<W>() + BLOCK_BYTES) as u64);
        }
        Ok(())
    }

    fn offer_arrays<W: StoredWeight, V: Visitor<W>>(
        &self,
        run: &Run,
        (arrays, offsets): (&Arrays, &[u64]),
        hand: &InHand<'_, W>,
        bits: Option<&Bitmap>,
        visitor: &V,
        worker: &mut Worker<V::State>,
    ) -> Result<()> {
        let width = size_of::<VertexId>() as u64;
        for v in hand.slots.clone().map(vertex) {
            let arcs = offsets[v as usize]..offsets[v as usize + 1];
            if arcs.is_empty() || !bits.is_none_or(|bits| bits.get(v)) || !visitor.wants(v) {
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
            for (targets, weights) in targets.chunks(PIECE_LEN).zip(weights.chunks(PIECE_LEN)) {
                let piece = Piece { targets, weights, exclusive: true };
                if visitor.visit(&mut worker.state, v, piece) == Flow::Enough {
                    break;
                }
                if targets.len() == PIECE_LEN {
                    run.check()?;
                }
            }
        }
        Ok(())
    }

    fn offer_coded<W: StoredWeight, V: Visitor<W>>(
        &self,
        run: &Run,
        (coded, index): (&Coded, Index<'_>),
        hand: &InHand<'_, W>,
        bits: Option<&Bitmap>,
        visitor: &V,
        worker: &mut Worker<V::State>,
    ) -> Result<()> {
        let lists = coded.some(index, hand.bytes.start as usize, hand.held);
        let offer = Offer::some(lists, hand.weights, hand.first_arc);
        for (first, mask) in groups(&hand.slots) {
            let mut wanted = 0;
            let selected = mask & bits.map_or(u64::MAX, |bits| bits.word(first / GROUP_LEN));
            for_bits(selected, |i| wanted |= u64::from(visitor.wants(vertex(first + i))) << i);
            if wanted == 0 {
                continue;
            }
            lists.places(first, &mut worker.places);
            let Worker { state, decoded, places, buffer } = worker;
            let mut apart = 0;
            for_bits(wanted, |i| apart |= u64::from(!is_in_hand(hand, places, i)) << i);
            wanted &= !apart;
            while wanted != 0 && (!V::STOPS || decoded.is_whole()) {
                wanted &= !offer.group(visitor, (state, decoded), (first, places), (wanted, PIECE_LEN));
            }
            for_bits(wanted, |i| {
                let (v, place) = (vertex(first + i), places.at(i));
                // Visits may change what is wanted.
                if visitor.wants(v) {
                    offer.arcs(visitor, (state, decoded), v, place, (0..place.degree, true));
                }
            });
            while apart != 0 {
                let i = apart.trailing_zeros() as usize;
                apart &= apart - 1;
                let (v, place) = (vertex(first + i), places.at(i));
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
                    let flow = visitor.visit(state, v, Piece { targets, weights, exclusive: true });
                    if run.check().is_err() { Flow::Enough } else { flow }
                })?;
                run.check()?;
            }
        }
        Ok(())
    }
}

/// Whether a list of a group can be decoded as a whole from an extent.
fn is_in_hand<W>(hand: &InHand<'_, W>, places: &Places, index: usize) -> bool {
    places.at(index).degree <= PIECE_LEN && (places.end_byte(index) + AHEAD_BYTES) as u64 <= hand.bytes.end
}

/// The bytes of a list, with what decoders read ahead, if they are in an extent.
fn whole<'h, W>(hand: &InHand<'h, W>, place: Place, length: usize) -> Option<&'h [u8]> {
    let start = place.byte - hand.bytes.start as usize;
    hand.held.get(start..start + length + AHEAD_BYTES)
}

/// Verifies the lists that are wholly in an extent.
fn check<W, S>(coded: &Coded, index: Index<'_>, hand: &InHand<'_, W>, worker: &mut Worker<S>) -> Result<()> {
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

/// Whether any of some slots, or those of them whose bits are set, is wanted.
fn any(slots: &Range<usize>, bits: Option<&Bitmap>, wants: impl Fn(VertexId) -> bool) -> bool {
    groups(slots).any(|(first, mask)| {
        let mut selected = mask & bits.map_or(u64::MAX, |bits| bits.word(first / GROUP_LEN));
        while selected != 0 {
            if wants(vertex(first + selected.trailing_zeros() as usize)) {
                return true;
            }
            selected &= selected - 1;
        }
        false
    })
}

/// The first slot of each group that has some of the slots, and the bits of these.
fn groups(slots: &Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let Range { start, end } = *slots;
    (start / GROUP_LEN..end.div_ceil(GROUP_LEN)).map(move |group| {
        let first = group * GROUP_LEN;
        let bit = |slot: usize| slot.clamp(first, first + GROUP_LEN) - first;
        let below = |bits: usize| if bits == GROUP_LEN { u64::MAX } else { (1 << bits) - 1 };
        (first, below(bit(end)) & !below(bit(start)))
    })
}

/// Calls `f` with the number of each bit that is set.
#[inline(always)]
fn for_bits(mut bits: u64, mut f: impl FnMut(usize)) {
    while bits != 0 {
        f(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}
