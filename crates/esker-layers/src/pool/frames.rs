//! Keeps blocks of a file in a fixed amount of memory.
//!
//! Memory is frames. Each holds an *extent*: consecutive blocks of the file, read together past the page
//! cache.
//! * *Slide*: while a scan computes on one segment of extents, the pool reads the next segment.
//! * *Cache*: an extent stays in its frame after use, until no frame is free. Then the pool first drops
//!   extents that the next scan will not need. These are those that this scan did not want, and those whose
//!   strips of vertices the algorithm has finished (G-Store, VI-C; a tile is needed if its row or its column
//!   is). If the next scan needs all of them, the pool drops the one read last.
//! * *Rewind*: the next scan begins with the extents in memory and reads the rest in order. So the extent
//!   read last would be used last. Unlike in G-Store, nothing is moved in memory.

use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use esker_format::BLOCK_BYTES;
use esker_format::io::{DIRECT_BYTES, Frame, Read, Reads, ThreadReads};
use esker_format::{Error, Result};
use esker_graph::{ReadCount, Run};

use super::options::{CachePolicy, FRAMES_MIN, PoolOptions};
use super::paged::{PagedFile, Supply};
use super::slots::{Extent, HeldExtent, Slot, SlotState, can_go, is_idle, open, take, take_frame};

/// Reading threads where io_uring is not available.
const READ_THREADS: usize = 8;

/// Finished reads.
type Done = Vec<(Read, Result<()>)>;

/// A cache of extents in a fixed amount of memory. Serves one scan at a time.
#[derive(Debug)]
pub(crate) struct Pool<P> {
    paged: P,
    path: PathBuf,
    policy: CachePolicy,
    /// Bytes from the start of an extent to the start of the next.
    stride: usize,
    /// Bytes of data in an extent.
    extent_bytes: usize,
    /// Offset of the data in its first page, and so of each extent in its frame.
    skip: usize,
    data: Range<u64>,
    segment_len: usize,
    state: Mutex<SlotState>,
    /// The thread that waits for reads holds this lock meanwhile; other threads then do not wait. A thread
    /// that holds `state` only tries to lock it.
    reads: Mutex<Box<dyn Reads>>,
    scanning: Mutex<()>,
    read_bytes: AtomicU64,
    /// Counts reads for the run.
    count: Arc<ReadCount>,
}

impl<P: PagedFile> Pool<P> {
    pub(crate) fn new(paged: P, options: &PoolOptions, run: &Run) -> Result<Self> {
        let extent_bytes = options.extent_bytes().max((1 + P::OVERLAP_BLOCKS) * BLOCK_BYTES);
        let stride = extent_bytes - P::OVERLAP_BLOCKS * BLOCK_BYTES;
        let data = paged.data();
        let skip = (data.start % DIRECT_BYTES as u64) as usize;
        let frame_bytes = extent_bytes + if skip > 0 { DIRECT_BYTES } else { 0 };
        let num_extents = ((data.end - data.start) as usize).div_ceil(stride);
        let num_frames = (options.bytes as usize / extent_bytes).min(num_extents.max(1));
        if num_frames < FRAMES_MIN.min(num_extents.max(1)) {
            return Err(Error::invalid(format!(
                "{} bytes of memory are left for parts of the graph, of which at least {} are needed: give more",
                options.bytes,
                options.bytes_min()
            )));
        }
        let half = (num_frames / 2).max(1);
        let segment_len = match options.policy {
            CachePolicy::Segments => half,
            _ => (options.segment_bytes as usize / extent_bytes).clamp(1, half),
        };
        let free = Frame::make(num_frames, frame_bytes)?;
        let file = paged.file()?;
        let ring = if options.by_threads { None } else { file.reads(segment_len, &free)? };
        let reads = match ring {
            Some(reads) => reads,
            None => Box::new(ThreadReads::start(&file, READ_THREADS.min(segment_len))?),
        };
        let state = SlotState {
            free,
            slots: (0..num_extents).map(|_| Slot::Absent).collect(),
            wanted: vec![false; num_extents],
            remaining: vec![0; num_extents],
            next: 0,
            used: vec![0; num_extents],
            now: 0,
            rewound: VecDeque::new(),
            arrived: Vec::new(),
            num_open: 0,
            opened: Vec::new(),
            unneeded: Vec::new(),
            patience: 0,
        };
        let (state, reads) = (Mutex::new(state), Mutex::new(reads));
        let (scanning, read_bytes) = (Mutex::new(()), AtomicU64::new(0));
        let count = run.reads().of(file.path().display().to_string(), "pool");
        Ok(Self {
            paged,
            path: file.path().to_owned(),
            policy: options.policy,
            stride,
            extent_bytes,
            skip,
            data,
            segment_len,
            state,
            reads,
            scanning,
            read_bytes,
            count,
        })
    }

