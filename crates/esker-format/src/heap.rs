//! Giving freed memory back to the system.
#![allow(unsafe_code)] // One call of the C library; see below.

use esker_graph::Budget;

/// A budget for work whose steps free memory in other sizes and on other threads than the next steps take it: it makes the C library
/// return what was freed before more is reserved. Without that, a writer that froze and merged took 136 MiB under a limit of 64.
pub fn trimmed_budget(limit_bytes: u64) -> Budget {
    Budget::trimmed(limit_bytes, give_back)
}

/// Makes the C library's allocator return what is free in its heaps.
///
/// It keeps freed blocks for its own reuse, in one heap for each thread, and raises the size from which blocks are
/// mapped by themselves as such blocks are freed. What a step of an import frees block by block would so count
/// against the process while the next step allocates in other sizes or on other threads. Costs about a millisecond for
/// each 100 MiB that are returned. Does nothing with other C libraries.
fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad_bytes: usize) -> std::ffi::c_int;
        }
        // SAFETY: it may be called at any time from any thread, takes the heaps' locks itself, and touches free
        // memory only. With another allocator in the program it finds nothing to return.
        unsafe {
            malloc_trim(0);
        }
    }
}
