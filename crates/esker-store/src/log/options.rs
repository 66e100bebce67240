//! Options of the log, and where it begins.

use std::path::{Path, PathBuf};
use std::time::Duration;

use esker_format::{DatabaseId, LogMark, ManifestHead};

/// The directory of the log of a database.
pub(crate) fn log_directory(database: &Path) -> PathBuf {
    database.join("log")
}

/// When to sync commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sync {
    /// Before acknowledging the commit: acknowledged commits survive the death of the process and a power
    /// failure.
    #[default]
    Always,
    /// At this interval, by a background thread: a power failure loses at most the commits since the last
    /// sync.
    Interval(Duration),
    /// When a segment is full, when the log is closed, and when the operating system decides. The death of
    /// the process loses nothing.
    Never,
}

/// Options for writing the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogOptions {
    /// When to sync commits.
    pub(crate) sync: Sync,
    /// Size from which on a segment is full, so that the next commit begins a new one.
    pub(crate) segment_bytes: u64,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self { sync: Sync::Always, segment_bytes: 64 << 20 }
    }
}

/// The manifest's state that the log depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogStart {
    /// The database.
    pub(crate) database: DatabaseId,
    /// The first version that is not in a layer.
    pub(crate) first_version: u64,
    /// The checksum of the commit before, which is in a layer; `None`: not known, and not compared.
    pub(crate) previous: Option<u32>,
    /// The last record of the manifest.
    pub(crate) manifest: ManifestHead,
    /// How far the log reaches at least; `None` before the first commit.
    pub(crate) mark: Option<LogMark>,
}
