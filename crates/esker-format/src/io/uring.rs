//! Reads by io_uring: batched, direct, into registered memory.
// Memory passed to the kernel must stay valid until the read ends: the ring keeps the frames until then.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::fmt;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use io_uring::{IoUring, opcode, squeue, types};

use super::disk;
use super::frames::{DIRECT_BYTES, Frame};
use super::reads::{Read, Reads};
use crate::error::{Error, Result};

/// The kernel's limit for a registered buffer; larger arenas are not registered.
const REGISTERED_MAX: usize = 1 << 30;

/// A ring and the reads under way in it.
pub(super) struct UringReads {
    ring: IoUring,
    direct: OwnedFd,
    /// The same file through the page cache, for the rest of a short read, whose offset may not be aligned.
    file: std::sync::Arc<dyn disk::File>,
    path: PathBuf,
    /// Address and size of the registered arena.
    registered: Option<(usize, usize)>,
    depth: usize,
    /// By slot.
    under_way: Vec<Option<Read>>,
    free: Vec<usize>,
    waiting: VecDeque<Read>,
    /// Whether the ring itself failed.
    is_broken: bool,
}

impl fmt::Debug for UringReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UringReads").field("path", &self.path).finish_non_exhaustive()
    }
}

impl UringReads {
    /// A ring for `depth` concurrent reads of a file; `None` if the system has no rings or forbids them.
    /// Registers the arena of `frames` if the system allows it.
    pub(super) fn start(
        path: &Path,
        direct: OwnedFd,
        file: std::sync::Arc<dyn disk::File>,
        depth: usize,
        frames: &[Frame],
    ) -> Option<Self> {
        let depth = depth.clamp(1, 1024).next_power_of_two();
        let ring = IoUring::new(depth as u32).ok()?;
        let mut probe = io_uring::Probe::new();
        ring.submitter().register_probe(&mut probe).ok()?;
        if !probe.is_supported(opcode::Read::CODE) {
            return None;
        }
        let arena = frames.first().map(Frame::arena).filter(|&(_, bytes)| bytes <= REGISTERED_MAX);
        let registered = arena.filter(|&(start, bytes)| {
            let buffer = libc_iovec(start, bytes);
            if !probe.is_supported(opcode::ReadFixed::CODE) {
                return false;
            }
            // SAFETY: the arena lives as long as its frames, and the kernel writes only to frames that this
            // ring keeps. The arena's pages stay pinned until the ring is dropped.
            unsafe { ring.submitter().register_buffers(&[buffer]) }.is_ok()
        });
        let registered = registered.map(|(start, bytes)| (start.addr(), bytes));
        let under_way = (0..depth).map(|_| None).collect();
        let free = (0..depth).collect();
        let waiting = VecDeque::new();
        let path = path.to_owned();
        Some(Self { ring, direct, file, path, registered, depth, under_way, free, waiting, is_broken: false })
    }

    /// Submits as many waiting reads as the ring has slots for.
    fn submit(&mut self, wait_for: usize) -> Result<()> {
        while let Some(&slot) = self.free.last() {
            let Some(mut read) = self.waiting.pop_front() else { break };
            let entry = self.entry(slot, &mut read);
            // SAFETY: `under_way` keeps the frame until the kernel reports completion.
            if unsafe { self.ring.submission().push(&entry) }.is_err() {
                self.waiting.push_front(read);
                break;
            }
            self.free.pop();
            self.under_way[slot] = Some(read);
        }
        loop {
            match self.ring.submit_and_wait(wait_for) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == std::io::ErrorKind::ResourceBusy => break,
                Err(e) => {
                    self.is_broken = true;
                    return Err(Error::io("read", &self.path)(e));
                }
                Ok(_) => break,
            }
        }
        Ok(())
    }

    fn entry(&self, slot: usize, read: &mut Read) -> squeue::Entry {
        // Whole pages: the kernel stops at the end of the file.
        let bytes = read.bytes.next_multiple_of(DIRECT_BYTES) as u32;
        let (fd, to) = (types::Fd(self.direct.as_raw_fd()), read.frame.as_mut_ptr());
        let is_registered = self.registered.is_some_and(|(start, bytes)| {
            let at = to.addr();
            at >= start && at + read.frame.len() <= start + bytes
        });
        let entry = if is_registered {
            opcode::ReadFixed::new(fd, to, bytes, 0).offset(read.offset).build()
        } else {
            opcode::Read::new(fd, to, bytes).offset(read.offset).build()
        };
        entry.user_data(slot as u64)
    }

    /// Takes completed reads from the ring.
    fn reap(&mut self, done: &mut Vec<(Read, Result<()>)>) {
        let entries: Vec<(u64, i32)> =
            self.ring.completion().map(|entry| (entry.user_data(), entry.result())).collect();
        for (slot, result) in entries {
            let Some(mut read) = self.under_way.get_mut(slot as usize).and_then(Option::take) else {
                continue;
            };
            self.free.push(slot as usize);
            let result = match usize::try_from(result) {
                Ok(bytes) if bytes >= read.bytes => Ok(()),
                Ok(bytes) => self.rest(&mut read, bytes),
                Err(_) => {
                    let reason = std::io::Error::from_raw_os_error(-result);
                    Err(Error::io("read", &self.path)(reason))
                }
            };
            done.push((read, result));
        }
    }

    fn rest(&self, read: &mut Read, have: usize) -> Result<()> {
        let bytes = read.bytes;
        self.file.read_exact_at(&mut read.frame[have..bytes], read.offset + have as u64)
    }
}

/// An arena's memory, in the kernel's form.
fn libc_iovec(start: *mut u8, bytes: usize) -> libc::iovec {
    libc::iovec { iov_base: start.cast(), iov_len: bytes }
}

impl Reads for UringReads {
    fn begin(&mut self, reads: &mut Vec<Read>) -> Result<()> {
        self.waiting.extend(reads.drain(..));
        if self.waiting.is_empty() { Ok(()) } else { self.submit(0) }
    }

    fn finish(&mut self, wait: bool, done: &mut Vec<(Read, Result<()>)>) -> Result<()> {
        let before = done.len();
        self.reap(done);
        let must_wait = wait && done.len() == before && self.under_way() > 0;
        if must_wait || !self.waiting.is_empty() {
            self.submit(usize::from(must_wait))?;
            self.reap(done);
        }
        Ok(())
    }

    fn under_way(&self) -> usize {
        self.depth - self.free.len() + self.waiting.len()
    }
}

impl Drop for UringReads {
    fn drop(&mut self) {
        self.waiting.clear();
        let mut done = Vec::new();
        while self.free.len() < self.depth && !self.is_broken && self.finish(true, &mut done).is_ok() {
            done.clear();
        }
        if self.free.len() < self.depth {
            // The kernel may still write to these frames: leak them, and with them their arena.
            self.under_way.drain(..).for_each(std::mem::forget);
        }
    }
}

/// Makes the system refuse rings to the calling thread from now on, as containers do, by a seccomp filter.
#[cfg(any(test, feature = "testing"))]
pub fn refuse_rings() {
    let instruction = |code: u32, jump_if, jump_else, k| libc::sock_filter {
        code: code as u16,
        jt: jump_if,
        jf: jump_else,
        k,
    };
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut program = [
        // Loads the number of the system call.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_io_uring_setup as u32),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, refuse),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the kernel copies the program during the call.
    let refused = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    assert!(refused, "cannot install the seccomp filter: {}", std::io::Error::last_os_error());
}
