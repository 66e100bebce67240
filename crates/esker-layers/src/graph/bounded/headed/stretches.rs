//! Reads a file of lists from its beginning to its end, past the page cache, on all threads.

use parking_lot::Mutex;
use std::ops::Range;

use esker_format::io::{Frame, Read, Reads};
use esker_format::{BLOCK_BYTES, Result};
use esker_graph::Run;

use super::side::TailFile;

/// Bytes per read.
pub(super) const READ_BYTES: usize = 16 * BLOCK_BYTES;
/// Reads under way, of all threads together. Each thread has at least two.
const DEPTH: usize = 8;
/// Bytes of the stretch that a thread gathers from at a time: whole blocks. Few in tests, so that there are
/// several.
pub(super) const STRETCH_BYTES: u64 = if cfg!(test) { 2 * BLOCK_BYTES as u64 } else { 32 << 20 };

/// Reads under way per thread while `threads` threads read.
fn depth(threads: usize) -> usize {
    (DEPTH / threads).max(2)
}

/// Bytes of the buffers of one of `threads` threads.
pub(super) fn reading_bytes(threads: usize) -> u64 {
    (depth(threads) * READ_BYTES) as u64
}

/// Reads a file of lists, on the threads of the run: calls `take` with a stretch, a state of the thread, and
/// the next of its pages and how many of their first bytes are none of lists.
pub(super) fn read_stretches<T: Send, S: Send>(
    file: &TailFile,
    run: &Run,
    stretches: Vec<T>,
    new_state: impl Fn() -> S + Sync,
    take: impl Fn(&mut T, &mut S, (&[u8], usize)) -> Result<()> + Sync,
) -> Result<()> {
    if !file.is_apart() {
        // One of several small columns in a file of at most a megabyte: see `esker_format::Archive`.
        let (words, skip) = file.read_all()?;
        let pages = &bytemuck::cast_slice(&words)[..file.bytes() as usize];
        return stretches
            .into_iter()
            .try_for_each(|mut stretch| take(&mut stretch, &mut new_state(), (pages, skip)));
    }
    file.count.add_read(file.bytes());
    let stretches: Vec<_> = stretches.into_iter().map(Mutex::new).collect();
    run.share(
        stretches.len(),
        || None,
        |worker: &mut Option<(Gather, S)>, unit| {
            let mut stretch = stretches[unit].lock();
            let start = unit as u64 * STRETCH_BYTES;
            let bytes = start..file.bytes().min(start + STRETCH_BYTES);
            let (reader, state) = match worker {
                Some(worker) => worker,
                None => worker.insert((Gather::new(file, depth(run.threads()))?, new_state())),
            };
            reader.read(file, bytes, |pages| {
                run.check()?;
                take(&mut stretch, state, (pages, 0))
            })
        },
    )?;
    Ok(())
}

/// One thread's reader of stretches.
struct Gather {
    reads: Box<dyn Reads>,
    free: Vec<Frame>,
}

impl Gather {
    fn new(file: &TailFile, depth: usize) -> Result<Self> {
        let free = Frame::make(depth, READ_BYTES)?;
        Ok(Self { reads: file.reads(depth, &free)?, free })
    }

    /// Calls `take` with the bytes of a range, in order, whole blocks at a time. Must not be called again
    /// after an error.
    fn read(
        &mut self,
        file: &TailFile,
        range: Range<u64>,
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let Self { reads, free } = self;
        let depth = free.len();
        let count = (range.end - range.start).div_ceil(READ_BYTES as u64) as usize;
        let (mut asked, mut taken) = (0, 0);
        let (mut asks, mut done) = (Vec::new(), Vec::new());
        let mut ahead: Vec<Option<Read>> = (0..depth).map(|_| None).collect();
        while taken < count {
            while asked < count
                && let Some(frame) = free.pop()
            {
                let at = range.start + asked as u64 * READ_BYTES as u64;
                let bytes = (range.end - at).min(READ_BYTES as u64) as usize;
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
