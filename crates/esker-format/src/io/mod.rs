//! Disk access. No other module of this crate touches a file.
//!
//! All access goes through the trait [`Disk`]; `clippy.toml` bans `std::fs` elsewhere. [`RealDisk`] is the
//! operating system. [`MemoryDisk`] keeps files that need not outlive the process. [`FaultyDisk`] is a disk
//! in memory that injects faults on demand: failing operations, lost writes, flipped bits. Dispatch is
//! dynamic: a call moves at least a block, and reading mapped bytes takes no call.

mod table_of_maps;
mod file_id;
#[cfg(unix)]
mod watch;
mod map;
mod unnamed;
mod paging;
mod scratch;
mod frames;
mod reads;
mod disk;
mod mapped;
mod threads;
#[cfg(target_os = "linux")]
mod uring;
mod cursor;
mod outside;
mod locks;
mod real;
#[cfg(unix)]
mod temporary;
#[cfg(unix)]
mod private;
#[cfg(target_os = "linux")]
mod failing;
#[cfg(target_os = "linux")]
mod cached;
mod simulated;

#[cfg(target_os = "linux")]
pub use cached::cached_share;
pub use cursor::Cursor;
pub use disk::{DirectoryEntry, Disk, File, Files, Lock, NamedFile};
pub use disk::{copy, parent};
#[cfg(target_os = "linux")]
pub use failing::{end_on_failing_pages, outlive_failing_pages};
pub use file_id::FileId;
pub use frames::DIRECT_BYTES;
pub use frames::Frame;
pub use map::Map;
pub(crate) use mapped::MappedFile;
pub use outside::{are_same_file, expect_outside_databases};
pub use paging::{PagedHeap, Paging};
#[cfg(unix)]
pub use private::{read_private, write_private};
pub use reads::{Read, Reads};
pub use real::RealDisk;
pub use real::{InputId, input_bytes, input_id, open_input};
pub use scratch::Scratch;
pub use scratch::ScratchMemory;
pub use simulated::faults::Faults;
pub use simulated::faulty::FaultyDisk;
pub use simulated::memory::MemoryDisk;
#[cfg(unix)]
pub use temporary::TemporaryDirectory;
pub use threads::ThreadReads;
#[cfg(all(any(test, feature = "testing"), target_os = "linux"))]
pub use uring::refuse_rings;
#[cfg(unix)]
pub use watch::{ChangedMap, changed_map};

/// The system does not say.
#[cfg(not(target_os = "linux"))]
pub fn cached_share(_path: &std::path::Path) -> Option<f64> {
    None
}

/// Does nothing on this system: pages of mapped files that fail end the process by a signal.
#[cfg(not(target_os = "linux"))]
pub fn end_on_failing_pages(_code: i32) {}

/// Does nothing on this system: pages of mapped files that fail end the process by a signal.
#[cfg(not(target_os = "linux"))]
pub fn outlive_failing_pages() {}
