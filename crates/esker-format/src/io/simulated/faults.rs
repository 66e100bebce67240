//! What a faulty disk injects.

use std::path::Path;

use crate::error::Error;

/// The faults that a [`crate::io::FaultyDisk`] injects. Operations count from 1: every call of a method of
/// [`crate::io::Disk`] or [`crate::io::File`] except `path`.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    /// The one operation that fails.
    pub fail_at: Option<u64>,
    /// The operation from which on all fail.
    pub die_at: Option<u64>,
    /// Capacity for the contents of all files.
    pub space_bytes: Option<u64>,
    /// Whether to refuse every operation that changes anything.
    pub read_only: bool,
    /// Whether to refuse [`crate::io::Disk::exchange`], as many file systems do.
    pub no_exchange: bool,
    /// Whether to refuse [`crate::io::Disk::link`], as some file systems do.
    pub no_links: bool,
    /// Whether reads return fewer bytes than requested.
    pub short_reads: bool,
    /// The operation that, if it reads or maps, returns data with one bit flipped.
    pub flip_read_at: Option<u64>,
}

/// The error of an operation that fails.
pub(crate) fn failure(action: &'static str, path: &Path) -> Error {
    Error::io(action, path)(std::io::Error::other("input/output error (injected)"))
}
