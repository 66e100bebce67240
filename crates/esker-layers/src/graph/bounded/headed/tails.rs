//! Reads parts of tails: in ascending order, near parts in one read, and many reads at a time.
//!
//! A caller makes requests for parts ([`TailRequest`]). Requests in nearby pages share a read ([`Span`]), and
//! a long request takes several reads.

use std::ops::Range;

use esker_format::io::{DIRECT_BYTES, Frame, Read, Reads};
use esker_format::{Error, Result};
use esker_graph::VertexId;

use super::side::TailFile;

/// Reads under way per worker.
const DEPTH: usize = 32;
/// The longest read.
const FRAME_BYTES: usize = 64 << 10;
const FRAME_PAGES: u64 = (FRAME_BYTES / DIRECT_BYTES) as u64;
/// Largest gap between two parts that one read covers. On a disk that reads 2 GB/s sequentially and 90,000
/// pages/s at random, four more pages take as long as one more read.
const GAP_PAGES: u64 = 4;
/// Entries per page.
const PAGE_ENTRIES: u64 = (DIRECT_BYTES / size_of::<VertexId>()) as u64;

/// The longest compressed list that is read with others, including the bytes behind it that decoders touch.
/// It fits a frame wherever in a page it begins.
pub(super) const CODED_BYTES_MAX: usize = FRAME_BYTES / 2;
/// Bytes of one worker's frames.
pub(super) const WORKER_BYTES: u64 = (DEPTH * FRAME_BYTES) as u64;

/// Entries of a vertex's tail to read.
#[derive(Debug, Clone)]
pub(super) struct TailRequest {
    pub(super) v: VertexId,
    pub(super) entries: Range<u64>,
}

impl TailRequest {
    /// Where the first read of a search in this tail ends: at the end of the page, or of the next page if the
    /// tail begins in the last eighth of one.
    pub(super) fn first_end(&self, file: &TailFile) -> u64 {
        file.end_of(file.page_of(self.entries.start + PAGE_ENTRIES / 8)).min(self.entries.end)
    }
}

/// The pages of one read, and the parts of requests in them.
#[derive(Debug, Default)]
struct Span {
    pages: Range<u64>,
    /// The index of each request, and its entries in these pages.
    parts: Vec<(usize, Range<u64>)>,
}

/// One worker's reader of tails.
#[derive(Debug)]
pub(super) struct TailReader {
    reads: Box<dyn Reads>,
    /// Frames of no read under way.
    free: Vec<Frame>,
    /// The spans of reads under way, by the tag of the read.
    spans: Vec<Option<Span>>,
    /// Empty spans, kept for their allocations.
    spare: Vec<Span>,
    /// Reads to begin, and reads that ended; empty between calls.
    asks: Vec<Read>,
    done: Vec<(Read, Result<()>)>,
}

/// Called with each part: the index of its request, its entries, and their bytes.
pub(super) type Take<'t> = &'t mut dyn FnMut(usize, Range<u64>, &[u8]) -> Result<()>;

impl TailReader {
    pub(super) fn new(file: &TailFile) -> Result<Self> {
        let free = Frame::make(DEPTH, FRAME_BYTES)?;
        let reads = file.reads(DEPTH, &free)?;
        let spans = (0..DEPTH).map(|_| None).collect();
        Ok(Self { reads, free, spans, spare: Vec::new(), asks: Vec::new(), done: Vec::new() })
    }

    /// Reads all requests and hands over their parts in any order. Requests must ascend by their first
    /// entries.
    /// Compressed lists, which have at most [`CODED_BYTES_MAX`] bytes, are handed over as a whole.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`]; what `take` returns. The reader must not be used after an error.
    pub(super) fn read(&mut self, file: &TailFile, requests: &[TailRequest], take: Take<'_>) -> Result<()> {
        let mut cursor =
            Cursor { requests, place: 0, start: requests.first().map_or(0, |request| request.entries.start) };
        loop {
            while let Some(frame) = self.free.pop() {
                let mut span = self.spare.pop().unwrap_or_default();
                if !cursor.next(file, &mut span) {
                    self.spare.push(span);
                    self.free.push(frame);
                    break;
                }
                let tag = self.spans.iter().position(Option::is_none).unwrap_or(0);
                self.asks.push(file.read_of(tag, frame, span.pages.clone()));
                self.spans[tag] = Some(span);
            }
            self.reads.begin(&mut self.asks)?;
            if self.reads.under_way() == 0 {
                return Ok(());
            }
            self.reads.finish(true, &mut self.done)?;
            for (read, result) in self.done.drain(..) {
                result?;
                let Some(mut span) = self.spans[read.tag].take() else {
                    return Err(Error::corrupt(
                        file.path(),
                        read.offset,
                        "a read came back that nobody asked for",
                    ));
                };
                file.count.add_read(read.bytes as u64);
                let bytes = &read.frame[..read.bytes];
                file.verify(span.pages.start, bytes)?;
                for (place, entries) in span.parts.drain(..) {
                    take(place, entries.clone(), file.bytes_of(span.pages.start, bytes, entries))?;
                }
                self.spare.push(span);
                self.free.push(read.frame);
            }
        }
    }
}

/// Divides requests into spans.
struct Cursor<'w> {
    requests: &'w [TailRequest],
    place: usize,
    /// The first entry of the request at `place` that is not in a span yet.
    start: u64,
}

impl Cursor<'_> {
    /// Fills the empty `span` with the next parts. Returns false at the end.
    fn next(&mut self, file: &TailFile, span: &mut Span) -> bool {
        while let Some(request) = self.requests.get(self.place) {
            if self.start == request.entries.end {
                self.step();
                continue;
            }
            let page = file.page_of(self.start);
            if span.parts.is_empty() {
                span.pages = page..page;
            } else if page > span.pages.end + GAP_PAGES || page >= span.pages.start + FRAME_PAGES {
                break;
            }
            let end = request.entries.end.min(file.end_of(span.pages.start + FRAME_PAGES - 1));
            // A compressed list is decoded as a whole, so it must not be divided: it begins a read of its
            // own.
            if file.is_coded() && end < request.entries.end && !span.parts.is_empty() {
                break;
            }
            span.pages.end = span.pages.end.max(file.page_of(end - 1) + 1);
            span.parts.push((self.place, self.start..end));
            self.start = end;
            if end < request.entries.end {
                break;
            }
            self.step();
        }
        !span.parts.is_empty()
    }

    fn step(&mut self) {
        self.place += 1;
        self.start = self.requests.get(self.place).map_or(0, |request| request.entries.start);
    }
}
