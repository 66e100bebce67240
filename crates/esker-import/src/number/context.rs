//! Limits that follow from the budget, and sharing out partitions among the threads.

use parking_lot::Mutex;
use std::sync::Arc;

use esker_format::{Error, Result};
use esker_layers::ids::IdHasher;

use crate::sort::scratch::{Shelf, Workspace};

/// Bits of the hash by which a partition that is too large is cut again.
pub(super) const CUT_BITS: u32 = 6;

/// Largest block of a lane, in bytes. A larger record has a block of its own.
pub(super) const BLOCK_BYTES_MAX: usize = 1 << 15;

/// What the steps of the numbering share.
#[derive(Clone)]
pub(super) struct Context {
    pub(super) work: Workspace,
    /// The hash of the database's ids.
    pub(super) hasher: IdHasher,
    /// Bytes of the budget that lanes leave free for tables.
    pub(super) keep_free_bytes: u64,
    /// Bytes that each thread may take for a table when the budget is used up: few enough to be part of the
    /// fixed costs.
    pub(super) allowance_bytes: u64,
    /// Bytes of a block of a lane.
    pub(super) block_bytes: usize,
    /// Where the lanes of a phase are kept. Its file goes with the last of them.
    pub(super) shelf: Arc<Shelf>,
    /// Where the ids are kept until the order of the vertices is known.
    pub(super) lasting: Arc<Shelf>,
    /// Bytes of the budget that lists kept beyond the numbering leave free. It is most of the budget: the
    /// steps in between are far faster in memory, and those lists are read in order, so they may as well lie
    /// on disk.
    pub(super) keep_free_after_bytes: u64,
}

impl Context {
    pub(super) fn new(work: &Workspace, hasher: IdHasher) -> Self {
        let limit = work.budget.limit_bytes();
        let keep_free_bytes = limit / 4;
        Self {
            work: work.clone(),
            hasher,
            keep_free_bytes,
            allowance_bytes: (limit / 256).clamp(1 << 9, 1 << 20),
            // 256 open blocks are at most a sixteenth of the limit, but for the smallest.
            block_bytes: (limit as usize / 4096).clamp(1 << 12, BLOCK_BYTES_MAX),
            shelf: Arc::new(Shelf::new(work, keep_free_bytes)),
            lasting: Arc::new(Shelf::new(work, limit - keep_free_bytes)),
            keep_free_after_bytes: limit - keep_free_bytes,
        }
    }

    /// The same with a new shelf, for another phase.
    pub(super) fn next_phase(&self) -> Self {
        Self { shelf: Arc::new(Shelf::new(&self.work, self.keep_free_bytes)), ..self.clone() }
    }
}

/// Does `work` on each item, in parallel; the results in the order of the items.
pub(super) fn on_each<T: Send, R: Send>(
    context: &Context,
    items: Vec<T>,
    work: impl Fn(T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let items: Vec<_> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let take = |index: usize| items[index].lock().take();
    let done = context.work.run.share(items.len(), Vec::new, |results, index| {
        if let Some(item) = take(index) {
            results.push((index, work(item)?));
        }
        Ok::<_, Error>(())
    })?;
    let mut done: Vec<_> = done.into_iter().flatten().collect();
    done.sort_by_key(|&(index, _)| index);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}
