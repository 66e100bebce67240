//! Shares and sums of vertices side by side, for graphs that keep each edge once.
//!
//! An edge that is kept once needs the share and the sum of both of its ends: in one cache line, they miss it
//! half as often. Sums are fixed-point, so neither the order of edges nor the number of threads changes them.
//! The rows of a patch are often short, and the processor does not foresee the length of a short row: so no
//! loop ends with a row.

use std::ops::Range;

use esker_graph::{End, Patch, Run, STRIP_LEN, VertexId, vertex};

use super::array::{ArrayValue, VertexValues};

/// A number in 0..4 as a multiple of 2^-62. Sums of such numbers do not depend on their order.
#[inline(always)]
pub(crate) fn to_fixed(number: f64) -> u64 {
    (number * FIXED_ONE) as u64
}

/// The inverse of [`to_fixed`].
#[inline(always)]
pub(crate) fn from_fixed(fixed: u64) -> f64 {
    fixed as f64 / FIXED_ONE
}

/// A number of either sign, of a magnitude less than 2, as a multiple of 2^-62. It is that of [`to_fixed`] if
/// the number is not negative.
#[inline(always)]
pub(super) fn to_signed(number: f64) -> u64 {
    ((number * FIXED_ONE) as i64).cast_unsigned()
}

/// The inverse of [`to_signed`].
#[inline(always)]
pub(super) fn from_signed(fixed: u64) -> f64 {
    fixed.cast_signed() as f64 / FIXED_ONE
}

const FIXED_ONE: f64 = (1u64 << 62) as f64;

/// The share and the sum of each vertex of a range. Memory: 16 bytes a vertex.
pub(super) struct Flows {
    first: usize,
    /// Share and sum of each vertex in turn.
    pairs: VertexValues<u64>,
}

type FlowCell = <u64 as ArrayValue>::Atomic;

/// Entries of a row that are written whatever its length.
const ROW_LEN: usize = 8;

impl Flows {
    /// Zeros for `len` vertices.
    pub(super) fn new(run: &Run, len: usize) -> Self {
        Self { first: 0, pairs: VertexValues::filled(run, 2 * len, 0) }
    }

    /// A copy of the shares of some vertices, with sums of zero.
    fn part(&self, vertices: Range<usize>) -> Self {
        let pair = |v| [u64::load(&self.pair(vertex(v))[0]), 0];
        let pairs: Vec<u64> = vertices.clone().flat_map(pair).collect();
        Self { first: vertices.start, pairs: pairs.into() }
    }

    fn has(&self, v: VertexId) -> bool {
        (v as usize).checked_sub(self.first).is_some_and(|at| at < self.pairs.len() / 2)
    }

    #[inline(always)]
    fn cells(&self) -> &[[FlowCell; 2]] {
        self.pairs.cells().as_chunks().0
    }

    #[inline(always)]
    fn pair(&self, v: VertexId) -> &[FlowCell; 2] {
        &self.cells()[v as usize - self.first]
    }

    /// The share of `v`.
    #[inline(always)]
    pub(super) fn given(&self, v: VertexId) -> u64 {
        u64::load(&self.pair(v)[0])
    }

    /// Sets the share of `v`.
    #[inline(always)]
    pub(super) fn give(&self, v: VertexId, given: u64) {
        u64::store(&self.pair(v)[0], given);
    }

    /// Turns each share into a value, in the same memory.
    pub(super) fn into_given(self, f: impl Fn(VertexId, f64) -> f64) -> Vec<f64> {
        let mut words = self.pairs.into_vec();
        let n = words.len() / 2;
        for v in 0..n {
            words[v] = f(vertex(v), from_signed(words[2 * v])).to_bits();
        }
        words.truncate(n);
        words.shrink_to_fit();
        words.into_iter().map(f64::from_bits).collect()
    }

    /// Returns the sum of `v` and resets it to zero.
    #[inline(always)]
    pub(super) fn take(&self, v: VertexId) -> u64 {
        let received = u64::load(&self.pair(v)[1]);
        u64::store(&self.pair(v)[1], 0);
        received
    }

    /// Adds to the sum of `v`; `alone` if no other thread does at the same time.
    #[inline(always)]
    pub(super) fn add(&self, v: VertexId, more: u64, alone: bool) {
        if alone { add::<true>(self.pair(v), more) } else { add::<false>(self.pair(v), more) }
    }
}

#[inline(always)]
fn add<const ALONE: bool>(pair: &[FlowCell; 2], more: u64) {
    if ALONE {
        u64::store(&pair[1], u64::load(&pair[1]).wrapping_add(more));
    } else {
        u64::add(&pair[1], more);
    }
}

/// The state of one worker.
#[derive(Default)]
pub(super) struct FlowWorker {
    /// A copy for a strip of vertices to which other threads add at the same time. One MiB, which a
    /// second-level cache holds.
    own: Option<Flows>,
    /// The share of the row of each entry of a patch; and the sum of the columns' shares up to each entry.
    of_rows: Vec<u64>,
    up_to: Vec<u64>,
}

impl FlowWorker {
    /// Begins to add up for the strip of `v`, unless the worker does already.
    fn enter(&mut self, flows: &Flows, v: VertexId) {
        if self.own.as_ref().is_some_and(|own| own.has(v)) {
            return;
        }
        self.leave(flows);
        let first = v as usize - v as usize % STRIP_LEN;
        self.own = Some(flows.part(first..(first + STRIP_LEN).min(flows.pairs.len() / 2)));
    }

    /// Adds the worker's own sums to those of all.
    pub(super) fn leave(&mut self, flows: &Flows) {
        let Some(own) = self.own.take() else { return };
        for (v, pair) in (own.first..).zip(own.cells()) {
            let sum = u64::load(&pair[1]);
            if sum > 0 {
                flows.add(vertex(v), sum, false);
            }
        }
    }

