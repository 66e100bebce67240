//! Scans over the lists of one direction.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use esker_format::BLOCK_BYTES;
use esker_format::io::Disk;
use esker_format::{Error, Result};
use esker_graph::{
    AnyVisitor, Bitmap, Flow, ListAccess, Piece, Run, SINK_BATCH_MAX, Select, Sink, Source, VertexId, ones,
    vertex, wanted_blocks,
};

use super::extent_queue::ExtentQueue;
use super::pages::ListPages;
use crate::graph::mapped::dense::{DenseArrays, DenseCoded, DenseLists};
use crate::graph::mapped::list_decoder::{Decoded, ListDecoder, PIECE_LEN};
use crate::graph::mapped::mapped_weights::{LastBlock, MappedWeights};
use crate::graph::mapped::points::{PointReads, few};
use crate::graph::weight::ColumnWeight;
use crate::layer::{AHEAD_BYTES, CodedList, ListColumns, ListPlaces};
use crate::pool::{HeldExtent, Pool, PoolOptions};

/// Lists per group of compressed lists.
const GROUP_LEN: usize = 64;

/// Reads of single lists from the map after which their extent is read into the pool, if there is room. By
/// then they have brought as many bytes to memory as an extent of usual size has ([`PointReads::LIST_BYTES`]
/// each), so that reading it costs at most as much again.
const READS_BEFORE_LOADING: u32 = 8;

/// One direction.
pub(crate) struct PooledSide<'a, W: ColumnWeight> {
    pool: Pool<ListPages<'a>>,
    lists: &'a ListColumns,
    weights: MappedWeights<'a, W>,
    points: PointReads<'a>,
    /// Single lists that were read from the pool, and from the map.
    pool_reads: AtomicU64,
    mapped_reads: AtomicU64,
    /// The first list that begins in each extent, and the number of lists.
    first_slots: Vec<usize>,
    /// Whether the targets of each extent were checked to be vertices. Later reads have the same checksums,
    /// so once is enough.
    sound: Vec<AtomicBool>,
    /// How often a single list of each extent was not in the pool.
    missed: Vec<AtomicU32>,
}

/// An extent in memory.
struct InHand<'h, W> {
    held: &'h HeldExtent,
    bytes: Range<u64>,
    /// The lists that begin there.
    slots: Range<usize>,
    /// The weights of their arcs, from arc `first_arc` on.
    weights: &'h [W],
    first_arc: usize,
}

/// One thread of a scan.
struct PooledWorker<'p, W> {
    visitor: &'p dyn AnyVisitor<W>,
    sink: Box<dyn Sink<W> + 'p>,
    decoded: Decoded,
    places: ListPlaces,
    /// For lists decoded in parts.
    buffer: Vec<VertexId>,
}

impl<'a, W: ColumnWeight> PooledSide<'a, W> {
    /// Verifies the offsets.
    pub(crate) fn new(
        disk: &Arc<dyn Disk>,
        lists: &'a ListColumns,
        property: u32,
        options: &PoolOptions,
        run: &Run,
    ) -> Result<Self> {
        let kept = DenseLists::new(lists, run)?;
        let pool = Pool::new(ListPages { disk: Arc::clone(disk), kept }, options, run)?;
        let num_extents = pool.num_extents();
        let starts = (0..num_extents).map(|extent| kept.slot_at_byte(pool.bytes_of(extent).start));
        let first_slots = starts.chain([kept.num_lists()]).collect();
        let sound = (0..num_extents).map(|_| AtomicBool::new(false)).collect();
        let missed = (0..num_extents).map(|_| AtomicU32::new(0)).collect();
        let points = PointReads::new(lists, property, true);
        let weights = MappedWeights::new(lists, property)?;
        let (pool_reads, mapped_reads) = Default::default();
        Ok(Self { pool, lists, weights, points, pool_reads, mapped_reads, first_slots, sound, missed })
    }

