//! Memory for direct reads: frames of equal size, aligned to pages, allocated once.
#![allow(unsafe_code)] // Frames are parts of one allocation, and the kernel writes to them during a read.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::error::{Error, Result};

/// Alignment of direct reads: of memory addresses, file offsets and lengths.
pub const DIRECT_BYTES: usize = 4096;

/// The allocation that holds a set of frames; freed with the last of them.
#[derive(Debug)]
struct Arena {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the memory is accessed only through frames, which do not overlap.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout. No frame is left: each keeps a reference to the arena.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// Memory with one owner. A dropped frame's memory is not reused; the arena frees it with the last frame.
#[derive(Debug)]
pub struct Frame {
    arena: Arc<Arena>,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a frame owns its memory.
unsafe impl Send for Frame {}
// SAFETY: a shared frame gives out only shared slices.
unsafe impl Sync for Frame {}

impl Frame {
    /// Allocates `count` adjacent frames of `bytes` each, a multiple of [`DIRECT_BYTES`].
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no memory, or if the size is zero, too large or not a multiple.
    pub fn make(count: usize, bytes: usize) -> Result<Vec<Self>> {
        let layout = count.checked_mul(bytes).and_then(|all| Layout::from_size_align(all, DIRECT_BYTES).ok());
        let layout = layout.filter(|layout| layout.size() > 0 && bytes.is_multiple_of(DIRECT_BYTES));
        let layout = layout.ok_or_else(|| {
            Error::invalid(format!(
                "cannot allocate {count} frames of {bytes} bytes: use a multiple of {DIRECT_BYTES} bytes"
            ))
        })?;
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(|| {
            Error::invalid(format!(
                "there is no memory for {} bytes of frames: lower the memory limit",
                layout.size()
            ))
        })?;
        let arena = Arc::new(Arena { start, layout });
        let frame = |k: usize| Self {
            arena: Arc::clone(&arena),
            // SAFETY: within the allocation.
            start: unsafe { start.add(k * bytes) },
            bytes,
        };
        Ok((0..count).map(frame).collect())
    }

    /// The address of its first byte.
    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Address and size of the arena.
    pub(super) fn arena(&self) -> (*mut u8, usize) {
        (self.arena.start.as_ptr(), self.arena.layout.size())
    }
}

impl Deref for Frame {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the frame's own part of the allocation, which is initialised.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

impl DerefMut for Frame {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the frame is its only owner.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_aligned_and_do_not_overlap() {
        let mut frames = Frame::make(3, 8192).unwrap();
        for (k, frame) in frames.iter_mut().enumerate() {
            assert!(
                frame.as_ptr().addr().is_multiple_of(DIRECT_BYTES) && frame.iter().all(|&byte| byte == 0)
            );
            frame.fill(k as u8 + 1);
        }
        let last = frames.pop().unwrap();
        drop(frames.remove(0));
        assert!(last.iter().all(|&byte| byte == 3) && frames[0].iter().all(|&byte| byte == 2));
        assert!(Frame::make(0, 4096).is_err() && Frame::make(1, 100).is_err());
        assert!(Frame::make(usize::MAX / 4096, 4096).is_err());
    }
}
