//! How the log is kept, and where it begins.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::format::DatabaseId;

/// The directory of the log of a database.
pub fn log_directory(database: &Path) -> PathBuf {
    database.join("log")
}

/// When a commit is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sync {
    /// Before it is acknowledged: neither a dying process nor a loss of power undoes what was acknowledged.
    #[default]
    Always,
    /// By a thread, at such intervals: a loss of power takes at most what came since the last one.
    Interval(Duration),
    /// When a segment is full, when the log is closed, and when the operating system likes to. A dying process still loses nothing.
    Never,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogOptions {
    /// When a commit is made durable.
    pub sync: Sync,
    /// A new segment begins once one has so many bytes.
    pub segment_bytes: u64,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self { sync: Sync::Always, segment_bytes: 64 << 20 }
    }
}

/// What the manifest says, as far as it matters to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogStart {
    /// The database.
    pub database: DatabaseId,
    /// The first version that is in no layer.
    pub first_version: u64,
    /// Number of the last record of the manifest.
    pub manifest_records: u64,
}
