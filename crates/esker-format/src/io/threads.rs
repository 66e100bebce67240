//! Concurrent reads by a pool of threads.

use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::disk::File;
use super::frames::DIRECT_BYTES;
use super::reads::{Read, Reads};
use crate::error::{Error, Result};

/// A queue of reads on threads, each of which makes one positional read at a time. Works on every disk.
#[derive(Debug)]
pub struct ThreadReads {
    requests: Option<Sender<Read>>,
    done: Receiver<(Read, Result<()>)>,
    threads: Vec<JoinHandle<()>>,
    under_way: usize,
}

impl ThreadReads {
    /// Starts `count` threads that read a file.
    ///
    /// # Errors
    /// [`Error::Io`] if the system refuses them.
    pub fn start(file: &Arc<dyn File>, count: usize) -> Result<Self> {
        let (requests, pending) = unbounded::<Read>();
        let (answers, done) = unbounded();
        let mut threads = Vec::new();
        for k in 0..count.max(1) {
            let (reader, pending, answers) = (Arc::clone(file), pending.clone(), answers.clone());
            let work = move || {
                for mut read in pending {
                    let result = read_pages(reader.as_ref(), &mut read);
                    if answers.send((read, result)).is_err() {
                        break;
                    }
                }
            };
            let thread = std::thread::Builder::new().name(format!("esker-read-{k}")).spawn(work);
            threads.push(thread.map_err(Error::io("start a thread to read", file.path()))?);
        }
        Ok(Self { requests: Some(requests), done, threads, under_way: 0 })
    }
}

/// Reads whole pages, unless the file ends earlier.
fn read_pages(file: &dyn File, read: &mut Read) -> Result<()> {
    let end = read.bytes.next_multiple_of(DIRECT_BYTES);
    let mut have = 0;
    while have < read.bytes {
        let at = read.offset + have as u64;
        match file.read_at(&mut read.frame[have..end], at)? {
            0 => return Err(Error::corrupt(file.path(), at, "the file ends too early")),
            bytes => have += bytes,
        }
    }
    Ok(())
}

impl Reads for ThreadReads {
    fn begin(&mut self, reads: &mut Vec<Read>) -> Result<()> {
        for read in reads.drain(..) {
            if self.requests.as_ref().is_some_and(|requests| requests.send(read).is_ok()) {
                self.under_way += 1;
            }
        }
        Ok(())
    }

    fn finish(&mut self, wait: bool, done: &mut Vec<(Read, Result<()>)>) -> Result<()> {
        let first = if wait && self.under_way > 0 { self.done.recv().ok() } else { None };
        let all = first.into_iter().chain(self.done.try_iter());
        let before = done.len();
        done.extend(all);
        self.under_way -= done.len() - before;
        Ok(())
    }

    fn under_way(&self) -> usize {
        self.under_way
    }
}

impl Drop for ThreadReads {
    fn drop(&mut self) {
        drop(self.requests.take());
        for thread in self.threads.drain(..) {
            // The thread does not panic, and its results are not needed any more.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::io::Frame;
    use crate::io::{Disk, Faults, FaultyDisk, Files, RealDisk};

    fn read_all(reads: &mut dyn Reads, content: &[u8], frames: Vec<Frame>) -> Result<()> {
        let bytes = frames[0].len();
        let mut asks: Vec<_> = frames
            .into_iter()
            .enumerate()
            .map(|(tag, frame)| {
                let offset = tag * bytes;
                Read { tag, frame, offset: offset as u64, bytes: bytes.min(content.len() - offset) }
            })
            .collect();
        let count = asks.len();
        reads.begin(&mut asks)?;
        let mut seen = 0;
        while reads.under_way() > 0 {
            let mut done = Vec::new();
            reads.finish(true, &mut done)?;
            for (read, result) in done {
                result?;
                let offset = read.offset as usize;
                assert!(
                    read.frame[..read.bytes] == content[offset..offset + read.bytes],
                    "read {}",
                    read.tag
                );
                seen += 1;
            }
        }
        assert_eq!(seen, count);
        Ok(())
    }

    fn content() -> Vec<u8> {
        (0..100_001u32).map(|k| (k * 7 + k / 256) as u8).collect()
    }

    #[test]
    fn threads_read_the_content_or_return_an_error() {
        let disk = FaultyDisk::new(3);
        disk.write(Path::new("f"), &content()).unwrap();
        let file = disk.open(Path::new("f")).unwrap();
        for short_reads in [false, true] {
            disk.set_faults(Faults { short_reads, ..Faults::default() });
            let mut reads = ThreadReads::start(&file, 3).unwrap();
            read_all(&mut reads, &content(), Frame::make(13, 8192).unwrap()).unwrap();
        }
        disk.set_faults(Faults { fail_at: Some(5), ..Faults::default() });
        let mut reads = ThreadReads::start(&file, 2).unwrap();
        assert!(read_all(&mut reads, &content(), Frame::make(13, 8192).unwrap()).is_err());
    }

    #[test]
    fn all_queues_read_a_real_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        RealDisk.write(&path, &content()).unwrap();
        let direct = RealDisk.open_direct(&path).unwrap();
        read_all(&mut ThreadReads::start(&direct, 2).unwrap(), &content(), Frame::make(13, 8192).unwrap())
            .unwrap();
        let frames = Frame::make(13, 8192).unwrap();
        if let Some(mut reads) = direct.reads(4, &frames).unwrap() {
            read_all(reads.as_mut(), &content(), frames).unwrap();
            // Drops the queue with reads under way.
            let mut asks: Vec<_> = Frame::make(4, 8192)
                .unwrap()
                .into_iter()
                .enumerate()
                .map(|(tag, frame)| Read { tag, frame, offset: 0, bytes: 8192 })
                .collect();
            reads.begin(&mut asks).unwrap();
            drop(reads);
            // The file ends before the requested range.
            let frames = Frame::make(1, 8192).unwrap();
            let mut reads = direct.reads(4, &frames).unwrap().unwrap();
            let beyond = 13 * 8192;
            let ask = |frame| Read { tag: 0, frame, offset: beyond, bytes: 8192 };
            reads.begin(&mut frames.into_iter().map(ask).collect()).unwrap();
            let mut done = Vec::new();
            reads.finish(true, &mut done).unwrap();
            assert!(matches!(done[0].1, Err(Error::Corrupt { .. })));
        }
    }
}
