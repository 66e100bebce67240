//! What `pins` is synchronised by: the standard library's, or another in `tests/interleave`.

pub(super) use std::sync::atomic::{AtomicBool, Ordering};
pub(super) use std::sync::{Arc, RwLock};

/// Lets others go on: for a moment first, then for longer.
pub(super) fn pause(waited: u32) {
    match waited {
        0..100 => std::hint::spin_loop(),
        100..1000 => std::thread::yield_now(),
        _ => std::thread::sleep(std::time::Duration::from_micros(50)),
    }
}