    /// Bytes read from the disk so far.
    pub(crate) fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Relaxed)
    }

    /// The file.
    pub(crate) fn paged(&self) -> &P {
        &self.paged
    }

    /// Number of extents.
    pub(crate) fn num_extents(&self) -> usize {
        ((self.data.end - self.data.start) as usize).div_ceil(self.stride)
    }

    /// The first extent that contains a byte.
    pub(crate) fn extent_of(&self, byte: u64) -> usize {
        byte as usize / self.stride
    }

    /// The range of an extent, relative to the start of the data.
    pub(crate) fn bytes_of(&self, extent: usize) -> Range<u64> {
        let start = (extent * self.stride) as u64;
        start..(start + self.extent_bytes as u64).min(self.data.end - self.data.start)
    }

    fn units_of(&self, extent: usize) -> Range<usize> {
        let blocks = self.stride / BLOCK_BYTES;
        self.paged.units(extent, extent * blocks..(extent + 1) * blocks)
    }

    /// Waits for a scan under way to end, then begins one over the wanted units with the extents in memory.
    ///
    /// # Errors
    /// [`Error::Io`] of reads left behind by a failed scan.
    pub(crate) fn begin(&self, wanted: impl Fn(usize) -> bool) -> Result<MutexGuard<'_, ()>> {
        let guard = self.scanning.lock();
        loop {
            let mut done = Done::new();
            let mut reads = self.reads.lock();
            if reads.under_way() == 0 {
                break;
            }
            reads.finish(true, &mut done)?;
            drop(reads);
            // The scan that asked for them has reported its error.
            let _ = self.arrive(&mut self.state.lock(), done);
        }
        let mut state = self.state.lock();
        let state = &mut *state;
        for (extent, remaining) in state.remaining.iter_mut().enumerate() {
            *remaining = self.units_of(extent).filter(|&unit| wanted(unit)).count() as u32;
            state.wanted[extent] = *remaining > 0;
        }
        if self.policy == CachePolicy::Segments {
            state.free.extend(state.slots.iter_mut().filter(|slot| is_idle(slot)).filter_map(take));
        }
        let is_there =
            |&extent: &usize| state.wanted[extent] && matches!(state.slots[extent], Slot::Present(_));
        state.rewound = match self.policy {
            CachePolicy::Rewind => {
                (0..state.slots.len()).filter(is_there).map(|extent| extent as u32).collect()
            }
            CachePolicy::Lru | CachePolicy::Segments => VecDeque::new(),
        };
        state.opened.clear();
        state.unneeded.clear();
        state.arrived.clear();
        (state.next, state.num_open, state.patience) = (0, 0, 0);
        Ok(guard)
    }

    /// Collects finished reads, begins new ones, and adds units that are in memory to `ready`. `needed` says
    /// which strips the next scan needs.
    ///
    /// # Errors
    /// The first read that failed.
    pub(crate) fn supply(
        &self,
        wanted: impl Fn(usize) -> bool,
        needed: &dyn Fn(u32) -> bool,
        ready: &mut VecDeque<u32>,
    ) -> Result<Supply> {
        let mut state = self.state.lock();
        if let Some(mut reads) = self.reads.try_lock() {
            let mut done = Done::new();
            reads.finish(false, &mut done)?;
            self.arrive(&mut state, done)?;
            let mut ahead = self.read_ahead(&mut state, reads.under_way(), needed);
            reads.begin(&mut ahead)?;
        }
        let mut due = std::mem::take(&mut state.arrived);
        if let Some(extent) = state.rewound.pop_front() {
            self.count_kept(extent as usize);
            open(&mut state, extent);
            due.push(extent);
        }
        for extent in due {
            let units = self.units_of(extent as usize).filter(|&unit| wanted(unit));
            ready.extend(units.map(|unit| unit as u32));
        }
        let has_ended = state.num_open == 0 && self.next_due(&mut state).is_none();
        Ok(match ready.is_empty() {
            false => Supply::More,
            true if has_ended => Supply::End,
            true => Supply::Later,
        })
    }

    /// Waits until a read finishes. Returns false if there are no reads, or another thread already waits.
    ///
    /// # Errors
    /// The first read that failed.
    pub(crate) fn wait(&self) -> Result<bool> {
        let Some(mut reads) = self.reads.try_lock() else { return Ok(false) };
        if reads.under_way() == 0 {
            return Ok(false);
        }
        let mut done = Done::new();
        reads.finish(true, &mut done)?;
        drop(reads);
        self.arrive(&mut self.state.lock(), done).map(|()| true)
    }

    fn arrive(&self, state: &mut SlotState, done: Done) -> Result<()> {
        let mut all = Ok(());
        for (read, result) in done {
            self.read_bytes.fetch_add(read.bytes as u64, Relaxed);
            self.count.add_read(read.bytes as u64);
            match result {
                Ok(()) => {
                    let extent = Extent { frame: read.frame, verified: AtomicU32::new(0) };
                    state.slots[read.tag] = Slot::Present(Arc::new(extent));
                    state.arrived.push(read.tag as u32);
                }
                Err(error) => {
                    state.slots[read.tag] = Slot::Absent;
                    state.free.push(read.frame);
                    all = all.and(Err(error));
                }
            }
        }
        all
    }

    fn read_ahead(&self, state: &mut SlotState, under_way: usize, needed: &dyn Fn(u32) -> bool) -> Vec<Read> {
        let mut reads = Vec::new();
        while under_way + reads.len() < self.segment_len && state.num_open < 2 * self.segment_len {
            let Some(extent) = self.next_due(state) else { break };
            if matches!(state.slots[extent], Slot::Present(_)) {
                state.next = extent + 1;
                state.arrived.push(extent as u32);
                self.count_kept(extent);
                open(state, extent as u32);
                continue;
            }
            let Some(frame) = self.free_frame(state, needed) else { break };
            reads.push(self.read_of(extent, frame));
            state.slots[extent] = Slot::UnderWay;
            state.next = extent + 1;
            open(state, extent as u32);
        }
        reads
    }

    fn read_of(&self, extent: usize, frame: Frame) -> Read {
        let Range { start, end } = self.bytes_of(extent);
        let (skip, bytes) = (self.skip as u64, self.skip + (end - start) as usize);
        Read { tag: extent, frame, offset: self.data.start - skip + start, bytes }
    }

    /// Counts an extent that a scan wants and that is still in memory.
    fn count_kept(&self, extent: usize) {
        let Range { start, end } = self.bytes_of(extent);
        self.count_found(end - start);
    }

    /// Counts bytes that are wanted and that are still in memory.
    pub(crate) fn count_found(&self, bytes: u64) {
        self.count.add_kept(bytes);
    }

    /// The next extent to read or, if the policy keeps the order of the file, to give out.
    fn next_due(&self, state: &mut SlotState) -> Option<usize> {
        let in_order = self.policy != CachePolicy::Rewind;
        while let Some(slot) = state.slots.get(state.next) {
            let is_due = matches!(slot, Slot::Absent) || in_order && matches!(slot, Slot::Present(_));
            if state.remaining[state.next] > 0 && is_due {
                return Some(state.next);
            }
            state.next += 1;
        }
        None
    }

    /// A frame for another extent: a free one, or that of the extent needed least.
    fn free_frame(&self, state: &mut SlotState, needed: &dyn Fn(u32) -> bool) -> Option<Frame> {
        if let Some(frame) = state.free.pop() {
            return Some(frame);
        }
        if self.policy != CachePolicy::Rewind {
            return self.free_in_order(state);
        }
        if state.unneeded.is_empty() && state.patience == 0 {
            state.unneeded = self.find_unneeded(state, needed);
            state.patience = self.segment_len;
        }
        state.patience = state.patience.saturating_sub(1);
        while let Some(extent) = state.unneeded.pop() {
            if let Some(frame) = take_frame(state, extent) {
                return Some(frame);
            }
        }
        // The next scan needs all of them. It would use the one used last at its end, so drop that.
        let last = state.opened.iter().rposition(|&extent| can_go(state, extent))?;
        let extent = state.opened.remove(last);
        take_frame(state, extent)
    }

    /// The frame of the extent unused for longest, whether this scan has used it or not.
    fn free_in_order(&self, state: &mut SlotState) -> Option<Frame> {
        let is_ahead =
            |state: &SlotState, extent: usize| extent >= state.next && is_idle(&state.slots[extent]);
        let can_go = |&extent: &usize| is_ahead(state, extent) || can_go(state, extent as u32);
        let extent = (0..state.slots.len()).filter(can_go).min_by_key(|&extent| state.used[extent])?;
        take(&mut state.slots[extent])
    }

    /// Extents that the next scan does not need. Those that this scan did not want come last.
    fn find_unneeded(&self, state: &SlotState, needed: &dyn Fn(u32) -> bool) -> Vec<u32> {
        let mut asked = vec![None; self.paged.num_strips()];
        let mut strip = |strip: u32| *asked[strip as usize].get_or_insert_with(|| needed(strip));
        let (mut found, mut unwanted) = (Vec::new(), Vec::new());
        for extent in (0..state.slots.len()).filter(|&extent| can_go(state, extent as u32)) {
            if !state.wanted[extent] {
                unwanted.push(extent as u32);
                continue;
            }
            let is_needed = self.units_of(extent).any(|unit| {
                let (row, column) = self.paged.strips(unit);
                strip(row) || strip(column)
            });
            if !is_needed {
                found.push(extent as u32);
            }
        }
        found.append(&mut unwanted);
        found
    }

    /// Reads an extent, for single reads, into a frame that holds none; returns whether it is in memory now.
    /// Drops no other extent for it, and does nothing while a scan or another such read is under way.
    ///
    /// # Errors
    /// The error of the read.
    pub(crate) fn load(&self, number: usize) -> Result<bool> {
        let Some(_scanning) = self.scanning.try_lock() else { return Ok(false) };
        let mut reads = self.reads.lock();
        if reads.under_way() > 0 {
            // A failed scan left them behind; the next one waits for them.
            return Ok(false);
        }
        let frame = {
            let mut state = self.state.lock();
            match state.slots[number] {
                Slot::Present(_) => return Ok(true),
                Slot::UnderWay => return Ok(false),
                Slot::Absent => {}
            }
            let Some(frame) = state.free.pop() else { return Ok(false) };
            state.slots[number] = Slot::UnderWay;
            frame
        };
        reads.begin(&mut vec![self.read_of(number, frame)])?;
        let mut done = Done::new();
        while reads.under_way() > 0 {
            reads.finish(true, &mut done)?;
        }
        drop(reads);
        self.arrive(&mut self.state.lock(), done).map(|()| true)
    }

    /// Holds a range, relative to the start of the data, of an extent of which a unit was given out. Verifies
    /// its blocks.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(crate) fn hold(&self, number: usize, bytes: Range<u64>) -> Result<HeldExtent> {
        self.hold_if_there(number, bytes.clone())?.ok_or_else(|| {
            let at = self.data.start + bytes.start;
            Error::corrupt(&self.path, at, "it is not where it is looked for")
        })
    }

    /// As [`Pool::hold`], of any extent; `None` if it does not contain the range, or is not in memory.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(crate) fn hold_if_there(&self, number: usize, bytes: Range<u64>) -> Result<Option<HeldExtent>> {
        let of_extent = self.bytes_of(number);
        let extent = match &self.state.lock().slots[number] {
            Slot::Present(extent) if of_extent.start <= bytes.start && bytes.end <= of_extent.end => {
                Arc::clone(extent)
            }
            _ => return Ok(None),
        };
        let in_frame = |byte: u64| self.skip + (byte - of_extent.start) as usize;
        for block in bytes.start as usize / BLOCK_BYTES..(bytes.end as usize).div_ceil(BLOCK_BYTES) {
            let start = (block * BLOCK_BYTES) as u64;
            let bit = 1 << ((start - of_extent.start) as usize / BLOCK_BYTES);
            if extent.verified.load(Relaxed) & bit != 0 {
                continue;
            }
            let end = (start + BLOCK_BYTES as u64).min(of_extent.end);
            let in_block = &extent.frame[in_frame(start)..in_frame(end)];
            if let Err(error) = self.paged.verify(block, in_block) {
                // The damage may have happened on the way to memory: the next scan reads the extent again.
                drop(extent);
                self.forget(number);
                return Err(error);
            }
            extent.verified.fetch_or(bit, Relaxed);
        }
        let range = in_frame(bytes.start)..in_frame(bytes.end);
        Ok(Some(HeldExtent { extent, range }))
    }

    fn forget(&self, extent: usize) {
        let mut state = self.state.lock();
        // Nothing is taken if another thread holds a unit of it, or reads it again.
        if is_idle(&state.slots[extent])
            && let Some(frame) = take(&mut state.slots[extent])
        {
            state.free.push(frame);
        }
    }

    /// Ends the use of a unit of an extent.
    pub(crate) fn done(&self, extent: usize) {
        let mut state = self.state.lock();
        let remaining = &mut state.remaining[extent];
        *remaining -= 1;
        if *remaining == 0 {
            state.num_open -= 1;
        }
    }
}
