//! Estimates the memory of commits, and holds what is reserved for them.

use parking_lot::{Condvar, Mutex, MutexGuard};

use esker_graph::{Budget, Reservation, VertexId};

use super::shown::ShownState;
use super::unfrozen::OpRef;
use crate::commit::{Batch, CommitEdge};
use crate::freeze::EdgeChange;

/// What each commit takes in addition to its changes.
pub(super) const COMMIT_BYTES: u64 = 4096;
/// An entry of a hash table at a load of one half, as just after the table grew; it takes more while the
/// table grows.
const ENTRY_BYTES: u64 = 2 * (size_of::<VertexId>() + size_of::<OpRef>() + 1) as u64;
/// An edge on its way into the tables, divided among shards.
const UPDATE_BYTES: u64 = 2 * (2 * size_of::<VertexId>() + size_of::<OpRef>() + 4) as u64;
/// Copies of the texts of a batch: in the commit, in its record, and among the known texts.
const TEXT_COPIES: u64 = 2;
/// An edge while the edges of a commit are put in order to find duplicates.
const ORDER_BYTES: u64 = (size_of::<EdgeChange>() + 1) as u64;
/// The vertices of the ids of an edge that are looked up together.
const KNOWN_BYTES: u64 = 2 * size_of::<VertexId>() as u64;

/// Memory reserved for commits.
#[derive(Debug)]
pub(super) struct CommitMemory {
    held: Mutex<HeldMemory>,
    /// Signalled when a commit ends.
    ended: Condvar,
}

#[derive(Debug)]
pub(super) struct HeldMemory {
    /// For the commits in no layer, and for freezing them.
    pub(super) unfrozen: Reservation,
    /// Number of commits that have a reservation of their own.
    pub(super) in_progress: usize,
    /// Bytes that the writer keeps as long as the database is open: the texts of edge properties, and the
    /// removed vertices.
    pub(super) kept_bytes: u64,
}

impl CommitMemory {
    pub(super) fn new(budget: &Budget) -> Self {
        let unfrozen = budget.try_reserve(0).expect("nothing always fits");
        let held = HeldMemory { unfrozen, in_progress: 0, kept_bytes: 0 };
        Self { held: Mutex::new(held), ended: Condvar::new() }
    }

    pub(super) fn held(&self) -> MutexGuard<'_, HeldMemory> {
        self.held.lock()
    }

    /// Begins a commit whose own memory is reserved.
    pub(super) fn begin(&self, held: &mut HeldMemory, reservation: Reservation) -> CommitReservation<'_> {
        held.in_progress += 1;
        CommitReservation { memory: self, reservation: Some(reservation) }
    }

    /// Waits until a commit ends.
    pub(super) fn wait(&self, mut held: MutexGuard<'_, HeldMemory>) {
        self.ended.wait(&mut held);
    }
}

/// Memory reserved for one commit. When the commit ends, it belongs to the commits in no layer, so that no
/// other user of the budget takes it before they are counted anew.
#[derive(Debug)]
pub(super) struct CommitReservation<'a> {
    memory: &'a CommitMemory,
    reservation: Option<Reservation>,
}

impl Drop for CommitReservation<'_> {
    fn drop(&mut self) {
        let mut held = self.memory.held();
        held.in_progress -= 1;
        if let Some(reservation) = self.reservation.take() {
            held.unfrozen.absorb(reservation);
        }
        self.memory.ended.notify_all();
    }
}

/// The estimated memory for one edge change.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommitCosts {
    /// In a commit, and while the commit is built.
    pub(super) commit_bytes: u64,
    /// In the index of commits in no layer, which is stored twice.
    pub(super) index_bytes: u64,
    /// During the freeze.
    pub(super) freeze_bytes: u64,
}

impl CommitCosts {
    /// The memory to read a commit with this many edges and content from the log, and to freeze it.
    pub(super) fn replay_bytes(self, edges: u64, payload_bytes: u64) -> u64 {
        // The content is there as it was read, as it is being decoded, and decoded.
        let decoding = payload_bytes.saturating_mul(3);
        decoding.saturating_add(edges.saturating_mul(self.freeze_bytes)).saturating_add(COMMIT_BYTES)
    }

    /// The memory to hold a batch with `changes` changes, to commit it and to freeze it.
    pub(super) fn of_batch(self, batch: &Batch, changes: usize) -> u64 {
        let edges = changes as u64 * (self.commit_bytes + self.freeze_bytes);
        edges + TEXT_COPIES * batch.text_bytes() as u64 + batch.bytes() as u64 + COMMIT_BYTES
    }

    /// The memory of what cannot lie in a scratch file: texts are many small pieces.
    pub(super) fn of_texts(batch: &Batch) -> u64 {
        (1 + TEXT_COPIES) * batch.text_bytes() as u64 + COMMIT_BYTES
    }

    pub(super) fn of(shown: &ShownState) -> Self {
        let layer = shown.below.layer();
        let values_bytes = 8 * shown.below.edge_properties().count() as u64;
        let op_bytes = size_of::<CommitEdge>() as u64 + values_bytes;
        let lists = if layer.directed && !layer.in_edges { 1 } else { 2 };
        let index_bytes = 2 * lists * ENTRY_BYTES;
        let commit_bytes = 3 * op_bytes + index_bytes + UPDATE_BYTES + ORDER_BYTES + KNOWN_BYTES;
        let copies = if layer.directed { 1 } else { 2 };
        let freeze_bytes = values_bytes + (1 + copies) * size_of::<EdgeChange>() as u64;
        Self { commit_bytes, index_bytes, freeze_bytes }
    }
}
