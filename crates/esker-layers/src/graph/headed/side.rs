//! The lists of one direction: heads in memory, and the file of the tails.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use esker_format::io::{DIRECT_BYTES, Disk, File, Frame, Read, Reads, ThreadReads};
use esker_format::memory::filled;
use esker_format::{BLOCK_BYTES, Column, Error, PAGE_BYTES, Result};
use esker_graph::{ReadCount, Run, VertexId, vertex};

use super::share::{HeadStarts, LastHead, entries};

/// Bytes per read while heads are gathered: whole blocks.
const GATHER_BYTES: usize = 16 * BLOCK_BYTES;
/// Reads under way while heads are gathered, of all threads together. Each thread has at least two.
const GATHER_DEPTH: usize = 8;
/// Bytes of the stretch that a thread gathers from at a time: whole blocks. Few in tests, so that there are several.
const STRETCH_BYTES: u64 = if cfg!(test) { 2 * BLOCK_BYTES as u64 } else { 32 << 20 };
/// Reading threads where io_uring is not available.
const THREADS: usize = 16;

/// Lists with their heads in memory.
pub(super) struct HeadedSide<'a> {
    pub(super) offsets: &'a [u64],
    pub(super) starts: HeadStarts,
    pub(super) heads: Vec<VertexId>,
    pub(super) file: TailFile,
}

/// The file of the tails, and the checksums of its pages.
#[derive(Debug)]
pub(super) struct TailFile {
    file: Arc<dyn File>,
    /// Offset in the file of the page with the first target. Pages are counted from there.
    base: u64,
    /// Offset of the first target in that page: 0 in a file of its own.
    skip: u64,
    /// Bytes from `base` to the end of the targets.
    bytes: u64,
    /// CRC-32C of each page, the last only up to the end of the targets.
    checksums: Vec<u32>,
    /// What the run counts.
    pub(super) count: Arc<ReadCount>,
}

/// Reads under way per thread while `threads` threads gather heads.
fn gather_depth(threads: usize) -> usize {
    (GATHER_DEPTH / threads).max(2)
}

impl<'a> HeadedSide<'a> {
    /// Bytes of memory needed while heads are gathered.
    pub(super) fn gather_bytes(threads: usize) -> u64 {
        (threads * gather_depth(threads) * GATHER_BYTES) as u64
    }

    /// Bytes of memory besides the heads.
    pub(super) fn fixed_bytes(num_vertices: usize, num_arcs: usize) -> u64 {
        let pages = (num_arcs * size_of::<VertexId>()).div_ceil(DIRECT_BYTES);
        HeadStarts::bytes(num_vertices) + (pages * size_of::<u32>()) as u64
    }

    /// Reads all lists once, verifies them, and keeps their heads.
    pub(super) fn gather(
        disk: &Arc<dyn Disk>,
        offsets: &'a [u64],
        targets: &Column<VertexId>,
        head_len: usize,
        run: &Run,
    ) -> Result<Self> {
        let starts = HeadStarts::new(offsets, head_len);
        let mut file = TailFile::open(disk.as_ref(), targets)?;
        let mut heads = room_for(entries(&[offsets], head_len as u64) as usize)?;
        let mut checksums = vec![0; file.num_pages()];
        if file.skip == 0 {
            let stretches = HeadStretch::all((offsets, &starts), STRETCH_BYTES, &mut heads, &mut checksums);
            let stretches: Vec<_> = stretches.into_iter().map(Mutex::new).collect();
            run.share(
                stretches.len(),
                || None,
                |reader: &mut Option<Gather>, unit| {
                    let mut stretch = stretches[unit].lock().unwrap_or_else(PoisonError::into_inner);
                    let start = unit as u64 * STRETCH_BYTES;
                    let bytes = start..file.bytes.min(start + STRETCH_BYTES);
                    let reader = match reader {
                        Some(reader) => reader,
                        None => reader.insert(Gather::new(&file, gather_depth(run.threads()))?),
                    };
                    reader.read(&file, bytes, |pages| {
                        run.check()?;
                        stretch.take(pages, 0, targets)
                    })
                },
            )?;
        } else {
            // One of several small columns in a file of at most a megabyte: see `esker_format::Archive`.
            let pages = file.read_pages(0..file.bytes)?;
            let pages = &bytemuck::cast_slice(&pages)[..file.bytes as usize];
            let whole = (checksums.len() * DIRECT_BYTES) as u64;
            for mut stretch in HeadStretch::all((offsets, &starts), whole, &mut heads, &mut checksums) {
                stretch.take(pages, file.skip as usize, targets)?;
            }
        }
        file.checksums = checksums;
        let name = file.path().display().to_string();
        run.reads().of(name.as_str(), "gathering heads").add_read(file.bytes);
        file.count = run.reads().of(name, "tails");
        Ok(Self { offsets, starts, heads, file })
    }

