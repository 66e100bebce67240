//! The scan driver: cuts a scan into units of work, shares them among the threads of a run, and hands over
//! huge lists last.
//!
//! The driver knows neither the visitor nor where lists lie; a [`ScanWorker`] knows both. The driver calls it
//! through a pointer once for some ten thousand entries, so that costs nothing, and the driver is compiled
//! once for all algorithms and graphs.

use parking_lot::Mutex;
use std::ops::Range;

use crate::bitmap::Bitmap;
use crate::graph::{Flow, Select};
use crate::id::{VertexId, vertex};
use crate::run::Run;
use crate::stop::Stop;

/// Entries (vertices plus arcs) below which a scan stays on the calling thread: a few tens of microseconds.
const SERIAL_ENTRIES_MAX: usize = 1 << 13;
/// The same for selected lists while the threads of the run are awake.
const SHORT_ENTRIES_MAX: usize = 1 << 8;
/// Entries below which each thread takes one part of a selected list.
const FEW_ENTRIES_MAX: usize = 1 << 15;
/// Vertices of a selected list in one unit, at most.
const LIST_UNIT_MAX: usize = 1 << 10;
/// Arcs in a piece of a huge list. The same whatever the number of threads.
const PIECE_LEN: usize = 1 << 16;

/// The sizes of the lists of one direction.
pub trait Extents: Sync {
    /// Number of vertices.
    fn num_vertices(&self) -> usize;

    /// Vertices and arcs before vertex `v`; `v` may be the number of vertices.
    fn entries_before(&self, v: usize) -> usize;

    /// Length of the list of `v`.
    fn degree(&self, v: VertexId) -> usize;

    /// The vertices of `list` and the lengths of their lists, or a lesser number once that is more than
    /// `most`.
    fn entries_of(&self, list: &[VertexId], most: usize) -> usize {
        let mut entries = list.len();
        for &v in list {
            entries += self.degree(v);
            if entries > most {
                break;
            }
        }
        entries
    }
}

/// How the driver cuts a scan.
#[derive(Debug, Clone, Copy)]
pub struct Units {
    /// Entries of a unit, if there is enough work.
    pub entries: usize,
    /// Units for each thread if there is less work, so that uneven units even out.
    pub per_thread: usize,
}

impl Default for Units {
    fn default() -> Self {
        Self { entries: 1 << 16, per_thread: 16 }
    }
}

/// One worker of a scan: a thread's buffers, its visitor and the visitor's state.
pub trait ScanWorker<E>: Send {
    /// Hands over the lists of a range of vertices, all or those in `bits`. The range begins at a multiple
    /// of 64. Lists that are too long to hand over whole go to `huge` instead.
    ///
    /// # Errors
    /// The first list that cannot be read; cancellation.
    fn range(
        &mut self,
        vertices: Range<usize>,
        bits: Option<&Bitmap>,
        huge: &mut Vec<VertexId>,
    ) -> Result<(), E>;

    /// Hands over the lists of the given vertices; `huge` as in [`ScanWorker::range`].
    ///
    /// # Errors
    /// As [`ScanWorker::range`].
    fn list(&mut self, vertices: &[VertexId], huge: &mut Vec<VertexId>) -> Result<(), E>;

    /// Hands over some arcs of a huge list if its vertex is still wanted. `exclusive`: see [`crate::Piece`].
    ///
    /// # Errors
    /// As [`ScanWorker::range`].
    fn piece(&mut self, _v: VertexId, _arcs: Range<usize>, _exclusive: bool) -> Result<Flow, E> {
        Ok(Flow::More)
    }
}

/// Scans the selected lists with workers made by `new_worker`. Workers are dropped before the function
/// returns.
///
/// # Errors
/// The first error of a worker; [`Stop::Cancelled`].
pub fn drive<'w, E: From<Stop> + Send>(
    run: &Run,
    extents: &dyn Extents,
    units: Units,
    select: Select<'_>,
    new_worker: &(dyn Fn() -> Box<dyn ScanWorker<E> + 'w> + Sync),
) -> Result<(), E> {
    let shares = run.threads() > 1 && !run.deterministic();
    let scan = Drive { run, extents, units, new_worker, huge: shares.then(Mutex::default) };
    let workers = match select {
        Select::All => scan.ranges(None),
        Select::Bits(bits) => scan.ranges(Some(bits)),
        Select::List(list) => scan.list(list),
    }?;
    scan.hand_over_huge(workers)
}

/// What a worker does with a unit; it sets huge lists aside.
type UnitWork<'f, E> = dyn Fn(&mut dyn ScanWorker<E>, usize, &mut Vec<VertexId>) -> Result<(), E> + Sync + 'f;

type BoxedWorker<'w, E> = Box<dyn ScanWorker<E> + 'w>;

/// One scan.
struct Drive<'p, 'w, E> {
    run: &'p Run,
    extents: &'p dyn Extents,
    units: Units,
    new_worker: &'p (dyn Fn() -> BoxedWorker<'w, E> + Sync),
    /// Vertices whose huge lists wait for the end of the scan, where all threads share them. `None`: each is
    /// handed over right after its unit, in a run of one thread and in a deterministic one, where sums of
    /// floating-point numbers depend on the order of their parts.
    huge: Option<Mutex<Vec<VertexId>>>,
}