    fn slots(&self, extent: usize) -> Range<usize> {
        self.first_slots[extent]..self.first_slots[extent + 1]
    }

    /// An extent for a single list, after its lists were checked to hold vertices; `None` if it is not in
    /// memory. After some reads of its lists it comes to memory if a frame is free: runs that only read
    /// single lists fill the pool too, and what scans brought stays.
    fn held_for_one(&self, extent: usize) -> Result<Option<HeldExtent>> {
        let bytes = self.pool.bytes_of(extent);
        let is_sound = self.sound[extent].load(Relaxed);
        if is_sound && let Some(held) = self.pool.hold_if_there(extent, bytes.clone())? {
            return Ok(Some(held));
        }
        let missed = self.missed[extent].fetch_add(1, Relaxed).wrapping_add(1);
        if !missed.is_multiple_of(READS_BEFORE_LOADING) || !self.pool.load(extent)? {
            return Ok(None);
        }
        let Some(held) = self.pool.hold_if_there(extent, bytes.clone())? else { return Ok(None) };
        if !is_sound {
            let slots = self.slots(extent);
            let hand = InHand::<W> { held: &held, bytes, slots, weights: &[], first_arc: 0 };
            self.check_targets(&hand, &mut ListPlaces::default(), &mut Vec::new())?;
            self.sound[extent].store(true, Relaxed);
        }
        Ok(Some(held))
    }

    /// Whether a list that begins in an extent ends there too, as far as that is known without reading it.
    fn is_in_one_extent(&self, slot: usize, extent: usize) -> bool {
        match self.pool.paged().kept {
            DenseLists::Arrays(DenseArrays { offsets, .. }) => {
                offsets[slot + 1] * size_of::<VertexId>() as u64 <= self.pool.bytes_of(extent).end
            }
            DenseLists::Coded(_) => true,
        }
    }

    /// Checks that the targets of an extent are vertices.
    fn check_targets(
        &self,
        hand: &InHand<'_, W>,
        places: &mut ListPlaces,
        buffer: &mut Vec<VertexId>,
    ) -> Result<()> {
        match self.pool.paged().kept {
            DenseLists::Arrays(DenseArrays { arrays, .. }) => {
                let first = hand.bytes.start as usize / size_of::<VertexId>();
                arrays.check_targets(bytemuck::cast_slice(hand.held), first)
            }
            DenseLists::Coded(dense) => check(dense, hand, places, buffer),
        }
    }

