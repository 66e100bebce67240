//! Schedules the chunks of a scan: gives each to a thread.
//!
//! A chunk has edges for the vertices of two strips. If two threads wrote to a vertex, they would have to do
//! so atomically, which takes five times as long. So a chunk is given out only while no other thread holds
//! one of its strips. But in a graph with hubs, in degree order, most edges have an end in the first strip;
//! if one thread held it, the others would wait. Such a strip is *shared*: no thread holds it, the pieces of
//! its vertices are not exclusive, and a visitor may collect its own sums for it, which fit the second-level
//! cache.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::time::Duration;

use esker_format::Result;
use esker_graph::{Run, Tile};

use crate::pool::Supply;

/// The most chunks that wait for a strip before the schedule stops looking further.
const DEFERRED_MAX: usize = 4096;
/// How often a waiting thread looks for cancellation.
const PATIENCE: Duration = Duration::from_millis(10);
/// A strip is shared if more than this fraction of a thread's share of all edges ends in it.
const CROWDED: f64 = 0.25;

/// The ends to which a scan hands edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EdgeEnds {
    /// Edges go to the rows: an arc from row to column is in the list of the row.
    pub(super) rows: bool,
    /// Edges go to the columns.
    pub(super) columns: bool,
}

/// A chunk given out to a thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScheduledChunk {
    pub(super) chunk: usize,
    tile: Tile,
    /// Whether only this thread writes to the vertices of the rows.
    pub(super) rows_exclusive: bool,
    /// Whether only this thread writes to the vertices of the columns.
    pub(super) columns_exclusive: bool,
}

#[derive(Debug, Default)]
struct ScheduleState {
    /// Chunks that can be given out, in order.
    ready: VecDeque<u32>,
    /// Chunks passed over because a strip was held, by row.
    deferred: Vec<(u32, VecDeque<u32>)>,
    num_deferred: usize,
    /// Per strip: whether a thread holds it.
    held: Vec<bool>,
    has_ended: bool,
    has_failed: bool,
}

/// The tile of a chunk.
type TileOf<'a> = dyn Fn(usize) -> Tile + Sync + 'a;

/// Gives out chunks.
pub(super) struct Schedule<'a> {
    tile: &'a TileOf<'a>,
    sides: EdgeEnds,
    /// Per strip: whether it is shared. Empty if there is only one thread.
    shared: Vec<bool>,
    state: Mutex<ScheduleState>,
    changed: Condvar,
}

/// The number of edges that end in the rows and in the columns of each strip.
#[derive(Debug, Clone, Default)]
pub(super) struct Loads {
    rows: Vec<u64>,
    columns: Vec<u64>,
}

impl Loads {
    /// From the tile of each chunk, and the number of its edges.
    pub(super) fn new(num_strips: usize, chunks: impl Iterator<Item = (Tile, u64)>) -> Self {
        let mut loads = Self { rows: vec![0; num_strips], columns: vec![0; num_strips] };
        for (Tile { row, column }, num_edges) in chunks {
            loads.rows[row as usize] += num_edges;
            loads.columns[column as usize] += num_edges;
        }
        loads
    }

    /// The strips to share.
    fn shared(&self, sides: EdgeEnds, threads: usize) -> Vec<bool> {
        let share = self.rows.iter().sum::<u64>() as f64 / threads as f64;
        let crowded = |(&rows, &columns): (&u64, &u64)| {
            let rows = if sides.rows { rows } else { 0 };
            let columns = if sides.columns { columns } else { 0 };
            (rows + columns) as f64 > share * CROWDED
        };
        self.rows.iter().zip(&self.columns).map(crowded).collect()
    }
}

