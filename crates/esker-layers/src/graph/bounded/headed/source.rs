//! Scans over the lists of one direction: heads first, then the tails that visitors want.

use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{Error, HeadOrder, Result};
use esker_graph::{
    AnyVisitor, Bitmap, Extents, Flow, ListAccess, Piece, Run, SINK_BATCH_MAX, ScanWorker, Select, Sink,
    Source, Units, VertexId, drive, ones, vertex, wanted_blocks,
};

use super::dead_filter::DeadFilter;
use super::degrees::{ListDegrees, OutsideHead, WantedHeads};
use super::head_lengths::LastHead;
use super::side::HeadedSide;
use super::stored::StoredSide;
use super::tails::{CODED_BYTES_MAX, TailReader, TailRequest};
use crate::graph::arc_sets::dead_arcs::DeadArcs;
use crate::graph::mapped::dense::{DenseCoded, DenseLists};
use crate::graph::mapped::mapped_weights::{LastBlock, MappedWeights};
use crate::graph::mapped::points::PointReads;
use crate::graph::versions::living::LivingTargets;
use crate::graph::weight::ColumnWeight;
use crate::layer::{AHEAD_BYTES, Index, ListColumns};

/// Larger units than for lists in memory, because the tails of a unit are read together.
const UNITS: Units = Units { entries: 1 << 18, per_thread: 8 };
/// The most tails that a worker collects before it reads them.
const PENDING_MAX: usize = 1 << 15;
/// The most arcs of a piece.
const PIECE_LEN_MAX: usize = 1 << 16;

/// Lists with their heads in memory. Weights are mapped, and released as scans pass them.
pub(crate) struct HeadedSource<'a, W: ColumnWeight> {
    lists: HeadedSide<'a>,
    weights: MappedWeights<'a, W>,
    /// Reads long compressed lists from the map.
    points: PointReads<'a>,
    dead_filter: DeadFilter,
    /// Idle readers.
    readers: Mutex<Vec<TailReader>>,
}

/// The heads to keep in memory.
pub(crate) struct HeadSpec<'a, 's> {
    /// Neighbours of each vertex.
    pub(crate) length: usize,
    /// The neighbours that heads hold, if heads are gathered and no weights are read.
    pub(crate) order: HeadOrder,
    pub(crate) degrees: ListDegrees<'a>,
    /// The stored heads. Beside weights, chosen heads serve only where they hold whole lists; runs take them
    /// nevertheless, because gathering the first neighbours reads all lists.
    pub(crate) stored: Option<&'s StoredSide>,
}

impl<'a, W: ColumnWeight> HeadedSource<'a, W> {
    /// Heads from the stored ones if those are not shorter; else gathered, which reads all lists once.
    /// `property` is the number of the weight.
    pub(crate) fn new(
        disk: &Arc<dyn Disk>,
        lists: &'a ListColumns,
        property: u32,
        kept: &HeadSpec<'a, '_>,
        run: &Run,
    ) -> Result<Self> {
        let weights = MappedWeights::new(lists, property)?;
        let points = PointReads::new(lists, property, true);
        let lists = DenseLists::new(lists, run)?;
        let HeadSpec { length: head_len, order, degrees, stored } = *kept;
        let lists = match stored.filter(|stored| stored.head_len >= head_len) {
            Some(stored) => HeadedSide::load(disk, lists, stored, head_len, Self::HAS_WEIGHTS, run)?,
            None => {
                // Weights lie in the order of the lists.
                let order = if Self::HAS_WEIGHTS { HeadOrder::First } else { order };
                HeadedSide::gather(disk, lists, &WantedHeads { head_len, order, degrees }, run)?
            }
        };
        Ok(Self { lists, weights, points, dead_filter: DeadFilter::default(), readers: Mutex::default() })
    }

    /// Leaves arcs out of the lists, with all their copies. Only without weights, which lie in the order of
    /// the lists.
    pub(crate) fn leave_out(&mut self, dead: DeadArcs, run: &Run) -> Result<()> {
        debug_assert!(!Self::HAS_WEIGHTS, "weights would no longer be those of their arcs");
        self.dead_filter = DeadFilter::new(&mut self.lists, dead, run)?;
        Ok(())
    }

