//! What commits take of memory, by estimate, and what is promised to those on their way.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use esker_graph::VertexId;

use super::live::OpRef;
use super::view::View;
use crate::commit::EdgeOp;
use crate::freeze::EdgeChange;

/// What each commit takes besides its changes.
pub(super) const COMMIT_BYTES: u64 = 4096;
/// An entry of a hash table, at a load of a half: so it is where tables have just grown, and more while one grows.
const ENTRY_BYTES: u64 = 2 * (size_of::<VertexId>() + size_of::<OpRef>() + 1) as u64;
/// An edge on its way into the tables, divided among shards.
const UPDATE_BYTES: u64 = 2 * (2 * size_of::<VertexId>() + size_of::<OpRef>() + 4) as u64;

/// What was promised to commits that are on their way.
#[derive(Debug, Default)]
pub(super) struct Promises {
    bytes: Mutex<u64>,
    /// Less is promised than before.
    kept: Condvar,
}

impl Promises {
    /// What is promised now.
    pub(super) fn bytes(&self) -> MutexGuard<'_, u64> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Promises so much more.
    pub(super) fn promise<'a>(&'a self, mut promised: MutexGuard<'a, u64>, bytes: u64) -> Room<'a> {
        *promised += bytes;
        Room { promises: self, bytes }
    }

    /// Returns once less may be promised.
    pub(super) fn wait(&self, promised: MutexGuard<'_, u64>) {
        drop(self.kept.wait(promised).unwrap_or_else(PoisonError::into_inner));
    }
}

/// Room for a commit, until this is dropped.
#[derive(Debug)]
pub(super) struct Room<'a> {
    promises: &'a Promises,
    bytes: u64,
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        *self.promises.bytes() -= self.bytes;
        self.promises.kept.notify_all();
    }
}

/// What a change of an edge takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Costs {
    /// As a commit, and on the way there.
    pub(super) commit_bytes: u64,
    /// While it is frozen.
    pub(super) freeze_bytes: u64,
}

impl Costs {
    pub(super) fn of(view: &View) -> Self {
        let layer = view.below.layer();
        let values_bytes = 8 * view.below.edge_properties().count() as u64;
        let op_bytes = size_of::<EdgeOp>() as u64 + values_bytes;
        let lists = if layer.directed && !layer.in_edges { 1 } else { 2 };
        // The tables are kept twice.
        let commit_bytes = 3 * op_bytes + 2 * lists * ENTRY_BYTES + UPDATE_BYTES;
        let copies = if layer.directed { 1 } else { 2 };
        let freeze_bytes = values_bytes + (1 + copies) * size_of::<EdgeChange>() as u64;
        Self { commit_bytes, freeze_bytes }
    }
}
