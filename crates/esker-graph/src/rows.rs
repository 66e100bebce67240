//! The lists of one direction in plain arrays, on the heap or in a mapped file.

use std::ops::Range;

use crate::drive::Extents;
use crate::graph::{Flow, Piece, RowBlock, Select, Visitor, Weight};
use crate::id::{VertexId, vertex};
use crate::layout::{BATCH_LEN, HUGE_LEN, Layout, ones, scan};
use crate::run::Run;
use crate::stop::Stop;

/// Entries of a cache line.
const LINE_LEN: usize = 16;
/// Where this many of 64 vertices are wanted, their lists follow one another nearly without gaps. The
/// processor then reads ahead by itself, and code that does so as well only costs time.
const DENSE_WANTED: u32 = 48;

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
    /// `targets`, and `weights` is as long. That offsets ascend and targets are below the number of vertices
    /// is the caller's duty; a breach makes scans panic.
    pub fn new(offsets: &'a [u64], targets: &'a [VertexId], weights: &'a [W]) -> Result<Self, Stop> {
        let fits = offsets.last().is_some_and(|&end| end == targets.len() as u64);
        if !fits || weights.len() != targets.len() {
            return Err(Stop::unsuitable("the arrays of the rows do not fit together".to_owned()));
        }
        Ok(Self { offsets, targets, weights })
    }

    /// As [`Rows::new`], without its checks: the caller knows that the arrays fit together.
    pub fn of(offsets: &'a [u64], targets: &'a [VertexId], weights: &'a [W]) -> Self {
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

    /// The weights of the edges from `u` to `v`: several if they are parallel, none if there is no edge.
    /// O(log of the degree).
    ///
    /// ```
    /// use esker_graph::Rows;
    ///
    /// // Vertex 0 has two edges to vertex 1 and one to vertex 2.
    /// let rows = Rows::new(&[0, 3, 3, 3], &[1, 1, 2], &[10, 20, 30])?;
    /// assert_eq!(rows.between(0, 1), [10, 20]);
    /// assert_eq!(rows.list(0).0, [1, 1, 2]);
    /// assert!(rows.between(1, 0).is_empty());
    /// # Ok::<(), esker_graph::Stop>(())
    /// ```
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
        scan(self, run, select, visitor)
    }

    /// Reads where the lists of a batch begin and end, and then their first and last entries. Selected
    /// vertices lie anywhere, so each of these reads may miss all caches; here the misses of a batch overlap,
    /// where a visit would wait for the one before.
    #[inline(always)]
    pub fn touch(&self, batch: &[VertexId]) {
        let mut ends = [(0, 0); BATCH_LEN];
        for (ends, &v) in ends.iter_mut().zip(batch) {
            *ends = (self.offsets[v as usize] as usize, self.offsets[v as usize + 1] as usize);
        }
        let target = |at: usize| self.targets.get(at).map_or(0, |&target| target);
        let mut seen = 0;
        for &(start, end) in &ends[..batch.len()] {
            seen ^= target(start) ^ target(end.saturating_sub(1));
        }
        std::hint::black_box(seen);
        if size_of::<W>() > 0 {
            for &(start, end) in &ends[..batch.len()] {
                let weight = |at: usize| self.weights.get(at).copied();
                std::hint::black_box((weight(start), weight(end.saturating_sub(1))));
            }
        }
    }

    /// As [`Rows::touch`], for lists that will be read without their weights and probably not only at their
    /// beginning.
    #[inline(always)]
    pub fn touch_targets(&self, batch: &[VertexId]) {
        let mut starts = [0; BATCH_LEN];
        for (start, &v) in starts.iter_mut().zip(batch) {
            *start = self.offsets[v as usize] as usize;
        }
        for &start in &starts[..batch.len()] {
            std::hint::black_box((
                self.targets.get(start).copied(),
                self.targets.get(start + LINE_LEN).copied(),
            ));
        }
    }

    /// Hands over the list of `v`, unless it is huge.
    #[inline(always)]
    fn offer<V: Visitor<W>>(&self, visitor: &V, state: &mut V::State, v: VertexId, huge: &mut Vec<VertexId>) {
        if !visitor.wants(v) {
            return;
        }
        let (targets, weights) = self.list(v);
        if targets.len() > HUGE_LEN {
            huge.push(v);
        } else if !targets.is_empty() {
            visitor.visit(state, v, Piece { targets, weights, exclusive: true });
        }
    }
}

impl<W: Weight> Extents for Rows<'_, W> {
    fn num_vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    fn entries_before(&self, v: usize) -> usize {
        v + self.offsets[v] as usize
    }

    fn degree(&self, v: VertexId) -> usize {
        Rows::degree(self, v)
    }

    fn entries_of(&self, list: &[VertexId], most: usize) -> usize {
        let mut entries = list.len();
        for batch in list.chunks(BATCH_LEN) {
            entries += batch.iter().map(|&v| Rows::degree(self, v)).sum::<usize>();
            if entries > most {
                break;
            }
        }
        entries
    }
}

impl<W: Weight> Layout<W> for Rows<'_, W> {
    type Buffer = ();

    const ROWS: bool = true;

    fn new_buffer(&self, _stops: bool, _deterministic: bool) {}

    #[inline(always)]
    fn may_have_arcs(&self, v: usize) -> bool {
        self.offsets[v] < self.offsets[v + 1]
    }

    /// If visits may end early, lists are read in part, which the processor does not foresee: then the first
    /// entries of all are read ahead, unless so many are wanted that the processor reads ahead by itself.
    #[inline(always)]
    fn visit_block<V: Visitor<W>>(
        &self,
        visitor: &V,
        state: &mut V::State,
        (): &mut (),
        first: usize,
        wanted: u64,
        huge: &mut Vec<VertexId>,
    ) {
        if V::ROWS && wanted == u64::MAX {
            let offsets = &self.offsets[first..first + 65];
            let block = offsets[0] as usize..offsets[64] as usize;
            if block.len() <= HUGE_LEN {
                let (targets, weights) = (&self.targets[block.clone()], &self.weights[block]);
                return visitor
                    .visit_rows(state, RowBlock { first: vertex(first), offsets, targets, weights });
            }
        }
        if V::STOPS && wanted.count_ones() < DENSE_WANTED {
            for i in ones(wanted) {
                let start = self.offsets[first + i] as usize;
                std::hint::black_box(self.targets.get(start).copied());
            }
        }
        ones(wanted).for_each(|i| self.offer(visitor, state, vertex(first + i), huge));
    }

    #[inline(always)]
    fn visit_batch<V: Visitor<W>>(
        &self,
        visitor: &V,
        state: &mut V::State,
        (): &mut (),
        batch: &[VertexId],
        huge: &mut Vec<VertexId>,
    ) {
        self.touch(batch);
        batch.iter().for_each(|&v| self.offer(visitor, state, v, huge));
    }

    fn visit_piece<V: Visitor<W>>(
        &self,
        visitor: &V,
        state: &mut V::State,
        (): &mut (),
        v: VertexId,
        arcs: Range<usize>,
        exclusive: bool,
    ) -> Flow {
        let (targets, weights) = self.list(v);
        let piece = Piece { targets: &targets[arcs.clone()], weights: &weights[arcs], exclusive };
        visitor.visit(state, v, piece)
    }
}
