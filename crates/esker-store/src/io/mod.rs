//! The only door to the disk.
//!
//! Everything in this crate that touches a file does it through [`Disk`]; `clippy.toml` bans `std::fs` elsewhere.
//! [`RealDisk`] is the operating system; [`MemoryDisk`] keeps files that need not outlive the process; [`FaultyDisk`] is a
//! disk in memory that fails, forgets and lies on demand.
//! Dispatch is dynamic: a call moves at least a block, and mapped bytes are read without any call.

mod map;
mod scratch;
mod frames;
mod reads;
mod disk;
mod threads;
#[cfg(target_os = "linux")]
mod uring;
mod cursor;
mod real;
mod names;
mod memory;
mod pending;
mod faulty;

pub use cursor::Cursor;
pub use disk::{Disk, Entry, File, Files, Lock, parent};
pub use faulty::{Faults, FaultyDisk};
pub use frames::{DIRECT_BYTES, Frame};
pub use map::Map;
pub use memory::MemoryDisk;
pub use reads::{Read, Reads};
pub use real::{RealDisk, input_bytes, open_input};
pub use scratch::{Memory, Scratch};
pub use threads::ThreadReads;
#[cfg(all(test, target_os = "linux"))]
pub(crate) use uring::refuse_rings;
