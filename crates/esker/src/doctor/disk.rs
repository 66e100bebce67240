//! The rates of the disk, past the page cache.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use esker_graph::Run;
use esker_graph::random::Random;
use esker_store::format::BLOCK_BYTES;
use esker_store::io::{Disk, File, Frame, Read, Reads, ThreadReads};

use super::effort::Effort;
use crate::error::Result;
use crate::rates::{Rate, Rates};

/// Bytes of a sequential read: those of an extent of lists.
const LONG_BYTES: usize = 16 * BLOCK_BYTES;
/// Reads under way at a time.
const DEPTH: usize = 16;

/// Of a file in `directory`; `None` where the file system has no direct reads, because reads from the page
/// cache say nothing of the disk.
pub(super) fn measure(
    rates: Rates,
    disk: &dyn Disk,
    directory: &Path,
    effort: &Effort,
    run: &Run,
) -> Result<Option<Rates>> {
    let path = directory.join("bytes");
    let bytes = write(disk, &path, effort, run)?;
    let file = disk.open_direct(&path)?;
    if !file.is_direct() {
        disk.remove_file(&path)?;
        return Ok(None);
    }
    let long = read(&file, LONG_BYTES, bytes / LONG_BYTES as u64, |i| i, effort, "reading the disk", run)?;
    let blocks = bytes / BLOCK_BYTES as u64;
    // Odd and coprime to most counts: each block about once, in no order.
    let at_random = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % blocks;
    let short = read(&file, BLOCK_BYTES, blocks, at_random, effort, "reading the disk at random", run)?;
    disk.remove_file(&path)?;
    Ok(Some(rates.with(Rate::ReadBytes, long * LONG_BYTES as f64).with(Rate::ReadBlocks, short)))
}

/// Writes a file whose bytes no disk can compress; returns their number, fewer where the disk is slow.
fn write(disk: &dyn Disk, path: &Path, effort: &Effort, run: &Run) -> Result<u64> {
    let run = run.begin("writing to the disk", LONG_BYTES as u64)?;
    run.round(0)?;
    let (file, begin, mut random) = (disk.create(path)?, Instant::now(), Random::new(1));
    let (mut content, mut written) = (vec![0; LONG_BYTES], 0);
    while written < effort.file_bytes && (written == 0 || begin.elapsed().as_secs_f64() < effort.seconds) {
        run.check()?;
        for word in content.chunks_exact_mut(8) {
            word.copy_from_slice(&random.next_u64().to_le_bytes());
        }
        file.write_at(&content, written)?;
        written += content.len() as u64;
        run.set_done(written, effort.file_bytes);
    }
    file.sync()?;
    Ok(written)
}

/// Reads `count` pieces of a file, the `i`-th at `place(i)`, for as long as the effort says; returns how many
/// a second.
fn read(
    file: &Arc<dyn File>,
    bytes: usize,
    count: u64,
    place: impl Fn(u64) -> u64,
    effort: &Effort,
    what: &'static str,
    run: &Run,
) -> Result<f64> {
    let run = run.begin(what, (DEPTH * bytes) as u64)?;
    run.round(0)?;
    let mut frames = Frame::make(DEPTH, bytes)?;
    let mut queue: Box<dyn Reads> = match file.reads(DEPTH, &frames)? {
        Some(queue) => queue,
        None => Box::new(ThreadReads::start(file, DEPTH)?),
    };
    let (begin, mut begun, mut ended) = (Instant::now(), 0, 0_u64);
    let (mut reads, mut done) = (Vec::new(), Vec::new());
    loop {
        run.check()?;
        let goes_on = ended == 0 || begin.elapsed().as_secs_f64() < effort.seconds;
        while begun < count && goes_on {
            let Some(frame) = frames.pop() else { break };
            reads.push(Read { tag: 0, frame, offset: place(begun) * bytes as u64, bytes });
            begun += 1;
        }
        queue.begin(&mut reads)?;
        if queue.under_way() == 0 {
            break;
        }
        queue.finish(true, &mut done)?;
        for (read, result) in done.drain(..) {
            result?;
            frames.push(read.frame);
            ended += 1;
        }
        run.set_done(ended, count);
    }
    Ok(ended as f64 / begin.elapsed().as_secs_f64())
}
