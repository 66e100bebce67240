//! Rows: the lists of one direction over borrowed slices, wherever these live (heap or mapped file), and the scan over them.

use std::sync::{Mutex, PoisonError};

use crate::bitmap::Bitmap;
use crate::graph::{Flow, Piece, Select, Visitor, Weight};
use crate::id::{VertexId, vertex};
use crate::run::{Run, Stop};

/// Lists longer than this are handed over last, in pieces that all threads share: whoever met one within a unit of work would still
/// be busy with it when the others are done.
const HUGE_LEN: usize = 1 << 18;
/// Length of those pieces. They are the same whatever the number of threads.
const PIECE_LEN: usize = 1 << 16;
/// Entries (edges plus vertices) below which a scan stays on the calling thread: a few tens of microseconds.
const SERIAL_ENTRIES_MAX: usize = 1 << 13;
/// Entries that one unit of shared work holds at most, when there is enough work.
const UNIT_ENTRIES: usize = 1 << 16;
/// Vertices of a list whose first entries are read side by side.
const BATCH: usize = 16;
/// Units per worker when there is less, so that uneven units even out.
const UNITS_PER_WORKER: usize = 16;

/// The lists of one direction: `targets[offsets[v]..offsets[v + 1]]` ascending, weights alongside.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a, W> {
    offsets: &'a [u64],
    targets: &'a [VertexId],
    weights: &'a [W],
}

impl<'a, W: Weight> Rows<'a, W> {
    /// Borrows the three arrays.
    ///
    /// # Errors
    /// [`Stop::Unsuitable`] unless there is at least one offset, the last offset equals the length of
    /// `targets`, and `weights` is as long. That offsets ascend and targets are below the number of vertices is the
    /// caller's duty; a breach makes scans panic.
    pub fn new(offsets: &'a [u64], targets: &'a [VertexId], weights: &'a [W]) -> Result<Self, Stop> {
        let fits = offsets.last().is_some_and(|&end| end == targets.len() as u64);
        if !fits || weights.len() != targets.len() {
            return Err(Stop::Unsuitable("the arrays of the rows do not fit together".to_owned()));
        }
        Ok(Self { offsets, targets, weights })
    }

    /// As [`Rows::new`], of arrays that are known to fit together.
    pub(crate) fn of(offsets: &'a [u64], targets: &'a [VertexId], weights: &'a [W]) -> Self {
        Self { offsets, targets, weights }
    }