    /// Where the head of the list of `v` begins among all heads.
    #[inline(always)]
    pub(super) fn head_start(&self, v: VertexId, last: &mut LastHead) -> usize {
        self.starts.at(self.offsets, v, last)
    }

    /// The head of the list of `v`, which begins at `start`.
    #[inline(always)]
    pub(super) fn head_at(&self, v: VertexId, start: usize) -> &[VertexId] {
        &self.heads[start..start + self.degree(v).min(self.starts.head_len())]
    }

    #[inline(always)]
    pub(super) fn degree(&self, v: VertexId) -> usize {
        (self.offsets[v as usize + 1] - self.offsets[v as usize]) as usize
    }
}

/// A stretch of the targets, and the heads and checksums that one thread gathers there.
struct HeadStretch<'h> {
    offsets: &'h [u64],
    head_len: usize,
    heads: &'h mut [VertexId],
    checksums: &'h mut [u32],
    /// The vertex whose list the next bytes continue.
    v: usize,
    /// Number of targets before the next bytes.
    taken: u64,
}

impl<'h> HeadStretch<'h> {
    /// All stretches of a column in order, of `stretch_bytes` bytes each.
    fn all(
        (offsets, starts): (&'h [u64], &HeadStarts),
        stretch_bytes: u64,
        mut heads: &'h mut [VertexId],
        checksums: &'h mut [u32],
    ) -> Vec<Self> {
        let (num_vertices, head_len) = (offsets.len() - 1, starts.head_len());
        let arcs = stretch_bytes / size_of::<VertexId>() as u64;
        let mut stretches = Vec::new();
        let mut before = 0;
        for (number, checksums) in checksums.chunks_mut(stretch_bytes as usize / DIRECT_BYTES).enumerate() {
            let (first, end) = (number as u64 * arcs, (number as u64 + 1) * arcs);
            let v = offsets[1..].partition_point(|&list_end| list_end <= first);
            let last = offsets[1..].partition_point(|&list_end| list_end <= end);
            // All heads before the end of the stretch, including a part of the last one.
            let until = if last < num_vertices {
                let part = end.saturating_sub(offsets[last]).min(head_len as u64) as usize;
                starts.at(offsets, vertex(last), &mut LastHead::default()) + part
            } else {
                before + heads.len()
            };
            let (own, rest) = std::mem::take(&mut heads).split_at_mut(until - before);
            (heads, before) = (rest, until);
            stretches.push(Self { offsets, head_len, heads: own, checksums, v, taken: first });
        }
        stretches
    }

    /// Gathers from the next pages. The first `skip` bytes are not targets.
    fn take(&mut self, pages: &[u8], skip: usize, column: &Column<VertexId>) -> Result<()> {
        let count = pages.len().div_ceil(DIRECT_BYTES);
        let (own, rest) = std::mem::take(&mut self.checksums).split_at_mut(count);
        self.checksums = rest;
        own.iter_mut().zip(pages.chunks(DIRECT_BYTES)).for_each(|(sum, page)| *sum = crc32c::crc32c(page));
        let bytes = &pages[skip..];
        let first_block = self.taken as usize * size_of::<VertexId>() / BLOCK_BYTES;
        for (number, block) in bytes.chunks(BLOCK_BYTES).enumerate() {
            column.verify_copy(first_block + number, block)?;
        }
        self.take_heads(bytemuck::cast_slice(bytes), column)
    }

    fn take_heads(&mut self, targets: &[VertexId], column: &Column<VertexId>) -> Result<()> {
        let num_vertices = self.offsets.len() - 1;
        let largest = targets.iter().fold(0, |largest, &target| largest.max(target));
        if largest as usize >= num_vertices {
            let reason = format!("vertex {largest} in a graph of {num_vertices} vertices");
            return Err(column.corrupt(self.taken as usize, reason));
        }
        let first = self.taken;
        let end = first + targets.len() as u64;
        while self.v < num_vertices && self.offsets[self.v] < end {
            let (start, stop) = (self.offsets[self.v], self.offsets[self.v + 1]);
            let head_end = stop.min(start + self.head_len as u64);
            let from = start.max(first).min(head_end);
            let to = head_end.min(end);
            if from < to {
                let (own, rest) = std::mem::take(&mut self.heads).split_at_mut((to - from) as usize);
                own.copy_from_slice(&targets[(from - first) as usize..(to - first) as usize]);
                self.heads = rest;
            }
            if stop > end {
                break;
            }
            self.v += 1;
        }
        self.taken = end;
        Ok(())
    }
}

/// One thread's reader of stretches.
struct Gather {
    reads: Box<dyn Reads>,
    free: Vec<Frame>,
}

impl Gather {
    fn new(file: &TailFile, depth: usize) -> Result<Self> {
        let free = Frame::make(depth, GATHER_BYTES)?;
        Ok(Self { reads: file.reads(depth, &free)?, free })
    }