impl<'a> Schedule<'a> {
    pub(super) fn new(tile: &'a TileOf<'a>, loads: &Loads, sides: EdgeEnds, threads: usize) -> Self {
        let shared = if threads > 1 { loads.shared(sides, threads) } else { Vec::new() };
        let state = ScheduleState { held: vec![false; shared.len()], ..ScheduleState::default() };
        Self { tile, sides, shared, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, ScheduleState> {
        self.state.lock()
    }

    /// A chunk for the calling thread; `None` if there are no more, or a thread failed. `supply` adds chunks
    /// to give out; it is called whenever all have been, or wait for each other. If there are none yet,
    /// `wait` waits for some; it returns false if another thread already waits.
    pub(super) fn take(
        &self,
        run: &Run,
        supply: impl FnMut(&mut VecDeque<u32>) -> Result<Supply>,
        wait: impl Fn() -> Result<bool>,
    ) -> Result<Option<ScheduledChunk>> {
        let scheduled = self.next(run, supply, wait);
        if scheduled.is_err() {
            self.fail();
        }
        scheduled
    }

    fn next(
        &self,
        run: &Run,
        mut supply: impl FnMut(&mut VecDeque<u32>) -> Result<Supply>,
        wait: impl Fn() -> Result<bool>,
    ) -> Result<Option<ScheduledChunk>> {
        let mut state = self.lock();
        loop {
            if state.has_failed {
                return Ok(None);
            }
            run.check()?;
            if let Some(scheduled) = self.pick(&mut state) {
                return Ok(Some(scheduled));
            }
            if !state.has_ended && state.num_deferred < DEFERRED_MAX && state.ready.is_empty() {
                match supply(&mut state.ready)? {
                    Supply::More => {
                        self.changed.notify_all();
                        continue;
                    }
                    Supply::Later => {
                        drop(state);
                        let has_waited = wait()?;
                        state = self.lock();
                        if has_waited {
                            continue;
                        }
                    }
                    Supply::End => state.has_ended = true,
                }
            }
            if state.has_ended && state.ready.is_empty() && state.num_deferred == 0 {
                self.changed.notify_all();
                return Ok(None);
            }
            self.changed.wait_for(&mut state, PATIENCE);
        }
    }

    fn pick(&self, state: &mut ScheduleState) -> Option<ScheduledChunk> {
        for k in 0..state.deferred.len() {
            let (row, chunks) = &state.deferred[k];
            if self.sides.rows && self.is_held(state, *row) {
                continue;
            }
            if let Some(at) = chunks.iter().position(|&chunk| self.is_free(state, chunk)) {
                let chunk = state.deferred[k].1.remove(at)?;
                state.num_deferred -= 1;
                if state.deferred[k].1.is_empty() {
                    state.deferred.remove(k);
                }
                return Some(self.hold(state, chunk));
            }
        }
        while state.num_deferred < DEFERRED_MAX {
            let chunk = state.ready.pop_front()?;
            if self.is_free(state, chunk) {
                return Some(self.hold(state, chunk));
            }
            state.num_deferred += 1;
            let row = (self.tile)(chunk as usize).row;
            match state.deferred.iter_mut().find(|(other, _)| *other == row) {
                Some((_, chunks)) => chunks.push_back(chunk),
                None => state.deferred.push((row, VecDeque::from([chunk]))),
            }
        }
        None
    }

    fn is_shared(&self, strip: u32) -> bool {
        self.shared.get(strip as usize).copied().unwrap_or(false)
    }

    fn is_held(&self, state: &ScheduleState, strip: u32) -> bool {
        state.held.get(strip as usize).copied().unwrap_or(false)
    }

    fn is_free(&self, state: &ScheduleState, chunk: u32) -> bool {
        let Tile { row, column } = (self.tile)(chunk as usize);
        !(self.sides.rows && self.is_held(state, row) || self.sides.columns && self.is_held(state, column))
    }

    /// Notes whether a thread holds the strips of a tile that are not shared.
    fn set_held(&self, state: &mut ScheduleState, tile: Tile, is_held: bool) {
        for (strip, is_written) in [(tile.row, self.sides.rows), (tile.column, self.sides.columns)] {
            if let Some(held) =
                state.held.get_mut(strip as usize).filter(|_| is_written && !self.is_shared(strip))
            {
                *held = is_held;
            }
        }
    }

    fn hold(&self, state: &mut ScheduleState, chunk: u32) -> ScheduledChunk {
        let tile = (self.tile)(chunk as usize);
        self.set_held(state, tile, true);
        let (rows_shared, columns_shared) = (self.is_shared(tile.row), self.is_shared(tile.column));
        let (rows_exclusive, columns_exclusive) = (!rows_shared, !columns_shared);
        ScheduledChunk { chunk: chunk as usize, tile, rows_exclusive, columns_exclusive }
    }

    /// Takes back a chunk after it was decoded.
    pub(super) fn done(&self, chunk: ScheduledChunk) {
        self.set_held(&mut self.lock(), chunk.tile, false);
        if !self.shared.is_empty() {
            self.changed.notify_one();
        }
    }

    /// Stops giving out chunks.
    pub(super) fn fail(&self) {
        self.lock().has_failed = true;
        self.changed.notify_all();
    }
}
