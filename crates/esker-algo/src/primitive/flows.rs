//! What flows along edges from vertex to vertex, over graphs whose lists come in parts all over a scan: each vertex gives something to all
//! its neighbours, and receives a sum.
//!
//! Sums are fixed-point, so neither the order of edges nor the number of threads matters. What a vertex gives and what it has received lie
//! side by side: an edge that is kept once needs both at both of its ends, and with them in one cache line, half as many are missed. The
//! rows of a patch are often short, and how many entries a short row has, the processor does not foresee: so no loop ends with a row.

use std::ops::Range;

use esker_graph::{Patch, Run, VertexId, vertex};

use super::array::{Value, VertexValues};

/// A number of 0..4 as a multiple of 2^-62. Sums of such do not depend on their order.
#[inline(always)]
pub(crate) fn to_fixed(number: f64) -> u64 {
    (number * FIXED_ONE) as u64
}

/// The number that a multiple of 2^-62 is.
#[inline(always)]
pub(crate) fn from_fixed(fixed: u64) -> f64 {
    fixed as f64 / FIXED_ONE
}

const FIXED_ONE: f64 = (1u64 << 62) as f64;

/// What each vertex of a range gives, and what it has received. Memory: 16 bytes a vertex.
pub(crate) struct Flows {
    first: usize,
    /// Of each vertex, one after the other.
    pairs: VertexValues<u64>,
}

type Cell = <u64 as Value>::Atomic;

/// Entries of a row that are written without asking how many it has.
const ROW_LEN: usize = 8;

impl Flows {
    /// None yet, for all of `len` vertices.
    pub(crate) fn new(run: &Run, len: usize) -> Self {
        Self { first: 0, pairs: VertexValues::filled(run, 2 * len, 0) }
    }

    /// A copy for some of the vertices, which have received nothing.
    fn part(&self, vertices: Range<usize>) -> Self {
        let pair = |v| [u64::load(&self.pair(vertex(v))[0]), 0];
        let pairs: Vec<u64> = vertices.clone().flat_map(pair).collect();
        Self { first: vertices.start, pairs: pairs.into() }
    }

    fn has(&self, v: VertexId) -> bool {
        (v as usize).checked_sub(self.first).is_some_and(|at| at < self.pairs.len() / 2)
    }

    #[inline(always)]
    fn cells(&self) -> &[[Cell; 2]] {
        self.pairs.cells().as_chunks().0
    }

    #[inline(always)]
    fn pair(&self, v: VertexId) -> &[Cell; 2] {
        &self.cells()[v as usize - self.first]
    }

    /// What `v` gives.
    #[inline(always)]
    pub(crate) fn given(&self, v: VertexId) -> u64 {
        u64::load(&self.pair(v)[0])
    }

    /// Sets what `v` gives.
    #[inline(always)]
    pub(crate) fn give(&self, v: VertexId, given: u64) {
        u64::store(&self.pair(v)[0], given);
    }

    /// Something for each vertex and what it gives, in the same memory.
    pub(crate) fn into_given(self, f: impl Fn(VertexId, f64) -> f64) -> Vec<f64> {
        let mut words = self.pairs.into_vec();
        let n = words.len() / 2;
        for v in 0..n {
            words[v] = f(vertex(v), from_fixed(words[2 * v])).to_bits();
        }
        words.truncate(n);
        words.shrink_to_fit();
        words.into_iter().map(f64::from_bits).collect()
    }

    /// What `v` has received; from now on, nothing.
    #[inline(always)]
    pub(crate) fn take(&self, v: VertexId) -> u64 {
        let received = u64::load(&self.pair(v)[1]);
        u64::store(&self.pair(v)[1], 0);
        received
    }

    /// Adds to what `v` has received; `alone` if nobody else does meanwhile.
    #[inline(always)]
    pub(crate) fn add(&self, v: VertexId, more: u64, alone: bool) {
        if alone { add::<true>(self.pair(v), more) } else { add::<false>(self.pair(v), more) }
    }
}

#[inline(always)]
fn add<const ALONE: bool>(pair: &[Cell; 2], more: u64) {
    if ALONE {
        u64::store(&pair[1], u64::load(&pair[1]).wrapping_add(more));
    } else {
        u64::add(&pair[1], more);
    }
}

/// What one worker keeps while it lets things flow.
#[derive(Default)]
pub(crate) struct SharedFlows {
    /// A copy of the flows of vertices that others add to, too.
    own: Option<Flows>,
    /// Of each entry of a patch, what its row gives; and what the columns of all up to it give.
    of_rows: Vec<u64>,
    up_to: Vec<u64>,
}

impl SharedFlows {
    /// Begins to keep what flows to some vertices.
    pub(crate) fn enter(&mut self, flows: &Flows, vertices: Range<usize>) {
        self.own = Some(flows.part(vertices));
    }

    /// Adds what was kept.
    pub(crate) fn leave(&mut self, flows: &Flows) {
        let Some(own) = self.own.take() else { return };
        for (v, pair) in (own.first..).zip(own.cells()) {
            let received = u64::load(&pair[1]);
            if received > 0 {
                flows.add(vertex(v), received, false);
            }
        }
    }

    /// Lets flow what the entries of a patch say.
    pub(crate) fn along<W>(&mut self, flows: &Flows, patch: &Patch<'_, W>) {
        let (Some(&row), Some(&column)) = (patch.rows.first(), patch.columns.first()) else { return };
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

/// Writes what the row of each entry gives.
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

/// Adds to columns what rows give, and sums up what columns give.
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

/// Adds to columns what rows give.
#[inline(never)]
fn forth<const ALONE: bool, W>(patch: &Patch<'_, W>, columns: &Flows, of_rows: &[u64]) {
    let (cells, first) = (columns.cells(), columns.first);
    for (&column, &of_row) in patch.columns.iter().zip(of_rows) {
        add::<ALONE>(&cells[column as usize - first], of_row);
    }
}

/// Sums up what columns give.
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
        for (to_rows, to_columns) in
            [(taken, taken), (shared, shared), (taken, End::Left), (End::Left, taken), (End::Left, shared)]
        {
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
            for entered in [0..0, 0..10, 10..20, 3..20] {
                let flows = Flows::new(&run, 20);
                (0..20).for_each(|v| flows.give(v, 1 << v));
                let mut worker = SharedFlows::default();
                worker.enter(&flows, entered);
                worker.along(&flows, &patch);
                worker.leave(&flows);
                assert_eq!((0..20).map(|v| flows.take(v)).collect::<Vec<_>>(), expected);
                assert_eq!(flows.take(12), 0);
            }
        }
    }
}
