//! Counts what came against what a header promised, so that a file that was cut short is never taken for
//! whole.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use esker_format::Result;

use super::blocks::input_error;

/// What a header promised. The producer says how many blocks there are, workers say what each held; whoever
/// comes last compares. Two atomic additions a block.
#[derive(Debug)]
pub(crate) struct BlockTally {
    path: Arc<PathBuf>,
    what: &'static str,
    promised: u64,
    seen: AtomicU64,
    parsed_blocks: AtomicU64,
    all_blocks: AtomicU64,
}

impl BlockTally {
    /// `what` names what is counted, in the plural.
    pub(crate) fn new(path: Arc<PathBuf>, what: &'static str, promised: u64) -> Arc<Self> {
        let (seen, parsed_blocks, all_blocks) =
            (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(u64::MAX));
        Arc::new(Self { path, what, promised, seen, parsed_blocks, all_blocks })
    }

    /// A worker parsed a block that held `count`.
    ///
    /// # Errors
    /// If it was the last, and the sum is not what was promised.
    pub(crate) fn parsed(&self, count: u64) -> Result<()> {
        self.seen.fetch_add(count, Ordering::SeqCst);
        let parsed = self.parsed_blocks.fetch_add(1, Ordering::SeqCst) + 1;
        self.compare(parsed, self.all_blocks.load(Ordering::SeqCst))
    }

    /// The producer handed out `blocks` in all.
    ///
    /// # Errors
    /// If all of them are parsed already, and the sum is not what was promised.
    pub(crate) fn finish(&self, blocks: u64) -> Result<()> {
        self.all_blocks.store(blocks, Ordering::SeqCst);
        self.compare(self.parsed_blocks.load(Ordering::SeqCst), blocks)
    }

    fn compare(&self, parsed: u64, all: u64) -> Result<()> {
        let seen = self.seen.load(Ordering::SeqCst);
        if parsed != all || seen == self.promised {
            return Ok(());
        }
        let remedy = if seen < self.promised {
            "the file is cut short; copy or download it again"
        } else {
            "the header is wrong, or two files were joined"
        };
        let reason =
            format!("the header promises {} {}, but {seen} came: {remedy}", self.promised, self.what);
        Err(input_error(&self.path, None, b"", reason))
    }
}