    /// Whether there are weights.
    pub(crate) const HAS_WEIGHTS: bool = size_of::<W>() > 0;

    /// Whether the head of a longer list is handed over, to a visitor that stops or not. If not, the list is
    /// read from the disk.
    #[inline(always)]
    fn hands_over_parts(&self, stops: bool) -> bool {
        self.lists.order == HeadOrder::First || stops && !Self::HAS_WEIGHTS
    }

    /// The arcs of `v` to read after `handed` ones of its head: those behind them, or the whole list if the
    /// head is chosen.
    fn rest_of(&self, v: VertexId, handed: usize) -> TailRequest {
        let Range { start, end } = self.lists.lists.arcs(v);
        let first = if self.lists.order == HeadOrder::Degree { start } else { start + handed as u64 };
        TailRequest { v, entries: first..end }
    }

    /// The first arc of `v` if there are weights: only these are found by it.
    #[inline(always)]
    fn first_weight(&self, v: VertexId) -> u64 {
        if Self::HAS_WEIGHTS { self.lists.lists.before(v as usize) as u64 } else { 0 }
    }

    fn reader(&self) -> Result<TailReader> {
        let kept = self.readers.lock().pop();
        kept.map_or_else(|| TailReader::new(&self.lists.file), Ok)
    }

    #[inline(always)]
    fn piece<'p>(
        &'p self,
        arcs: Range<u64>,
        targets: &'p [VertexId],
        last: &mut LastBlock,
    ) -> Result<Piece<'p, W>> {
        let weights = self.weights.get(arcs.start as usize..arcs.end as usize, last)?;
        Ok(Piece { targets, weights, exclusive: true })
    }
}

impl<W: ColumnWeight> Extents for HeadedSource<'_, W> {
    fn num_vertices(&self) -> usize {
        self.lists.lists.num_lists()
    }

    fn entries_before(&self, v: usize) -> usize {
        v + self.lists.lists.before(v)
    }

    fn degree(&self, v: VertexId) -> usize {
        self.lists.degree(v)
    }
}

impl<W: ColumnWeight> Source<W, Error> for HeadedSource<'_, W> {
    fn degree(&self, v: VertexId) -> usize {
        self.lists.degree(v)
    }

    fn list_access(&self) -> ListAccess {
        ListAccess::Scans
    }

    fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        let sorted;
        let select = match select {
            // Sorted in the order of the lists on disk.
            Select::List(list) => {
                let mut list = list.to_vec();
                list.sort_unstable();
                sorted = list;
                Select::List(&sorted)
            }
            select => select,
        };
        drive(run, self, UNITS, select, &|| {
            let (reader, batch, pending, wants, outside, living, decoded, block) = Default::default();
            let sink = visitor.sink();
            Box::new(HeadedWorker {
                source: self,
                run,
                visitor,
                sink,
                reader,
                batch,
                pending,
                wants,
                outside,
                living,
                decoded,
                block,
            })
        })
    }

    fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[W])) -> Result<()> {
        let arcs = self.lists.lists.arcs(v);
        let weights = self.weights.get(arcs.start as usize..arcs.end as usize, &mut LastBlock::default())?;
        if self.dead_filter.is_some() {
            let mut list = Vec::with_capacity(weights.len());
            self.read_rest(v, arcs, &mut list)?;
            let mut room = LivingTargets::default();
            let living = self.dead_filter.living_part(v, &list, &mut room);
            take(living, &weights[..living.len()]);
            return Ok(());
        }
        let head = self.lists.head_at(v, self.lists.head_start(v, &mut LastHead::default()));
        let (is_whole, is_first) = (head.len() == weights.len(), self.lists.order == HeadOrder::First);
        if is_whole && (is_first || Self::HAS_WEIGHTS) {
            take(head, weights);
            return Ok(());
        }
        let mut list = Vec::with_capacity(weights.len());
        if is_whole || is_first {
            list.extend_from_slice(head);
        }
        if is_whole {
            list.sort_unstable();
        } else {
            self.read_rest(v, arcs.start + list.len() as u64..arcs.end, &mut list)?;
        }
        take(&list, weights);
        Ok(())
    }
}

