//! Counting arcs by vertex, or by ranges of vertices where memory does not allow more.

use std::sync::atomic::{AtomicU32, Ordering};

use esker_format::{Error, Result};
use esker_graph::VertexId;

use crate::build::edges::{EdgeBuffer, Edges};
use crate::options::Tracker;
use crate::sort::scratch::Workspace;

/// Vertices below this are counted one by one: in degree order they are the hubs.
const HEAD: u64 = 1 << 16;

/// A division of the vertices into at most 2^17 cells, ascending: one vertex each at the front, equal ranges
/// after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellDivision {
    shift: u32,
    num_vertices: u64,
}

impl CellDivision {
    pub(crate) fn new(num_vertices: u64) -> Self {
        let bits = u64::BITS - num_vertices.leading_zeros();
        Self { shift: bits.saturating_sub(HEAD.trailing_zeros()), num_vertices }
    }

    /// The cell of `v`.
    #[inline(always)]
    pub(crate) fn of(self, v: VertexId) -> usize {
        // Without a branch: half of the accesses are to hubs, which no predictor knows.
        let v = v as usize;
        if v < HEAD as usize { v } else { HEAD as usize + (v >> self.shift) }
    }

    pub(crate) fn len(self) -> usize {
        match self.num_vertices {
            0 => 1,
            n => self.of((n - 1) as VertexId) + 1,
        }
    }

    /// The first vertex of cell `index`, or of the next one that has any; `num_vertices` at the end.
    pub(crate) fn start(self, index: usize) -> u64 {
        let head = HEAD as usize;
        let start =
            if index < head { index as u64 } else { (((index - head) as u64) << self.shift).max(HEAD) };
        start.min(self.num_vertices)
    }
}

/// How many edges each vertex has, as the input has them. Saturating.
pub(crate) struct EdgeCounts {
    /// Edges that leave it; of undirected graphs, all.
    pub(crate) sources: Vec<u32>,
    /// Edges that arrive; empty for undirected graphs.
    pub(crate) targets: Vec<u32>,
}

impl EdgeCounts {
    /// All edges of `v`.
    #[inline(always)]
    pub(crate) fn of(&self, v: usize) -> u32 {
        self.sources[v].saturating_add(self.targets.get(v).copied().unwrap_or(0))
    }
}

/// What [`degrees`] needs when its threads share their counters.
pub(crate) fn degrees_bytes(num_vertices: u64, directed: bool) -> u64 {
    num_vertices * if directed { 8 } else { 4 }
}

/// Counts for every vertex. Threads have counters of their own if the budget allows.
pub(crate) fn degrees(
    work: &Workspace,
    edges: &Edges,
    directed: bool,
    tracker: &Tracker,
) -> Result<EdgeCounts> {
    let n = edges.num_vertices as usize;
    let threads = work.run.threads() as u64;
    // What the threads' own counters take is little of what is free, else they share: an atomic addition
    // costs more.
    let own_bytes = degrees_bytes(edges.num_vertices, directed) * (threads - 1);
    let own =
        if own_bytes <= work.budget.free_bytes() / 4 { work.budget.try_reserve(own_bytes) } else { None };
    let new = || Counters::new(n, directed);
    let count = |counters: &Counters, buffer: &mut EdgeBuffer, block: usize, alone: bool| {
        tracker.advance(edges.block_len(block) as u64, 0);
        let targets = if directed { &counters.targets } else { &counters.sources };
        edges.for_each(block, buffer, |u, v| {
            add(&counters.sources[u as usize], alone);
            add(&targets[v as usize], alone);
            Ok(())
        })
    };
    if own.is_none() || threads == 1 {
        let counters = new();
        work.run.share(edges.num_blocks(), EdgeBuffer::default, |buffer, block| {
            count(&counters, buffer, block, threads == 1)
        })?;
        return Ok(counters.into_degrees());
    }
    let counted = work.run.share(
        edges.num_blocks(),
        || (EdgeBuffer::default(), new()),
        |(buffer, counters), block| count(counters, buffer, block, true),
    )?;
    let mut all = counted.into_iter().map(|(_, counters)| counters.into_degrees());
    let mut sum = all.next().unwrap_or_else(|| new().into_degrees());
    for other in all {
        merge(work, &mut sum.sources, &other.sources)?;
        merge(work, &mut sum.targets, &other.targets)?;
    }
    Ok(sum)
}

