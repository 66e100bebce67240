//! Estimates the memory of commits, and holds the reservations of commits in progress.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use esker_graph::VertexId;

use super::unfrozen::OpRef;
use super::view::View;
use crate::commit::EdgeOp;
use crate::freeze::EdgeChange;

/// What each commit takes in addition to its changes.
pub(super) const COMMIT_BYTES: u64 = 4096;
/// An entry of a hash table at a load of one half, as just after the table grew; it takes more while the table
/// grows.
const ENTRY_BYTES: u64 = 2 * (size_of::<VertexId>() + size_of::<OpRef>() + 1) as u64;
/// An edge on its way into the tables, divided among shards.
const UPDATE_BYTES: u64 = 2 * (2 * size_of::<VertexId>() + size_of::<OpRef>() + 4) as u64;

/// The reservations of commits in progress.
#[derive(Debug, Default)]
pub(super) struct CommitReservations {
    /// The sum of all reservations.
    bytes: Mutex<u64>,
    /// Signalled when a reservation ends.
    released: Condvar,
}

impl CommitReservations {
    /// The bytes reserved now.
    pub(super) fn bytes(&self) -> MutexGuard<'_, u64> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a reservation.
    pub(super) fn reserve<'a>(
        &'a self,
        mut reserved: MutexGuard<'a, u64>,
        bytes: u64,
    ) -> CommitReservation<'a> {
        *reserved += bytes;
        CommitReservation { reservations: self, bytes }
    }

    /// Waits until a reservation ends.
    pub(super) fn wait(&self, reserved: MutexGuard<'_, u64>) {
        drop(self.released.wait(reserved).unwrap_or_else(PoisonError::into_inner));
    }
}

/// Memory reserved for a commit, until this is dropped.
#[derive(Debug)]
pub(super) struct CommitReservation<'a> {
    reservations: &'a CommitReservations,
    bytes: u64,
}

impl Drop for CommitReservation<'_> {
    fn drop(&mut self) {
        *self.reservations.bytes() -= self.bytes;
        self.reservations.released.notify_all();
    }
}

/// The estimated memory for one edge change.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommitCosts {
    /// In a commit, and while the commit is built.
    pub(super) commit_bytes: u64,
    /// During the freeze.
    pub(super) freeze_bytes: u64,
}

impl CommitCosts {
    pub(super) fn of(view: &View) -> Self {
        let layer = view.below.layer();
        let values_bytes = 8 * view.below.edge_properties().count() as u64;
        let op_bytes = size_of::<EdgeOp>() as u64 + values_bytes;
        let lists = if layer.directed && !layer.in_edges { 1 } else { 2 };
        // The index is stored twice.
        let commit_bytes = 3 * op_bytes + 2 * lists * ENTRY_BYTES + UPDATE_BYTES;
        let copies = if layer.directed { 1 } else { 2 };
        let freeze_bytes = values_bytes + (1 + copies) * size_of::<EdgeChange>() as u64;
        Self { commit_bytes, freeze_bytes }
    }
}
