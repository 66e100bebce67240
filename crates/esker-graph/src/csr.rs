//! Compressed sparse rows: the reference form of a graph, over borrowed slices or in memory.
//!
//! [`Rows`] is one direction over borrowed slices, wherever they live (heap or mapped file); it carries the
//! scan. [`CsrGraph`] pairs rows into a graph; [`Csr`] owns its arrays.

use crate::bitmap::Bitmap;
use crate::graph::{Direction, Flow, Graph, Lists, Piece, Select, Visitor, Weight};
use crate::id::{VertexId, vertex};
use crate::run::{Run, Stop};

/// Lists longer than this are handed over in several pieces, so that cancellation is never late.
const PIECE_LEN_MAX: usize = 1 << 20;
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

    /// See [`Graph::scan`].
    ///
    /// # Errors
    /// [`Stop::Cancelled`].
    pub fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>, Stop> {
        match select {
            Select::All => self.scan_ranges(run, visitor, |first, end, state| {
                (first..end).try_for_each(|v| self.offer(run, visitor, state, vertex(v)))
            }),
            Select::Bits(bits) => self.scan_ranges(run, visitor, |first, end, state| {
                self.offer_bits(run, visitor, state, bits, first, end)
            }),
            Select::List(list) => self.scan_list(run, visitor, list),
        }
    }

    /// Shares ranges of vertices that hold about equally many entries and begin at multiples of 64.
    fn scan_ranges<V: Visitor<W>>(
        &self,
        run: &Run,
        visitor: &V,
        range: impl Fn(usize, usize, &mut V::State) -> Result<(), Stop> + Sync,
    ) -> Result<Vec<V::State>, Stop> {
        let n = self.num_vertices();
        let entries = n + self.targets.len();
        let units = if entries <= SERIAL_ENTRIES_MAX || run.threads() == 1 {
            entries.div_ceil(UNIT_ENTRIES)
        } else {
            entries.div_ceil(UNIT_ENTRIES).max(run.threads() * UNITS_PER_WORKER)
        };
        let bound = |unit: usize| {
            let entry = (entries as u128 * unit as u128 / units.max(1) as u128) as u64;
            self.vertex_at_entry(entry).next_multiple_of(64).min(n)
        };
        run.share(units, || visitor.new_state(), |state, unit| range(bound(unit), bound(unit + 1), state))
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

    fn offer_bits<V: Visitor<W>>(
        &self,
        run: &Run,
        visitor: &V,
        state: &mut V::State,
        bits: &Bitmap,
        first: usize,
        end: usize,
    ) -> Result<(), Stop> {
        for v in bits.iter_range(first..end) {
            self.offer(run, visitor, state, v)?;
        }
        Ok(())
    }

    fn scan_list<V: Visitor<W>>(
        &self,
        run: &Run,
        visitor: &V,
        list: &[VertexId],
    ) -> Result<Vec<V::State>, Stop> {
        if run.threads() == 1 || self.is_handful(list) {
            let mut state = visitor.new_state();
            run.check()?;
            self.offer_list(run, visitor, &mut state, list)?;
            return Ok(vec![state]);
        }
        let unit = (list.len() / (run.threads() * UNITS_PER_WORKER)).clamp(1, 1 << 10);
        run.share(
            list.len().div_ceil(unit),
            || visitor.new_state(),
            |state, i| {
                let end = ((i + 1) * unit).min(list.len());
                self.offer_list(run, visitor, state, &list[i * unit..end])
            },
        )
    }

    fn offer_list<V: Visitor<W>>(
        &self,
        run: &Run,
        visitor: &V,
        state: &mut V::State,
        list: &[VertexId],
    ) -> Result<(), Stop> {
        for batch in list.chunks(BATCH) {
            self.touch(batch);
            batch.iter().try_for_each(|&v| self.offer(run, visitor, state, v))?;
        }
        Ok(())
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

    #[inline(always)]
    fn offer<V: Visitor<W>>(
        &self,
        run: &Run,
        visitor: &V,
        state: &mut V::State,
        v: VertexId,
    ) -> Result<(), Stop> {
        if !visitor.wants(v) {
            return Ok(());
        }
        let (targets, weights) = self.list(v);
        if targets.len() > PIECE_LEN_MAX {
            return offer_long(run, visitor, state, v, targets, weights);
        }
        if !targets.is_empty() {
            visitor.visit(state, v, Piece { targets, weights, exclusive: true });
        }
        Ok(())
    }
}

#[cold]
#[inline(never)]
fn offer_long<W: Weight, V: Visitor<W>>(
    run: &Run,
    visitor: &V,
    state: &mut V::State,
    v: VertexId,
    targets: &[VertexId],
    weights: &[W],
) -> Result<(), Stop> {
    for (targets, weights) in targets.chunks(PIECE_LEN_MAX).zip(weights.chunks(PIECE_LEN_MAX)) {
        run.check()?;
        if visitor.visit(state, v, Piece { targets, weights, exclusive: true }) == Flow::Enough {
            break;
        }
    }
    Ok(())
}

/// A graph over borrowed rows.
#[derive(Debug, Clone, Copy)]
pub struct CsrGraph<'a, W> {
    out: Rows<'a, W>,
    /// `None`: not kept, or (undirected) the same as `out`.
    incoming: Option<Rows<'a, W>>,
    directed: bool,
}

