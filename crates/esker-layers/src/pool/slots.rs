//! The state of each extent of a pool: where it lies, and whether it may be evicted.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use esker_format::io::Frame;

/// An extent in memory.
#[derive(Debug)]
pub(super) struct Extent {
    pub(super) frame: Frame,
    /// One bit per block: set once its checksum matched.
    pub(super) verified: AtomicU32,
}

/// A range of an extent. The extent stays in memory until this is dropped.
#[derive(Debug)]
pub(crate) struct HeldExtent {
    pub(super) extent: Arc<Extent>,
    pub(super) range: Range<usize>,
}

impl std::ops::Deref for HeldExtent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.extent.frame[self.range.clone()]
    }
}

#[derive(Debug)]
pub(super) enum Slot {
    Absent,
    UnderWay,
    Present(Arc<Extent>),
}

#[derive(Debug)]
pub(super) struct SlotState {
    pub(super) free: Vec<Frame>,
    pub(super) slots: Vec<Slot>,
    /// Per extent: whether this scan wants units of it, and how many are left.
    pub(super) wanted: Vec<bool>,
    pub(super) remaining: Vec<u32>,
    /// Extents before this one have been read or given out in this scan.
    pub(super) next: usize,
    /// Per extent: the value of `now` when it was last used.
    pub(super) used: Vec<u64>,
    pub(super) now: u64,
    /// Extents in memory when the scan began that have not been given out yet.
    pub(super) rewound: VecDeque<u32>,
    /// Extents read in this scan that have not been given out yet.
    pub(super) arrived: Vec<u32>,
    /// Number of extents being read, or given out and not finished.
    pub(super) num_open: usize,
    /// Extents that this scan has read or given out, in this order.
    pub(super) opened: Vec<u32>,
    /// Extents found not to be needed any more, and how many others may be dropped before the algorithm is
    /// asked again.
    pub(super) unneeded: Vec<u32>,
    pub(super) patience: usize,
}

/// Marks an extent as being read or given out.
pub(super) fn open(state: &mut SlotState, extent: u32) {
    state.num_open += 1;
    state.now += 1;
    state.used[extent as usize] = state.now;
    state.opened.push(extent);
}

/// Whether an extent is in memory and not in use.
pub(super) fn is_idle(slot: &Slot) -> bool {
    matches!(slot, Slot::Present(there) if Arc::strong_count(there) == 1)
}

/// Whether an extent is in memory, not in use, and not wanted by this scan any more.
pub(super) fn can_go(state: &SlotState, extent: u32) -> bool {
    state.remaining[extent as usize] == 0 && is_idle(&state.slots[extent as usize])
}

pub(super) fn take_frame(state: &mut SlotState, extent: u32) -> Option<Frame> {
    if !can_go(state, extent) {
        return None;
    }
    take(&mut state.slots[extent as usize])
}

pub(super) fn take(slot: &mut Slot) -> Option<Frame> {
    match std::mem::replace(slot, Slot::Absent) {
        Slot::Present(there) => Arc::into_inner(there).map(|extent| extent.frame),
        Slot::Absent | Slot::UnderWay => None,
    }
}