    /// Calls `take` with a list if all of it is in memory, and was found to be one of vertices.
    fn take_from_pool(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[W])) -> Result<bool> {
        let slot = v as usize;
        let extent = self.first_slots.partition_point(|&first| first <= slot).saturating_sub(1);
        if extent >= self.sound.len() || !self.is_in_one_extent(slot, extent) {
            return Ok(false);
        }
        let Some(held) = self.held_for_one(extent)? else { return Ok(false) };
        let bytes = self.pool.bytes_of(extent);
        let weights = |arcs: Range<usize>| self.weights.get(arcs, &mut LastBlock::default());
        let kept = self.pool.paged().kept;
        match kept {
            DenseLists::Arrays(DenseArrays { offsets, .. }) => {
                let arcs = offsets[slot]..offsets[slot + 1];
                let in_hand = |arc: u64| (arc * size_of::<VertexId>() as u64 - bytes.start) as usize;
                let Some(targets) = held.get(in_hand(arcs.start)..in_hand(arcs.end)) else {
                    return Ok(false);
                };
                self.pool.count_found(targets.len() as u64);
                take(bytemuck::cast_slice(targets), weights(arcs.start as usize..arcs.end as usize)?);
            }
            DenseLists::Coded(DenseCoded { coded, index }) => {
                let (group, mut places) = (slot / GROUP_LEN * GROUP_LEN, ListPlaces::default());
                coded.some(index, bytes.start as usize, &held).places(group, &mut places);
                let coded_list = places.list(slot - group);
                let CodedList { place, length, .. } = coded_list;
                let start = place.byte - bytes.start as usize;
                let Some(code) = held.get(start..start + length + AHEAD_BYTES) else { return Ok(false) };
                self.pool.count_found(length as u64);
                let (mut list, mut buffer) = (Vec::with_capacity(place.degree), Vec::new());
                coded.visit_list(coded_list, Some(code), &mut buffer, |_, targets| {
                    list.extend_from_slice(targets);
                    Flow::More
                })?;
                take(&list, weights(place.arc..place.arc + place.degree)?);
            }
        }
        self.pool_reads.fetch_add(1, Relaxed);
        Ok(true)
    }

    fn offer_extent(
        &self,
        run: &Run,
        extent: usize,
        bits: Option<&Bitmap>,
        worker: &mut PooledWorker<'_, W>,
    ) -> Result<()> {
        let (bytes, slots) = (self.pool.bytes_of(extent), self.slots(extent));
        let held = self.pool.hold(extent, bytes.clone())?;
        let kept = self.pool.paged().kept;
        let arcs = kept.before(slots.start)..kept.before(slots.end);
        let weights = self.weights.get(arcs.clone(), &mut LastBlock::default())?;
        let hand = InHand { held: &held, bytes, slots, weights, first_arc: arcs.start };
        if !self.sound[extent].load(Relaxed) {
            self.check_targets(&hand, &mut worker.places, &mut worker.buffer)?;
        }
        match kept {
            DenseLists::Arrays(dense) => self.offer_arrays(run, dense, &hand, bits, worker)?,
            DenseLists::Coded(dense) => self.offer_coded(run, dense, &hand, bits, worker)?,
        }
        self.sound[extent].store(true, Relaxed);
        Ok(())
    }

    fn offer_arrays(
        &self,
        run: &Run,
        dense: DenseArrays<'_>,
        hand: &InHand<'_, W>,
        bits: Option<&Bitmap>,
        worker: &mut PooledWorker<'_, W>,
    ) -> Result<()> {
        let DenseArrays { arrays, offsets } = dense;
        let width = size_of::<VertexId>() as u64;
        let mut batch = Vec::with_capacity(SINK_BATCH_MAX);
        for (first, wanted) in wanted_blocks(worker.visitor, hand.slots.clone(), bits) {
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
        dense: DenseCoded<'_>,
        hand: &InHand<'_, W>,
        bits: Option<&Bitmap>,
        worker: &mut PooledWorker<'_, W>,
    ) -> Result<()> {
        let lists = dense.coded.some(dense.index, hand.bytes.start as usize, hand.held);
        let offer = ListDecoder::some(lists, hand.weights, hand.first_arc);
        let PooledWorker { visitor, sink, decoded, places, buffer } = worker;
        for (first, wanted) in wanted_blocks(*visitor, hand.slots.clone(), bits) {
            lists.places(first, places);
            let within =
                ones(wanted).filter(|&i| is_in_hand(hand, places, i)).fold(0, |within, i| within | 1 << i);
            offer.block_into(&mut **sink, decoded, places, within);
            for i in ones(wanted & !within) {
                let (v, list) = (vertex(first + i), places.list(i));
                // Visits may change what is wanted.
                if !visitor.wants(v) {
                    continue;
                }
                let bytes = bytes_in_hand(hand, list);
                if bytes.is_none() {
                    self.points.touch((list.length + BLOCK_BYTES) as u64);
                }
                dense.coded.visit_list(list, bytes, buffer, |done, targets| {
                    let weights = &hand.weights[list.place.arc + done - hand.first_arc..][..targets.len()];
                    let flow = sink.visit_one(v, Piece { targets, weights, exclusive: true });
                    if run.check().is_err() { Flow::Enough } else { flow }
                })?;
                run.check()?;
            }
        }
        Ok(())
    }
}