impl<W: ColumnWeight> HeadedSource<'_, W> {
    /// Appends the last arcs of a list.
    fn read_rest(&self, v: VertexId, arcs: Range<u64>, list: &mut Vec<VertexId>) -> Result<()> {
        match self.lists.lists {
            DenseLists::Arrays(_) => self.lists.file.read_some(arcs, |bytes| {
                list.extend_from_slice(bytemuck::cast_slice(bytes));
                Ok(())
            }),
            DenseLists::Coded(dense) => {
                let (mut decoded, mut skipped) = (Vec::new(), list.len());
                let mut take = |bytes: Option<&[u8]>| {
                    self.decode(dense, v, bytes, &mut decoded, |_, targets| {
                        let skip = skipped.min(targets.len());
                        skipped -= skip;
                        list.extend_from_slice(&targets[skip..]);
                        Ok(Flow::More)
                    })
                };
                match coded_entries(dense.index, v) {
                    Some(entries) => self.lists.file.read_some(entries, |bytes| take(Some(bytes))),
                    None => take(None),
                }
            }
        }
    }

    /// Verifies and decodes a compressed list: calls `take` with the number of targets before the next ones,
    /// and these, until it has enough. `bytes`: those of [`coded_entries`]; `None`: they are read from the
    /// map.
    fn decode(
        &self,
        dense: DenseCoded<'_>,
        v: VertexId,
        bytes: Option<&[u8]>,
        decoded: &mut Vec<VertexId>,
        mut take: impl FnMut(usize, &[VertexId]) -> Result<Flow>,
    ) -> Result<()> {
        let list = dense.list(v as usize);
        if bytes.is_none() {
            self.points.touch((list.length + PointReads::LIST_BYTES) as u64);
        }
        let mut result = Ok(());
        dense.coded.visit_list(list, bytes, decoded, |first, targets| {
            take(first, targets).unwrap_or_else(|error| {
                result = Err(error);
                Flow::Enough
            })
        })?;
        result
    }
}

/// The bytes of a compressed list, and those that decoders read behind them; `None` if they do not fit a
/// frame.
fn coded_entries(index: Index<'_>, v: VertexId) -> Option<Range<u64>> {
    let bytes = index.bytes(v as usize);
    let end = bytes.end + AHEAD_BYTES;
    (end - bytes.start <= CODED_BYTES_MAX).then_some(bytes.start as u64..end as u64)
}

/// One thread of a scan.
struct HeadedWorker<'p, 'a, W: ColumnWeight> {
    source: &'p HeadedSource<'a, W>,
    run: &'p Run,
    visitor: &'p dyn AnyVisitor<W>,
    sink: Box<dyn Sink<W> + 'p>,
    /// Created when first needed.
    reader: Option<TailReader>,
    batch: Vec<(VertexId, Piece<'p, W>)>,
    /// Tails that the visitor wants.
    pending: Vec<TailRequest>,
    wants: Vec<TailRequest>,
    outside: OutsideHead,
    living: LivingTargets,
    /// A part of a compressed list.
    decoded: Vec<VertexId>,
    /// The block of weights that was read last.
    block: LastBlock,
}

impl<W: ColumnWeight> Drop for HeadedWorker<'_, '_, W> {
    fn drop(&mut self) {
        self.source.readers.lock().extend(self.reader.take());
    }
}

impl<W: ColumnWeight> ScanWorker<Error> for HeadedWorker<'_, '_, W> {
    fn range(
        &mut self,
        vertices: Range<usize>,
        bits: Option<&Bitmap>,
        _huge: &mut Vec<VertexId>,
    ) -> Result<()> {
        let mut last = LastHead::default();
        for (first, wanted) in wanted_blocks(self.visitor, vertices, bits) {
            self.visit_heads(ones(wanted).map(|i| vertex(first + i)), &mut last)?;
        }
        self.visit_all_tails()
    }