    /// Calls `take` with the bytes of a range, in order, whole blocks at a time. Must not be called again after an error.
    fn read(
        &mut self,
        file: &TailFile,
        range: Range<u64>,
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let Self { reads, free } = self;
        let depth = free.len();
        let count = (range.end - range.start).div_ceil(GATHER_BYTES as u64) as usize;
        let (mut asked, mut taken) = (0, 0);
        let (mut asks, mut done) = (Vec::new(), Vec::new());
        let mut ahead: Vec<Option<Read>> = (0..depth).map(|_| None).collect();
        while taken < count {
            while asked < count
                && let Some(frame) = free.pop()
            {
                let at = range.start + asked as u64 * GATHER_BYTES as u64;
                let bytes = (range.end - at).min(GATHER_BYTES as u64) as usize;
                asks.push(Read { tag: asked, frame, offset: file.base + at, bytes });
                asked += 1;
            }
            reads.begin(&mut asks)?;
            reads.finish(true, &mut done)?;
            for (read, result) in done.drain(..) {
                result?;
                let slot = read.tag % depth;
                ahead[slot] = Some(read);
            }
            while let Some(read) = ahead[taken % depth].take() {
                take(&read.frame[..read.bytes])?;
                free.push(read.frame);
                taken += 1;
            }
        }
        Ok(())
    }
}

/// Room for neighbours.
pub(super) fn room_for(wanted: usize) -> Result<Vec<VertexId>> {
    filled(0, wanted).map_err(|_| {
        Error::Invalid(format!("there is no memory for {wanted} neighbours: keep shorter heads"))
    })
}

impl TailFile {
    /// The file of a column of targets, without its checksums.
    pub(super) fn open(disk: &dyn Disk, targets: &Column<VertexId>) -> Result<Self> {
        let skip = targets.first_byte() % DIRECT_BYTES as u64;
        Ok(Self {
            file: targets.open_direct(disk)?,
            base: targets.first_byte() - skip,
            skip,
            bytes: skip + (targets.len() * size_of::<VertexId>()) as u64,
            checksums: Vec::new(),
            count: Arc::default(),
        })
    }

    /// Number of its pages.
    pub(super) fn num_pages(&self) -> usize {
        (self.bytes as usize).div_ceil(DIRECT_BYTES)
    }

    /// The checksum of each page.
    pub(super) fn checksums(&self) -> &[u32] {
        &self.checksums
    }

    /// Sets the checksum of each page.
    pub(super) fn set_checksums(&mut self, checksums: Vec<u32>) {
        self.checksums = checksums;
    }

