//! Counts of what a run reads past the page cache.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The reads of one source in one way.
#[derive(Debug, Default)]
pub struct ReadCount {
    read_bytes: AtomicU64,
    kept_bytes: AtomicU64,
}

impl ReadCount {
    /// Counts bytes that came from the disk.
    pub fn add_read(&self, bytes: u64) {
        self.read_bytes.fetch_add(bytes, Relaxed);
    }

    /// Counts bytes that were still in memory.
    pub fn add_kept(&self, bytes: u64) {
        self.kept_bytes.fetch_add(bytes, Relaxed);
    }
}

/// What was read of one source in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceReads {
    /// The name of the source, such as the path of a file.
    pub source: String,
    /// How it was read, such as `pool`.
    pub way: &'static str,
    /// Bytes that came from the disk.
    pub read_bytes: u64,
    /// Bytes that were asked for again and were still in memory.
    pub kept_bytes: u64,
}

/// By source and way.
type ReadCounters = BTreeMap<(String, &'static str), Arc<ReadCount>>;

/// The counts of all sources. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct ReadLog(Arc<Mutex<ReadCounters>>);

impl ReadLog {
    /// The count of a source and a way.
    pub fn of(&self, source: impl Into<String>, way: &'static str) -> Arc<ReadCount> {
        let mut all = self.0.lock();
        Arc::clone(all.entry((source.into(), way)).or_default())
    }

    /// All counts so far, by the name of the source.
    pub fn all(&self) -> Vec<SourceReads> {
        let all = self.0.lock();
        let counts = all.iter().map(|((source, way), count)| SourceReads {
            source: source.clone(),
            way,
            read_bytes: count.read_bytes.load(Relaxed),
            kept_bytes: count.kept_bytes.load(Relaxed),
        });
        counts.collect()
    }
}