struct Counters {
    sources: Vec<AtomicU32>,
    targets: Vec<AtomicU32>,
}

impl Counters {
    fn new(n: usize, directed: bool) -> Self {
        let zeros = |len| (0..len).map(|_| AtomicU32::new(0)).collect();
        Self { sources: zeros(n), targets: zeros(if directed { n } else { 0 }) }
    }

    fn into_degrees(self) -> EdgeCounts {
        let plain = |counts: Vec<AtomicU32>| counts.into_iter().map(AtomicU32::into_inner).collect();
        EdgeCounts { sources: plain(self.sources), targets: plain(self.targets) }
    }
}

#[inline(always)]
fn add(counter: &AtomicU32, alone: bool) {
    if alone {
        counter.store(counter.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed);
    } else if counter.fetch_add(1, Ordering::Relaxed) == u32::MAX {
        counter.store(u32::MAX, Ordering::Relaxed);
    }
}

fn merge(work: &Workspace, sum: &mut [u32], other: &[u32]) -> Result<()> {
    work.check()?;
    for (a, b) in sum.iter_mut().zip(other) {
        *a = a.saturating_add(*b);
    }
    Ok(())
}

/// Counts by cell: edges by source, and by target.
pub(crate) fn by_cell(
    work: &Workspace,
    edges: &Edges,
    cells: CellDivision,
    tracker: &Tracker,
) -> Result<[Vec<u64>; 2]> {
    let counted = work.run.share(
        edges.num_blocks(),
        || (EdgeBuffer::default(), vec![0u64; cells.len()], vec![0u64; cells.len()]),
        |(buffer, sources, targets), block| {
            tracker.advance(edges.block_len(block) as u64, 0);
            edges.for_each(block, buffer, |u, v| {
                sources[cells.of(u)] += 1;
                targets[cells.of(v)] += 1;
                Ok(())
            })?;
            Ok::<(), Error>(())
        },
    )?;
    let mut sums = [vec![0; cells.len()], vec![0; cells.len()]];
    for (_, sources, targets) in counted {
        for (sum, counts) in sums.iter_mut().zip([sources, targets]) {
            sum.iter_mut().zip(counts).for_each(|(a, b)| *a += b);
        }
    }
    Ok(sums)
}

/// Sums per-vertex counts by the cells of the renumbered vertices.
pub(crate) fn to_cells(counts: &[u32], renumbered: Option<&[VertexId]>, cells: CellDivision) -> Vec<u64> {
    let mut sums = vec![0; cells.len()];
    match renumbered {
        Some(renumbered) => {
            for (&count, &v) in counts.iter().zip(renumbered) {
                sums[cells.of(v)] += u64::from(count);
            }
        }
        None => {
            for (v, &count) in counts.iter().enumerate() {
                sums[cells.of(v as VertexId)] += u64::from(count);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_ascend_and_cover() {
        for n in [0, 1, 2, 65_535, 65_536, 65_537, 100_000, 131_072, 131_073, 10_000_000] {
            let cells = CellDivision::new(n);
            assert_eq!(cells.start(0), 0);
            assert_eq!(cells.start(cells.len()), n, "{n}");
            for v in (0..n).step_by(997).chain(n.checked_sub(1)) {
                let cell = cells.of(v as VertexId);
                assert!(cells.start(cell) <= v && v < cells.start(cell + 1), "{n} {v}");
            }
        }
    }
}
