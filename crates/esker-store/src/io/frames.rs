//! Memory for reads past the page cache: frames of equal size, aligned to pages, made once.
#![allow(unsafe_code)] // Frames are parts of one allocation, and the kernel writes to them while a read is under way.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::error::{Error, Result};

/// What direct reads are aligned to: places in memory, in files, and lengths.
pub const DIRECT_BYTES: usize = 4096;

/// The allocation that frames are parts of; it lives as long as any of them.
#[derive(Debug)]
struct Arena {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it is never accessed itself, only through frames, which do not overlap.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout; no frame is left, each keeps the arena.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// A part of memory that nobody else has. Dropped, it is lost to its arena until that ends.
#[derive(Debug)]
pub struct Frame {
    arena: Arc<Arena>,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it owns its part of memory.
unsafe impl Send for Frame {}
// SAFETY: a shared frame gives shared slices only.
unsafe impl Sync for Frame {}

impl Frame {
    /// As many frames as asked for, of so many bytes each (a multiple of [`DIRECT_BYTES`]), one behind the other.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no memory, or the size is none.
    pub fn make(count: usize, bytes: usize) -> Result<Vec<Self>> {
        let layout = count.checked_mul(bytes).and_then(|all| Layout::from_size_align(all, DIRECT_BYTES).ok());
        let layout = layout.filter(|layout| layout.size() > 0 && bytes.is_multiple_of(DIRECT_BYTES));
        let layout = layout
            .ok_or_else(|| Error::Invalid(format!("{count} frames of {bytes} bytes cannot be made")))?;
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(|| {
            Error::Invalid(format!("there is no memory for {} bytes of frames: give less", layout.size()))
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

    /// Where it begins.
    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// The memory of all frames of its arena.
    pub(super) fn arena(&self) -> (*mut u8, usize) {
        (self.arena.start.as_ptr(), self.arena.layout.size())
    }
}

impl Deref for Frame {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: its own part of the allocation, which is initialised.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

impl DerefMut for Frame {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and nobody else has it.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_aligned_and_apart() {
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