    /// Adds the share of each entry's row to its column, and the reverse, as far as the patch says so.
    pub(super) fn along<W>(&mut self, flows: &Flows, patch: &Patch<'_, W>) {
        let (Some(&row), Some(&column)) = (patch.rows.first(), patch.columns.first()) else { return };
        // If other threads add to both strips, a copy of the columns saves more: a row is written once, its
        // columns each.
        if matches!(patch.to_columns, End::Taken { exclusive: false }) {
            self.enter(flows, column);
        } else if matches!(patch.to_rows, End::Taken { exclusive: false }) {
            self.enter(flows, row);
        }
        self.of_rows.resize(self.of_rows.len().max(patch.columns.len() + ROW_LEN), 0);
        self.up_to.resize(self.up_to.len().max(patch.columns.len()), 0);
        let own = |v| self.own.as_ref().filter(|own| own.has(v));
        let (rows, columns) = (own(row), own(column));
        let rows_alone = rows.is_some() || patch.to_rows.is_exclusive();
        let columns_alone = columns.is_some() || patch.to_columns.is_exclusive();
        let (rows, columns) = (rows.unwrap_or(flows), columns.unwrap_or(flows));
        if patch.to_columns.is_taken() {
            spread(patch, rows, &mut self.of_rows);
        }
        match (patch.to_rows.is_taken(), patch.to_columns.is_taken(), columns_alone) {
            (true, true, true) => both::<true, W>(patch, columns, &self.of_rows, &mut self.up_to),
            (true, true, false) => both::<false, W>(patch, columns, &self.of_rows, &mut self.up_to),
            (false, true, true) => forth::<true, W>(patch, columns, &self.of_rows),
            (false, true, false) => forth::<false, W>(patch, columns, &self.of_rows),
            (true, false, _) => back(patch, columns, &mut self.up_to),
            (false, false, _) => return,
        }
        if patch.to_rows.is_taken() {
            let mut before = 0;
            for (&row, &end) in patch.rows.iter().zip(patch.ends) {
                let up_to = self.up_to[end as usize - 1];
                rows.add(row, up_to.wrapping_sub(before), rows_alone);
                before = up_to;
            }
        }
    }
}

/// Writes the share of the row of each entry.
fn spread<W>(patch: &Patch<'_, W>, rows: &Flows, of_rows: &mut [u64]) {
    for (row, range) in patch.iter() {
        let share = rows.given(row);
        if let Some(first) = of_rows[range.start..].first_chunk_mut::<ROW_LEN>() {
            *first = [share; ROW_LEN];
        }
        if range.len() > ROW_LEN {
            of_rows[range.start + ROW_LEN..range.end].fill(share);
        }
    }
}

/// Adds shares of rows to columns, and sums up shares of columns.
#[inline(never)]
fn both<const ALONE: bool, W>(patch: &Patch<'_, W>, columns: &Flows, of_rows: &[u64], up_to: &mut [u64]) {
    let (cells, first) = (columns.cells(), columns.first);
    let mut sum = 0u64;
    for ((&column, &of_row), up_to) in patch.columns.iter().zip(of_rows).zip(up_to) {
        let pair = &cells[column as usize - first];
        sum = sum.wrapping_add(u64::load(&pair[0]));
        *up_to = sum;
        add::<ALONE>(pair, of_row);
    }
}

/// Adds shares of rows to columns.
#[inline(never)]
fn forth<const ALONE: bool, W>(patch: &Patch<'_, W>, columns: &Flows, of_rows: &[u64]) {
    let (cells, first) = (columns.cells(), columns.first);
    for (&column, &of_row) in patch.columns.iter().zip(of_rows) {
        add::<ALONE>(&cells[column as usize - first], of_row);
    }
}

/// Sums up shares of columns.
#[inline(never)]
fn back<W>(patch: &Patch<'_, W>, columns: &Flows, up_to: &mut [u64]) {
    let (cells, first) = (columns.cells(), columns.first);
    let mut sum = 0u64;
    for (&column, up_to) in patch.columns.iter().zip(up_to) {
        sum = sum.wrapping_add(u64::load(&cells[column as usize - first][0]));
        *up_to = sum;
    }
}

#[cfg(test)]
mod tests {
    use esker_graph::{End, VertexId};

    use super::*;

    #[test]
    fn every_entry_flows_to_the_ends_that_are_taken() {
        let run = Run::with_threads(1).unwrap();
        let columns: Vec<VertexId> = (0..40).map(|k| k % 10 + 10).collect();
        let (taken, shared) = (End::Taken { exclusive: true }, End::Taken { exclusive: false });
        for (to_rows, to_columns) in [
            (taken, taken),
            (shared, shared),
            (taken, End::Skipped),
            (End::Skipped, taken),
            (End::Skipped, shared),
        ] {
            let patch = Patch {
                rows: &[3, 4, 9],
                ends: &[1, 13, 40],
                columns: &columns,
                weights: &[(); 40],
                to_rows,
                to_columns,
            };
            let mut expected = vec![0u64; 20];
            for (row, range) in patch.iter() {
                for &column in &columns[range] {
                    expected[row as usize] += if to_rows.is_taken() { 1 << column } else { 0 };
                    expected[column as usize] += if to_columns.is_taken() { 1 << row } else { 0 };
                }
            }
            let flows = Flows::new(&run, 20);
            (0..20).for_each(|v| flows.give(v, 1 << v));
            let mut worker = FlowWorker::default();
            worker.along(&flows, &patch);
            worker.leave(&flows);
            assert_eq!((0..20).map(|v| flows.take(v)).collect::<Vec<_>>(), expected);
            assert_eq!(flows.take(12), 0);
        }
    }
}
