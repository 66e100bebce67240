//! Disks in memory. One of them injects faults, reproducibly from a seed.

pub(crate) mod names;
pub(crate) mod memory;
pub(crate) mod pending;
pub(crate) mod inode;
pub(crate) mod faults;
pub(crate) mod state;
pub(crate) mod faulty;
#[cfg(test)]
pub(crate) mod tests;