impl<'a, W: Weight> CsrGraph<'a, W> {
    /// An undirected graph: every edge stands in the lists of both of its ends.
    pub fn undirected(rows: Rows<'a, W>) -> Self {
        Self { out: rows, incoming: None, directed: false }
    }

    /// A directed graph, with its in-lists if they are kept.
    pub fn directed(out: Rows<'a, W>, incoming: Option<Rows<'a, W>>) -> Self {
        Self { out, incoming, directed: true }
    }

    /// The rows of a direction, if kept.
    #[inline(always)]
    pub fn rows(&self, direction: Direction) -> Option<&Rows<'a, W>> {
        match (direction, self.directed) {
            (Direction::In, true) => self.incoming.as_ref(),
            _ => Some(&self.out),
        }
    }

    fn kept(&self, direction: Direction) -> Result<&Rows<'a, W>, Stop> {
        self.rows(direction)
            .ok_or_else(|| Stop::Unsuitable("the graph is stored without its in-edges".to_owned()))
    }
}

impl<W: Weight> Graph for CsrGraph<'_, W> {
    type Weight = W;
    type Error = Stop;

    fn num_vertices(&self) -> usize {
        self.out.num_vertices()
    }

    fn num_arcs(&self) -> u64 {
        self.out.targets.len() as u64
    }

    fn is_directed(&self) -> bool {
        self.directed
    }

    fn has(&self, direction: Direction) -> bool {
        self.rows(direction).is_some()
    }

    #[inline(always)]
    fn degree(&self, direction: Direction, v: VertexId) -> usize {
        self.rows(direction).expect("the direction is kept").degree(v)
    }

    fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>, Stop> {
        self.kept(direction)?.scan(run, select, visitor)
    }
}

impl<W: Weight> Lists for CsrGraph<'_, W> {
    fn with_list<R>(
        &self,
        direction: Direction,
        v: VertexId,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R, Stop> {
        let (targets, weights) = self.kept(direction)?.list(v);
        Ok(f(targets, weights))
    }
}

/// The arrays of one direction, owned.
#[derive(Debug, Clone)]
struct OwnedRows<W> {
    offsets: Vec<u64>,
    targets: Vec<VertexId>,
    weights: Vec<W>,
}

impl<W: Weight> OwnedRows<W> {
    /// Sorted rows of `edges`, duplicates kept in the order given.
    fn from_edges(num_vertices: usize, edges: &[(VertexId, VertexId, W)]) -> Self {
        let mut order: Vec<&(VertexId, VertexId, W)> = edges.iter().collect();
        order.sort_by_key(|edge| (edge.0, edge.1));
        let mut offsets = vec![0; num_vertices + 1];
        for edge in &order {
            offsets[edge.0 as usize + 1] += 1;
        }
        for v in 0..num_vertices {
            offsets[v + 1] += offsets[v];
        }
        Self {
            offsets,
            targets: order.iter().map(|edge| edge.1).collect(),
            weights: order.iter().map(|edge| edge.2).collect(),
        }
    }

