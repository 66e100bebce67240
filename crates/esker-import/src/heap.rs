//! Giving freed memory back to the system.
#![allow(unsafe_code)] // One call of the C library; see below.

/// Makes the C library's allocator return what is free in its heaps.
///
/// It keeps freed blocks for its own reuse, in one heap for each thread, and raises the size from which blocks are
/// mapped by themselves as such blocks are freed. What a step of an import frees block by block would so count
/// against the process while the next step allocates in other sizes or on other threads. Costs about a millisecond for
/// each 100 MiB that are returned. Does nothing with other C libraries.
pub(crate) fn give_back() {
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