impl<W: ColumnWeight> Source<W, Error> for PooledSide<'_, W> {
    #[inline(always)]
    fn degree(&self, v: VertexId) -> usize {
        self.pool.paged().kept.degree(v)
    }

    fn list_access(&self) -> ListAccess {
        ListAccess::Scans
    }

    fn read_bytes(&self) -> u64 {
        self.pool.read_bytes()
    }

    fn point_reads(&self) -> (u64, u64) {
        (self.pool_reads.load(Relaxed), self.mapped_reads.load(Relaxed))
    }

    /// A list that is in the pool is taken from there; others are read from the map, which then gives them
    /// up.
    fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[W])) -> Result<()> {
        if self.take_from_pool(v, take)? {
            return Ok(());
        }
        self.mapped_reads.fetch_add(1, Relaxed);
        self.points.with_list(v, take)
    }

    fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        if let Some(list) = few(select, self.lists.num_arcs() as u64, |v| self.degree(v)) {
            run.check()?;
            let mut sink = visitor.sink();
            for &v in list.iter().filter(|&&v| visitor.wants(v)) {
                self.with_list(v, &mut |targets, weights| {
                    if !targets.is_empty() {
                        sink.visit_one(v, Piece { targets, weights, exclusive: true });
                    }
                })?;
            }
            return Ok(());
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
            wanted_blocks(visitor, self.slots(extent), bits)
                .any(|(first, wanted)| ones(wanted).any(|i| self.degree(vertex(first + i)) > 0))
        };
        let wanted: Vec<bool> = (0..self.sound.len()).map(|extent| any(extent, bits)).collect();
        let needed = |extent: u32| any(extent as usize, None);
        let _scanning = self.pool.begin(|extent| wanted[extent])?;
        let extent_queue = ExtentQueue::default();
        run.share(
            run.threads(),
            || PooledWorker {
                visitor,
                sink: visitor.sink(),
                decoded: Decoded::new(visitor.stops(), run.deterministic()),
                places: ListPlaces::default(),
                buffer: Vec::new(),
            },
            |worker, _| {
                let supply = |ready: &mut _| self.pool.supply(|extent| wanted[extent], &needed, ready);
                while let Some(queued) = extent_queue.take(run, supply, || self.pool.wait())? {
                    self.offer_extent(run, queued.extent, bits, worker)?;
                    self.pool.done(queued.extent);
                    queued.done();
                }
                Ok::<(), Error>(())
            },
        )?;
        Ok(())
    }
}

/// Whether a list of a group can be decoded as a whole from an extent.
fn is_in_hand<W>(hand: &InHand<'_, W>, places: &ListPlaces, index: usize) -> bool {
    places.at(index).degree <= PIECE_LEN && (places.end_byte(index) + AHEAD_BYTES) as u64 <= hand.bytes.end
}

/// The bytes of a list and those that decoders read behind it, if all are in the extent.
fn bytes_in_hand<'h, W>(hand: &InHand<'h, W>, list: CodedList) -> Option<&'h [u8]> {
    let start = list.place.byte - hand.bytes.start as usize;
    hand.held.get(start..start + list.length + AHEAD_BYTES)
}

/// Verifies the lists that lie wholly in an extent.
fn check<W>(
    dense: DenseCoded<'_>,
    hand: &InHand<'_, W>,
    places: &mut ListPlaces,
    buffer: &mut Vec<VertexId>,
) -> Result<()> {
    let lists = dense.coded.some(dense.index, hand.bytes.start as usize, hand.held);
    let Range { start, end } = hand.slots.clone();
    for first in (start / GROUP_LEN * GROUP_LEN..end).step_by(GROUP_LEN) {
        lists.places(first, places);
        for i in first.max(start) - first..GROUP_LEN.min(end - first) {
            let list = places.list(i);
            if let Some(bytes) = bytes_in_hand(hand, list) {
                dense.coded.visit_list(list, Some(bytes), buffer, |_, _| Flow::More)?;
            }
        }
    }
    Ok(())
}
