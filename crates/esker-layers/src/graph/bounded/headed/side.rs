//! The lists of one direction: heads in memory, and the file of the tails.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use esker_format::io::{DIRECT_BYTES, Disk, File, Frame, Read, Reads, ThreadReads};
use esker_format::memory::filled;
use esker_format::{BLOCK_BYTES, Error, HeadOrder, PAGE_BYTES, Result};
use esker_graph::{ReadCount, VertexId};

use super::head_lengths::{HeadStarts, LastHead};
use crate::graph::mapped::dense::DenseLists;
use crate::layer::{Body, ListColumns};

/// Reading threads where io_uring is not available.
const THREADS: usize = 16;

/// Lists with their heads in memory.
pub(super) struct HeadedSide<'a> {
    pub(super) lists: DenseLists<'a>,
    pub(super) starts: HeadStarts,
    /// The neighbours that heads hold. They lie in this order, except that heads of whole lists beside
    /// weights ascend; heads of longer lists lie by descending degree beside weights too.
    pub(super) order: HeadOrder,
    pub(super) heads: Vec<VertexId>,
    pub(super) file: TailFile,
}

/// The file of the tails, and the checksums of its pages. Its entries are targets, or the bytes of compressed
/// lists.
#[derive(Debug)]
pub(super) struct TailFile {
    file: Arc<dyn File>,
    /// Offset in the file of the page with the first entry. Pages are counted from there.
    pub(super) base: u64,
    /// Offset of the first entry in that page: 0 in a file of its own.
    skip: u64,
    /// Bytes from `base` to the end of the entries.
    bytes: u64,
    entry_bytes: u64,
    /// CRC-32C of each page, the last only up to the end of the entries.
    checksums: Vec<u32>,
    /// Counts reads for the run.
    pub(super) count: Arc<ReadCount>,
}

impl HeadedSide<'_> {
    /// Bytes of memory besides the heads.
    pub(super) fn fixed_bytes(lists: &ListColumns) -> u64 {
        let bytes = match lists.body() {
            Body::Arrays(arrays) => arrays.targets_column().len() * size_of::<VertexId>(),
            Body::Coded(coded) => coded.columns().lists.len(),
            Body::Tiled(_) => 0,
        };
        HeadStarts::bytes(lists.num_lists()) + (bytes.div_ceil(DIRECT_BYTES) * size_of::<u32>()) as u64
    }

    /// Where the head of the list of `v` begins among all heads.
    #[inline(always)]
    pub(super) fn head_start(&self, v: VertexId, last: &mut LastHead) -> usize {
        self.starts.at(&self.lists.extents(), v, last)
    }

    /// The head of the list of `v`, which begins at `start`.
    #[inline(always)]
    pub(super) fn head_at(&self, v: VertexId, start: usize) -> &[VertexId] {
        &self.heads[start..start + self.head_len(v)]
    }

    /// Number of the neighbours of `v` in its head.
    #[inline(always)]
    pub(super) fn head_len(&self, v: VertexId) -> usize {
        self.degree(v).min(self.starts.head_len())
    }

    #[inline(always)]
    pub(super) fn degree(&self, v: VertexId) -> usize {
        self.lists.degree(v)
    }
}

/// Room for neighbours.
pub(super) fn room_for(wanted: usize) -> Result<Vec<VertexId>> {
    filled(0, wanted).map_err(|_| {
        Error::invalid(format!("there is no memory for {wanted} neighbours: keep shorter heads"))
    })
}

impl TailFile {
    /// The file of some lists, without its checksums.
    pub(super) fn open(disk: &dyn Disk, lists: DenseLists<'_>) -> Result<Self> {
        let data = lists.data();
        let skip = data.start % DIRECT_BYTES as u64;
        let entry_bytes = match lists {
            DenseLists::Arrays(_) => size_of::<VertexId>() as u64,
            DenseLists::Coded(_) => 1,
        };
        Ok(Self {
            file: lists.open_direct(disk)?,
            base: data.start - skip,
            skip,
            bytes: skip + (data.end - data.start),
            entry_bytes,
            checksums: Vec::new(),
            count: Arc::default(),
        })
    }

    /// Number of its pages.
    pub(super) fn num_pages(&self) -> usize {
        (self.bytes as usize).div_ceil(DIRECT_BYTES)
    }

    /// Whether the lists have a file of their own.
    pub(super) fn is_apart(&self) -> bool {
        self.skip == 0
    }

    /// Bytes to the end of the entries.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// All pages, and the place of the first entry.
    pub(super) fn read_all(&self) -> Result<(Vec<u64>, usize)> {
        Ok((self.read_pages(0..self.bytes)?, self.skip as usize))
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

    /// Whether compressed lists lie there, which are read as a whole.
    #[inline(always)]
    pub(super) fn is_coded(&self) -> bool {
        self.entry_bytes == 1
    }

    /// The page of an entry.
    #[inline(always)]
    pub(super) fn page_of(&self, entry: u64) -> u64 {
        (self.skip + entry * self.entry_bytes) / DIRECT_BYTES as u64
    }

    /// The first entry after a page.
    #[inline(always)]
    pub(super) fn end_of(&self, page: u64) -> u64 {
        ((page + 1) * DIRECT_BYTES as u64 - self.skip) / self.entry_bytes
    }

    /// A read of some pages.
    pub(super) fn read_of(&self, tag: usize, frame: Frame, pages: Range<u64>) -> Read {
        let page = DIRECT_BYTES as u64;
        let bytes = (pages.end * page).min(self.bytes) - pages.start * page;
        Read { tag, frame, offset: self.base + pages.start * page, bytes: bytes as usize }
    }

    /// The bytes of some entries, in those of the pages from `first` on.
    #[inline(always)]
    pub(super) fn bytes_of<'b>(&self, first: u64, bytes: &'b [u8], entries: Range<u64>) -> &'b [u8] {
        let at = |entry: u64| (self.skip + entry * self.entry_bytes - first * DIRECT_BYTES as u64) as usize;
        &bytes[at(entries.start)..at(entries.end)]
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

    /// Reads some entries, and calls `take` with their bytes unless there are none.
    pub(super) fn read_some<R: Default>(
        &self,
        entries: Range<u64>,
        take: impl FnOnce(&[u8]) -> Result<R>,
    ) -> Result<R> {
        if entries.is_empty() {
            return Ok(R::default());
        }
        let (first, last) = (self.page_of(entries.start), self.page_of(entries.end - 1));
        let page = DIRECT_BYTES as u64;
        let range = first * page..((last + 1) * page).min(self.bytes);
        let bytes = (range.end - range.start) as usize;
        let words = self.read_pages(range)?;
        let pages = &bytemuck::cast_slice(&words)[..bytes];
        self.verify(first, pages)?;
        take(self.bytes_of(first, pages, entries))
    }
}

const _: () = assert!(PAGE_BYTES.is_multiple_of(DIRECT_BYTES) && BLOCK_BYTES.is_multiple_of(DIRECT_BYTES));
