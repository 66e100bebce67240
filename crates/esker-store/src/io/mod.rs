//! The only door to the disk.
//!
//! Everything in this crate that touches a file does it through [`Disk`]; `clippy.toml` bans `std::fs` elsewhere.
//! [`RealDisk`] is the operating system; [`MemoryDisk`] keeps files that need not outlive the process; [`FaultyDisk`] is a
//! disk in memory that fails, forgets and lies on demand.
//! Dispatch is dynamic: a call moves at least a block, and mapped bytes are read without any call.

mod map;
mod scratch;
mod disk;
mod cursor;
mod real;
mod names;
mod memory;
mod pending;
mod faulty;

pub use cursor::Cursor;
pub use disk::{Disk, Entry, File, Files, Lock, parent};
pub use faulty::{Faults, FaultyDisk};
pub use map::Map;
pub use memory::MemoryDisk;
pub use real::{RealDisk, input_bytes, open_input};
pub use scratch::{Memory, Scratch};
