//! The synchronisation primitives of `pins`: the standard library's. `tests/interleave` replaces them by
//! loom's.

pub(super) use std::sync::atomic::{AtomicBool, Ordering};
pub(super) use std::sync::{Arc, RwLock};

/// Waits briefly, longer with a growing number of waits: spins, then yields, then sleeps.
pub(super) fn pause(waited: u32) {
    match waited {
        0..100 => std::hint::spin_loop(),
        100..1000 => std::thread::yield_now(),
        _ => std::thread::sleep(std::time::Duration::from_micros(50)),
    }
}