    /// Number of vertices.
    pub fn num_vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Where the list of each vertex begins, and the end of the last.
    pub fn offsets(&self) -> &'a [u64] {
        self.offsets
    }

    /// All lists, one after another.
    pub fn targets(&self) -> &'a [VertexId] {
        self.targets
    }

    /// The weights beside [`Rows::targets`].
    pub fn weights(&self) -> &'a [W] {
        self.weights
    }

    /// Length of the list of `v`.
    #[inline(always)]
    pub fn degree(&self, v: VertexId) -> usize {
        (self.offsets[v as usize + 1] - self.offsets[v as usize]) as usize
    }

    /// The list of `v` and its weights.
    #[inline(always)]
    pub fn list(&self, v: VertexId) -> (&'a [VertexId], &'a [W]) {
        let range = self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize;
        (&self.targets[range.clone()], &self.weights[range])
    }

    /// The weights of the edges from `u` to `v`: several if they are parallel, none if there is no edge. O(log of the degree).
    pub fn between(&self, u: VertexId, v: VertexId) -> &'a [W] {
        let (targets, weights) = self.list(u);
        let first = targets.partition_point(|&target| target < v);
        &weights[first..targets.partition_point(|&target| target <= v)]
    }

    /// See [`crate::Graph::scan`].
    ///
    /// # Errors
    /// [`Stop::Cancelled`].
    pub fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>, Stop> {
        let shares = run.threads() > 1 && !run.deterministic();
        let pass = Pass { rows: *self, run, visitor, huge: shares.then(Mutex::default) };
        let states = match select {
            Select::All => pass.ranges(|first, end, state| pass.offer_all(state, first, end)),
            Select::Bits(bits) => pass.ranges(|first, end, state| pass.offer_bits(state, bits, first, end)),
            Select::List(list) => pass.list(list),
        }?;
        pass.offer_huge(states)
    }

    /// The first vertex before whose list at least `entry` vertices and edges lie.
    fn vertex_at_entry(&self, entry: u64) -> usize {
        let (mut low, mut high) = (0, self.num_vertices());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.offsets[middle] + (middle as u64) < entry {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Reads where the lists of a batch begin, and then their first entries. Listed vertices lie anywhere, so each of these
    /// reads may miss all caches; here the misses of a batch pass side by side, in a visit one would wait for the other.
    #[inline(always)]
    fn touch(&self, batch: &[VertexId]) {
        let mut starts = [0; BATCH];
        for (start, &v) in starts.iter_mut().zip(batch) {
            *start = self.offsets[v as usize] as usize;
        }
        for &start in &starts[..batch.len()] {
            std::hint::black_box((self.targets.get(start).copied(), self.weights.get(start).copied()));
        }
    }

    fn is_handful(&self, list: &[VertexId]) -> bool {
        let mut entries = list.len();
        entries <= SERIAL_ENTRIES_MAX
            && list.iter().all(|&v| {
                entries += self.degree(v);
                entries <= SERIAL_ENTRIES_MAX
            })
    }
}

/// One scan of rows.
struct Pass<'p, 'a, W, V> {
    rows: Rows<'a, W>,
    run: &'p Run,
    visitor: &'p V,
    /// The vertices whose huge lists are still to be handed over; `None` if each is when its turn comes. So it is in a run of one thread,
    /// and in a deterministic one: a sum of numbers depends on the order of its parts.
    huge: Option<Mutex<Vec<VertexId>>>,
}

impl<W: Weight, V: Visitor<W>> Pass<'_, '_, W, V> {
    /// Shares ranges of vertices that hold about equally many entries and begin at multiples of 64.
    fn ranges(
        &self,
        range: impl Fn(usize, usize, &mut V::State) -> Result<(), Stop> + Sync,
    ) -> Result<Vec<V::State>, Stop> {
        let (rows, run) = (&self.rows, self.run);
        let n = rows.num_vertices();
        let entries = n + rows.targets.len();
        let units = if entries <= SERIAL_ENTRIES_MAX || run.threads() == 1 {
            entries.div_ceil(UNIT_ENTRIES)
        } else {
            entries.div_ceil(UNIT_ENTRIES).max(run.threads() * UNITS_PER_WORKER)
        };
        let bound = |unit: usize| {
            let entry = (entries as u128 * unit as u128 / units.max(1) as u128) as u64;
            rows.vertex_at_entry(entry).next_multiple_of(64).min(n)
        };
        run.share(
            units,
            || self.visitor.new_state(),
            |state, unit| range(bound(unit), bound(unit + 1), state),
        )
    }

    fn list(&self, list: &[VertexId]) -> Result<Vec<V::State>, Stop> {
        let run = self.run;
        if run.threads() == 1 || self.rows.is_handful(list) {
            let mut state = self.visitor.new_state();
            run.check()?;
            self.offer_list(&mut state, list)?;
            return Ok(vec![state]);
        }
        let unit = (list.len() / (run.threads() * UNITS_PER_WORKER)).clamp(1, 1 << 10);
        run.share(
            list.len().div_ceil(unit),
            || self.visitor.new_state(),
            |state, i| self.offer_list(state, &list[i * unit..((i + 1) * unit).min(list.len())]),
        )
    }

    /// Which of the vertices of a range are wanted and have neighbours is found 64 at a time, without a branch for each.
    #[inline(always)]
    fn offer_all(&self, state: &mut V::State, first: usize, end: usize) -> Result<(), Stop> {
        for first in (first..end).step_by(64) {
            let bounds = &self.rows.offsets[first..=end.min(first + 64)];
            let mut wanted = 0;
            for (i, bounds) in bounds.windows(2).enumerate() {
                let is = (bounds[0] < bounds[1]) & self.visitor.wants(vertex(first + i));
                wanted |= u64::from(is) << i;
            }
            self.offer_block(state, first, wanted)?;
        }
        Ok(())
    }

    fn offer_bits(&self, state: &mut V::State, bits: &Bitmap, first: usize, end: usize) -> Result<(), Stop> {
        for first in (first..end).step_by(64) {
            let mut wanted = bits.word(first / 64);
            for i in ones(wanted) {
                let is = self.visitor.wants(vertex(first + i));
                wanted &= !(u64::from(!is) << i);
            }
            self.offer_block(state, first, wanted)?;
        }
        Ok(())
    }

    /// Offers some of the 64 vertices from `first` on. If visits may end early, lists are read in part, which the processor does
    /// not foresee: then the first entries of all are read ahead.
    #[inline(always)]
    fn offer_block(&self, state: &mut V::State, first: usize, wanted: u64) -> Result<(), Stop> {
        if V::STOPS {
            for i in ones(wanted) {
                let start = self.rows.offsets[first + i] as usize;
                std::hint::black_box(self.rows.targets.get(start).copied());
            }
        }
        ones(wanted).try_for_each(|i| self.offer(state, vertex(first + i)))
    }

    fn offer_list(&self, state: &mut V::State, list: &[VertexId]) -> Result<(), Stop> {
        for batch in list.chunks(BATCH) {
            self.rows.touch(batch);
            batch.iter().try_for_each(|&v| self.offer(state, v))?;
        }
        Ok(())
    }

    #[inline(always)]
    fn offer(&self, state: &mut V::State, v: VertexId) -> Result<(), Stop> {
        if !self.visitor.wants(v) {
            return Ok(());
        }
        let (targets, weights) = self.rows.list(v);
        if targets.len() > HUGE_LEN {
            return self.defer(state, v);
        }
        if !targets.is_empty() {
            self.visitor.visit(state, v, Piece { targets, weights, exclusive: true });
        }
        Ok(())
    }

    /// Leaves a huge list for later, or hands it over piece by piece.
    #[cold]
    #[inline(never)]
    fn defer(&self, state: &mut V::State, v: VertexId) -> Result<(), Stop> {
        if let Some(huge) = &self.huge {
            huge.lock().unwrap_or_else(PoisonError::into_inner).push(v);
            return Ok(());
        }
        for piece in 0..self.pieces(v) {
            self.run.check()?;
            if self.offer_piece(state, v, piece, true) == Flow::Enough {
                break;
            }
        }
        Ok(())
    }

    fn pieces(&self, v: VertexId) -> usize {
        self.rows.degree(v).div_ceil(PIECE_LEN)
    }

    fn offer_piece(&self, state: &mut V::State, v: VertexId, piece: usize, exclusive: bool) -> Flow {
        let (targets, weights) = self.rows.list(v);
        let range = piece * PIECE_LEN..targets.len().min((piece + 1) * PIECE_LEN);
        self.visitor.visit(
            state,
            v,
            Piece { targets: &targets[range.clone()], weights: &weights[range], exclusive },
        )
    }

    /// Hands over the lists that were left, once nobody holds a vertex alone any more.
    fn offer_huge(self, states: Vec<V::State>) -> Result<Vec<V::State>, Stop> {
        let left = self
            .huge
            .as_ref()
            .map(|huge| std::mem::take(&mut *huge.lock().unwrap_or_else(PoisonError::into_inner)));
        let left = left.unwrap_or_default();
        if left.is_empty() {
            return Ok(states);
        }
        let mut ends = Vec::with_capacity(left.len());
        let mut total = 0;
        for &v in &left {
            total += self.pieces(v);
            ends.push(total);
        }
        let enough = Bitmap::new(left.len());
        // Workers go on with the states that they had.
        let states = Mutex::new(states);
        let lock = || states.lock().unwrap_or_else(PoisonError::into_inner);
        let used = self.run.share(
            total,
            || lock().pop().unwrap_or_else(|| self.visitor.new_state()),
            |state, i| {
                let at = ends.partition_point(|&end| end <= i);
                let first = if at == 0 { 0 } else { ends[at - 1] };
                let v = left[at];
                if !enough.get(vertex(at))
                    && self.visitor.wants(v)
                    && self.offer_piece(state, v, i - first, false) == Flow::Enough
                {
                    enough.insert(vertex(at));
                }
                Ok::<(), Stop>(())
            },
        )?;
        let mut states = states.into_inner().unwrap_or_else(PoisonError::into_inner);
        states.extend(used);
        Ok(states)
    }
}

/// The numbers of the bits of a word that are one, ascending.
#[inline(always)]
fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            bit
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_bits() {
        assert_eq!(ones(0).count(), 0);
        assert_eq!(ones(1 << 63 | 0b101).collect::<Vec<_>>(), [0, 2, 63]);
    }
}