    fn borrow(&self) -> Rows<'_, W> {
        Rows { offsets: &self.offsets, targets: &self.targets, weights: &self.weights }
    }
}

/// A graph in memory that owns its arrays. Memory: 8 bytes a vertex and 4 bytes (plus the weight) an arc, twice
/// if directed.
#[derive(Debug, Clone)]
pub struct Csr<W = ()> {
    out: OwnedRows<W>,
    directed: bool,
    /// `None`: not kept, or (undirected) the same as `out`.
    incoming: Option<OwnedRows<W>>,
}

impl<W: Weight> Csr<W> {
    /// A copy of any graph: lists as they are, in-lists if they are kept and differ.
    ///
    /// # Errors
    /// The first list that cannot be read.
    pub fn copy_of<G: Lists<Weight = W>>(graph: &G) -> Result<Self, G::Error> {
        let copy = |direction| -> Result<OwnedRows<W>, G::Error> {
            let mut rows = OwnedRows { offsets: vec![0], targets: Vec::new(), weights: Vec::new() };
            for v in (0..graph.num_vertices()).map(vertex) {
                graph.with_list(direction, v, |targets, weights| {
                    rows.targets.extend_from_slice(targets);
                    rows.weights.extend_from_slice(weights);
                })?;
                rows.offsets.push(rows.targets.len() as u64);
            }
            Ok(rows)
        };
        let two = graph.is_directed() && graph.has(Direction::In);
        let incoming = if two { Some(copy(Direction::In)?) } else { None };
        Ok(Self { out: copy(Direction::Out)?, directed: graph.is_directed(), incoming })
    }

    /// A directed graph with its in-lists, exactly the given edges: duplicates and self-loops stay.
    ///
    /// # Errors
    /// [`Stop::Unsuitable`] if an end is not below `num_vertices`.
    pub fn directed(num_vertices: usize, edges: &[(VertexId, VertexId, W)]) -> Result<Self, Stop> {
        check_ends(num_vertices, edges)?;
        let reversed: Vec<_> = edges.iter().map(|&(u, v, w)| (v, u, w)).collect();
        Ok(Self {
            out: OwnedRows::from_edges(num_vertices, edges),
            directed: true,
            incoming: Some(OwnedRows::from_edges(num_vertices, &reversed)),
        })
    }

    /// An undirected graph: every given edge is entered at both ends, a self-loop once. Duplicates stay.
    ///
    /// # Errors
    /// [`Stop::Unsuitable`] if an end is not below `num_vertices`.
    pub fn undirected(num_vertices: usize, edges: &[(VertexId, VertexId, W)]) -> Result<Self, Stop> {
        check_ends(num_vertices, edges)?;
        let both: Vec<_> = edges
            .iter()
            .flat_map(|&(u, v, w)| std::iter::once((u, v, w)).chain((u != v).then_some((v, u, w))))
            .collect();
        Ok(Self { out: OwnedRows::from_edges(num_vertices, &both), directed: false, incoming: None })
    }

    /// The same graph over borrowed rows: what the algorithms take.
    pub fn graph(&self) -> CsrGraph<'_, W> {
        if self.directed {
            CsrGraph::directed(self.out.borrow(), self.incoming.as_ref().map(OwnedRows::borrow))
        } else {
            CsrGraph::undirected(self.out.borrow())
        }
    }
}

fn check_ends<W>(num_vertices: usize, edges: &[(VertexId, VertexId, W)]) -> Result<(), Stop> {
    match edges.iter().find(|(u, v, _)| (*u).max(*v) as usize >= num_vertices) {
        Some((u, v, _)) => {
            Err(Stop::Unsuitable(format!("edge {u} -> {v} in a graph of {num_vertices} vertices")))
        }
        None => Ok(()),
    }
}