    fn list(&mut self, vertices: &[VertexId], _huge: &mut Vec<VertexId>) -> Result<()> {
        let mut last = LastHead::default();
        for batch in vertices.chunks(SINK_BATCH_MAX) {
            self.visit_heads(batch.iter().copied(), &mut last)?;
        }
        self.visit_all_tails()
    }
}

impl<W: ColumnWeight> HeadedWorker<'_, '_, W> {
    /// Hands over the heads of a batch, and collects the tails that are wanted. Reads the first entry of
    /// every head before visiting any, so that their cache misses overlap.
    fn visit_heads(&mut self, vertices: impl Iterator<Item = VertexId>, last: &mut LastHead) -> Result<()> {
        let source = self.source;
        let parts = source.hands_over_parts(self.visitor.stops());
        let mut starts = [(0, 0); SINK_BATCH_MAX];
        let mut len = 0;
        for v in vertices.filter(|&v| source.lists.degree(v) > 0) {
            let start = source.lists.head_start(v, last);
            std::hint::black_box(source.lists.heads.get(start).copied());
            starts[len] = (v, start);
            len += 1;
        }
        self.batch.clear();
        let before = self.pending.len();
        for &(v, start) in &starts[..len] {
            let (head, first) = (source.lists.head_at(v, start), source.first_weight(v));
            let is_whole = head.len() == source.lists.degree(v);
            let handed = if parts || is_whole { head.len() } else { 0 };
            let head = source.dead_filter.living_head(&head[..handed]);
            if head.is_empty() {
                if !is_whole && self.visitor.wants(v) {
                    self.pending.push(source.rest_of(v, handed));
                }
                continue;
            }
            let piece = source.piece(first..first + head.len() as u64, head, &mut self.block)?;
            self.batch.push((v, piece));
        }
        let enough = self.sink.visit(&self.batch);
        let without_head = self.pending.len();
        for (i, (v, _)) in self.batch.iter().enumerate() {
            let handed = source.lists.head_len(*v);
            if handed < source.lists.degree(*v) && enough >> i & 1 == 0 {
                self.pending.push(source.rest_of(*v, handed));
            }
        }
        if before < without_head {
            // Tails are read in the order of the lists.
            self.pending[before..].sort_unstable_by_key(|want| want.v);
        }
        if self.pending.len() >= PENDING_MAX { self.visit_all_tails() } else { Ok(()) }
    }

    /// Reads the pending tails until none is wanted.
    fn visit_all_tails(&mut self) -> Result<()> {
        let mut chunk_entries = 0;
        while !self.pending.is_empty() {
            self.run.check()?;
            chunk_entries = match self.source.lists.lists {
                DenseLists::Arrays(_) => self.visit_tails(chunk_entries)?,
                DenseLists::Coded(dense) => self.visit_coded(dense)?,
            };
        }
        Ok(())
    }