impl<'w, E: From<Stop> + Send> Drive<'_, 'w, E> {
    /// Shares ranges of vertices that hold about equally many entries and begin at multiples of 64.
    fn ranges(&self, bits: Option<&Bitmap>) -> Result<Vec<BoxedWorker<'w, E>>, E> {
        let n = self.extents.num_vertices();
        let entries = self.extents.entries_before(n);
        let mut units = entries.div_ceil(self.units.entries);
        if entries > SERIAL_ENTRIES_MAX && self.run.threads() > 1 {
            units = units.max(self.run.threads() * self.units.per_thread);
        }
        let bound = |unit: usize| {
            let entry = (entries as u128 * unit as u128 / units.max(1) as u128) as usize;
            self.vertex_at_entry(entry).next_multiple_of(64).min(n)
        };
        self.share(units, &|worker, unit, huge| worker.range(bound(unit)..bound(unit + 1), bits, huge))
    }

    fn list(&self, list: &[VertexId]) -> Result<Vec<BoxedWorker<'w, E>>, E> {
        let threads = self.run.threads();
        // Of a few lists each thread takes one part, so that in the next round it meets what it left in its
        // cache.
        let parts = |count: usize| list.len().div_ceil(count).max(1);
        let unit = match self.few_entries(list) {
            None if threads == 1 => LIST_UNIT_MAX,
            Some(entries) if entries <= SHORT_ENTRIES_MAX => parts(1),
            Some(entries) if !self.run.short_step() && entries <= SERIAL_ENTRIES_MAX => parts(1),
            Some(_) => parts(threads),
            None => parts(threads * self.units.per_thread).min(LIST_UNIT_MAX),
        };
        self.share(list.len().div_ceil(unit), &|worker, i, huge| {
            worker.list(&list[i * unit..((i + 1) * unit).min(list.len())], huge)
        })
    }

    /// The entries of the lists, if they are few and there are several threads.
    fn few_entries(&self, list: &[VertexId]) -> Option<usize> {
        if self.run.threads() == 1 || list.len() > FEW_ENTRIES_MAX {
            return None;
        }
        let entries = self.extents.entries_of(list, FEW_ENTRIES_MAX);
        (entries <= FEW_ENTRIES_MAX).then_some(entries)
    }

    /// The first vertex with at least `entry` entries before it.
    fn vertex_at_entry(&self, entry: usize) -> usize {
        let (mut low, mut high) = (0, self.extents.num_vertices());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.extents.entries_before(middle) < entry {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn share(&self, units: usize, work: &UnitWork<'_, E>) -> Result<Vec<BoxedWorker<'w, E>>, E> {
        let new_worker = || ((self.new_worker)(), Vec::new());
        let workers = self.run.share(units, new_worker, |(worker, huge), unit| {
            work(worker.as_mut(), unit, huge)?;
            if huge.is_empty() { Ok(()) } else { self.defer(worker.as_mut(), huge) }
        })?;
        Ok(workers.into_iter().map(|(worker, _)| worker).collect())
    }

    /// Leaves huge lists for the end of the scan, or hands them over piece by piece.
    #[cold]
    fn defer(&self, worker: &mut dyn ScanWorker<E>, huge: &mut Vec<VertexId>) -> Result<(), E> {
        if let Some(shared) = &self.huge {
            shared.lock().append(huge);
            return Ok(());
        }
        for v in huge.drain(..) {
            for arcs in pieces(self.extents.degree(v)) {
                self.run.check()?;
                if worker.piece(v, arcs, true)? == Flow::Enough {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Shares the lists that were left, now that no thread holds a vertex alone.
    fn hand_over_huge(self, workers: Vec<BoxedWorker<'w, E>>) -> Result<(), E> {
        let Some(huge) = self.huge else { return Ok(()) };
        let huge = huge.into_inner();
        let all: Vec<(usize, Range<usize>)> = huge
            .iter()
            .enumerate()
            .flat_map(|(at, &v)| pieces(self.extents.degree(v)).map(move |arcs| (at, arcs)))
            .collect();
        if all.is_empty() {
            return Ok(());
        }
        let enough = Bitmap::new(huge.len());
        // Workers go on with the states that they have.
        let workers = Mutex::new(workers);
        let next = || workers.lock().pop();
        self.run.share(
            all.len(),
            || next().unwrap_or_else(|| (self.new_worker)()),
            |worker, i| {
                let (at, arcs) = &all[i];
                let slot = vertex(*at);
                if !enough.get(slot) && worker.piece(huge[*at], arcs.clone(), false)? == Flow::Enough {
                    enough.insert(slot);
                }
                Ok::<(), E>(())
            },
        )?;
        Ok(())
    }
}

/// The pieces of a huge list.
fn pieces(degree: usize) -> impl Iterator<Item = Range<usize>> {
    (0..degree).step_by(PIECE_LEN).map(move |first| first..degree.min(first + PIECE_LEN))
}