    /// Reads some pages and compares them with their checksums.
    pub(super) fn verify_pages(&self, pages: Range<usize>) -> Result<()> {
        let bytes = |page: usize| (page * DIRECT_BYTES) as u64;
        let range = bytes(pages.start)..bytes(pages.end).min(self.bytes);
        let words = self.read_pages(range.clone())?;
        self.verify(pages.start as u64, &bytemuck::cast_slice(&words)[..(range.end - range.start) as usize])
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// A queue of at most `depth` reads of it.
    pub(super) fn reads(&self, depth: usize, frames: &[Frame]) -> Result<Box<dyn Reads>> {
        if let Some(reads) = self.file.reads(depth, frames)? {
            return Ok(reads);
        }
        Ok(Box::new(ThreadReads::start(&self.file, depth.min(THREADS))?))
    }

    /// The page of an arc.
    #[inline(always)]
    pub(super) fn page_of(&self, arc: u64) -> u64 {
        (self.skip + arc * size_of::<VertexId>() as u64) / DIRECT_BYTES as u64
    }

    /// The first arc after a page.
    #[inline(always)]
    pub(super) fn end_of(&self, page: u64) -> u64 {
        ((page + 1) * DIRECT_BYTES as u64 - self.skip) / size_of::<VertexId>() as u64
    }

    /// A read of some pages.
    pub(super) fn read_of(&self, tag: usize, frame: Frame, pages: Range<u64>) -> Read {
        let page = DIRECT_BYTES as u64;
        let bytes = (pages.end * page).min(self.bytes) - pages.start * page;
        Read { tag, frame, offset: self.base + pages.start * page, bytes: bytes as usize }
    }

    /// The targets of `arcs`, in the bytes of the pages from `first` on.
    #[inline(always)]
    pub(super) fn targets<'b>(&self, first: u64, bytes: &'b [u8], arcs: Range<u64>) -> &'b [VertexId] {
        let at = |arc: u64| {
            (self.skip + arc * size_of::<VertexId>() as u64 - first * DIRECT_BYTES as u64) as usize
        };
        bytemuck::cast_slice(&bytes[at(arcs.start)..at(arcs.end)])
    }

    /// Compares the pages from `first` on with their checksums.
    pub(super) fn verify(&self, first: u64, bytes: &[u8]) -> Result<()> {
        for (k, page) in bytes.chunks(DIRECT_BYTES).enumerate() {
            let number = first as usize + k;
            if self.checksums.get(number) != Some(&crc32c::crc32c(page)) {
                let at = self.base + (number * DIRECT_BYTES) as u64;
                return Err(Error::corrupt(
                    self.path(),
                    at,
                    "a page is not what it was when the heads were made",
                ));
            }
        }
        Ok(())
    }

    /// Reads a range, relative to `base`, that begins with a page. The rest of the last word is 0.
    fn read_pages(&self, range: Range<u64>) -> Result<Vec<u64>> {
        let bytes = (range.end - range.start) as usize;
        let mut words = vec![0_u64; bytes.div_ceil(size_of::<u64>())];
        let buffer = &mut bytemuck::cast_slice_mut(&mut words)[..bytes];
        self.file.read_exact_at(buffer, self.base + range.start)?;
        self.count.add_read(bytes as u64);
        Ok(words)
    }

    /// Reads the targets of some arcs and appends them.
    pub(super) fn read_some(&self, arcs: Range<u64>, into: &mut Vec<VertexId>) -> Result<()> {
        if arcs.is_empty() {
            return Ok(());
        }
        let (first, last) = (self.page_of(arcs.start), self.page_of(arcs.end - 1));
        let page = DIRECT_BYTES as u64;
        let range = first * page..((last + 1) * page).min(self.bytes);
        let bytes = (range.end - range.start) as usize;
        let words = self.read_pages(range)?;
        let pages = &bytemuck::cast_slice(&words)[..bytes];
        self.verify(first, pages)?;
        into.extend_from_slice(self.targets(first, pages, arcs));
        Ok(())
    }
}

const _: () = assert!(PAGE_BYTES.is_multiple_of(DIRECT_BYTES) && BLOCK_BYTES.is_multiple_of(DIRECT_BYTES));