    /// Reads a part of each pending tail, all of it if the visitor wants whole lists. Returns the length of
    /// the next parts, which grow.
    fn visit_tails(&mut self, chunk_entries: u64) -> Result<u64> {
        let Self { source, run, visitor, sink, reader, pending, wants, outside, living, block, .. } = self;
        let (stops, file) = (visitor.stops(), &source.lists.file);
        let had_head = source.lists.order == HeadOrder::Degree && source.hands_over_parts(stops);
        wants.clear();
        wants.extend(pending.iter().map(|want| {
            let end = match (stops, chunk_entries) {
                (false, _) => want.entries.end,
                (true, 0) => want.first_end(file),
                (true, entries) => want.entries.end.min(want.entries.start + entries),
            };
            TailRequest { v: want.v, entries: want.entries.start..end }
        }));
        // Dropped on an error, because reads may be under way.
        let mut own = match reader.take() {
            Some(reader) => reader,
            None => source.reader()?,
        };
        let mut read_entries = 0;
        own.read(file, wants, &mut |place, arcs, bytes| {
            run.check()?;
            let targets: &[VertexId] = bytemuck::cast_slice(bytes);
            let (want, rest) = (&wants[place], &mut pending[place]);
            read_entries = read_entries.max(arcs.end - arcs.start);
            // Parts arrive in any order; once a tail has enough, it stays so.
            if rest.entries.is_empty() || targets.is_empty() {
                return Ok(());
            }
            let mut piece = source.piece(arcs, targets, block)?;
            if had_head {
                let head =
                    source.lists.head_at(want.v, source.lists.head_start(want.v, &mut LastHead::default()));
                piece.targets = outside.part_outside(want.v, head, targets);
            }
            piece.targets = source.dead_filter.living_part(want.v, piece.targets, living);
            // Where targets are left out, there are no weights: these are all alike.
            piece.weights = &piece.weights[..piece.targets.len()];
            let pieces = piece.targets.chunks(PIECE_LEN_MAX).zip(piece.weights.chunks(PIECE_LEN_MAX));
            for (targets, weights) in pieces {
                let piece = Piece { targets, weights, exclusive: true };
                if sink.visit_one(want.v, piece) == Flow::Enough && stops {
                    rest.entries.start = rest.entries.end;
                    break;
                }
            }
            Ok(())
        })?;
        *reader = Some(own);
        for (rest, want) in pending.iter_mut().zip(&*wants) {
            rest.entries.start = rest.entries.start.max(want.entries.end);
        }
        pending.retain(|rest| !rest.entries.is_empty());
        Ok((chunk_entries.max(read_entries) * 4).min(1 << 18))
    }

    /// Reads the pending compressed lists, each as a whole: it is decoded from its beginning. What the head
    /// had is left out.
    fn visit_coded(&mut self, dense: DenseCoded<'_>) -> Result<u64> {
        let Self {
            source, run, visitor, sink, reader, pending, wants, outside, living, decoded, block, ..
        } = self;
        let stops = visitor.stops();
        let had_head = source.lists.order == HeadOrder::Degree && source.hands_over_parts(stops);
        let mut visit = |rest: &TailRequest, bytes: Option<&[u8]>| {
            run.check()?;
            let (v, start) = (rest.v, source.lists.lists.before(rest.v as usize));
            let handed = rest.entries.start as usize - start;
            let head = if had_head {
                source.lists.head_at(v, source.lists.head_start(v, &mut LastHead::default()))
            } else {
                &[]
            };
            source.decode(dense, v, bytes, decoded, |first, targets| {
                let skipped = handed.saturating_sub(first).min(targets.len());
                let (first, mut targets) = ((start + first + skipped) as u64, &targets[skipped..]);
                let weights = source.piece(first..first + targets.len() as u64, targets, block)?.weights;
                if had_head {
                    targets = outside.part_outside(v, head, targets);
                }
                targets = source.dead_filter.living_part(v, targets, living);
                if targets.is_empty() {
                    return Ok(Flow::More);
                }
                let piece = Piece { targets, weights: &weights[..targets.len()], exclusive: true };
                let flow = sink.visit_one(v, piece);
                Ok(if stops { flow } else { Flow::More })
            })
        };
        // Dropped on an error, because reads may be under way.
        let mut own = match reader.take() {
            Some(reader) => reader,
            None => source.reader()?,
        };
        let short = |rest: &TailRequest| coded_entries(dense.index, rest.v);
        wants.clear();
        wants
            .extend(pending.iter().filter_map(|rest| Some(TailRequest { v: rest.v, entries: short(rest)? })));
        let rests: Vec<_> = pending.iter().filter(|rest| short(rest).is_some()).collect();
        own.read(&source.lists.file, wants, &mut |place, _, bytes| visit(rests[place], Some(bytes)))?;
        pending.iter().filter(|rest| short(rest).is_none()).try_for_each(|rest| visit(rest, None))?;
        *reader = Some(own);
        pending.clear();
        Ok(0)
    }
}
