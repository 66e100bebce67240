//! Giving freed memory back to the system.
#![allow(unsafe_code)] // Two calls of the C library; see below.

use esker_graph::Budget;

/// A budget for work whose steps free memory in other sizes and on other threads than the next steps take it:
/// it makes the C library return what was freed before more is reserved. Without that, a writer that froze
/// and merged took 136 MiB under a limit of 64.
pub fn trimmed_budget(limit_bytes: u64) -> Budget {
    Budget::trimmed(limit_bytes, give_back)
}

/// Makes the C library's allocator map each block of at least 512 KiB by itself, in this process from now on,
/// so that such a block goes back to the system when it is freed. For programs that write within a limit.
///
/// Otherwise the allocator begins at 128 KiB, but takes blocks of up to 32 MiB from its heaps once one of
/// that size was freed. A writer with four edge properties that added and deleted 1 M edges in batches of
/// 50,000 within 64 MiB then took 202 MiB; with this, 88, in the same time. Does nothing with other C
/// libraries.
pub fn return_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const MMAP_THRESHOLD: std::ffi::c_int = -3;
        const LARGE_BYTES: std::ffi::c_int = 512 << 10;
        unsafe extern "C" {
            fn mallopt(option: std::ffi::c_int, value: std::ffi::c_int) -> std::ffi::c_int;
        }
        // SAFETY: it takes two numbers, may be called at any time from any thread, and takes the allocator's
        // lock itself. It changes from where blocks come that are allocated later.
        unsafe {
            mallopt(MMAP_THRESHOLD, LARGE_BYTES);
        }
    }
}

/// Makes the C library's allocator return what is free in its heaps.
///
/// It keeps freed blocks for its own reuse, in one heap for each thread, and raises the size from which
/// blocks are mapped by themselves as such blocks are freed. What a step of an import frees block by block
/// would so count against the process while the next step allocates in other sizes or on other threads. Costs
/// about a millisecond for each 100 MiB that are returned. Does nothing with other C libraries.
fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad_bytes: usize) -> std::ffi::c_int;
        }
        // SAFETY: it may be called at any time from any thread, takes the heaps' locks itself, and touches
        // free memory only. With another allocator in the program it finds nothing to return.
        unsafe {
            malloc_trim(0);
        }
    }
}
