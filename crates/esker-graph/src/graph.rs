//! The waist: everything that an algorithm may ask of a graph.
//!
//! The list of a vertex may arrive in several pieces, in any order, from any thread. Iteration is internal:
//! the graph drives the loop, so a store owns order, prefetch and decoding, and no algorithm holds a
//! reference into a page. Dispatch is static: over an in-memory CSR a scan compiles to a loop over slices.
//!
//! What is absent is absent by design. An algorithm gets no iterator over a list, cannot choose the order of
//! lists, learns of no file, page or encoding, and changes no graph. Only algorithms that intersect lists may
//! ask for one at random: those take [`Lists`] instead of [`Graph`], and some graphs are no [`Lists`].

use std::ops::Range;

use crate::bitmap::Bitmap;
use crate::id::VertexId;
use crate::run::Run;
use crate::stop::Stop;

/// One of the two lists of a vertex. In an undirected graph both are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Edges that leave the vertex.
    Out,
    /// Edges that arrive at it.
    In,
}

impl Direction {
    /// The other direction.
    pub const fn reverse(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
        }
    }
}

/// What stands beside each neighbour: `()` where an algorithm does not ask for weights.
///
/// A slice of `()` takes no memory and its accesses compile to nothing, so one piece type serves both.
pub trait Weight: Copy + Default + PartialEq + std::fmt::Debug + Send + Sync + 'static {}

impl Weight for () {}
impl Weight for u16 {}
impl Weight for i32 {}
impl Weight for i64 {}
impl Weight for f32 {}
impl Weight for f64 {}

/// Part of the list of one vertex.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a, W> {
    /// Neighbours.
    pub targets: &'a [VertexId],
    /// Weight of the edge to each neighbour; as long as `targets`.
    pub weights: &'a [W],
    /// Whether this thread alone handles pieces of the vertex during the visit, and sees what other threads
    /// stored for earlier pieces of it. If so, values per visited vertex may be updated by plain stores; if
    /// not, they need atomic updates. For sets of one bit a vertex see [`Graph::words_apart`].
    pub exclusive: bool,
}

/// The whole lists of successive vertices, one after another.
#[derive(Debug, Clone, Copy)]
pub struct RowBlock<'a, W> {
    /// The first of the vertices.
    pub first: VertexId,
    /// Where the list of each vertex begins, and where the last one ends; `targets` begins at `offsets[0]`.
    pub offsets: &'a [u64],
    /// The neighbours of all vertices.
    pub targets: &'a [VertexId],
    /// Weight of the edge to each neighbour; as long as `targets`.
    pub weights: &'a [W],
}

impl<'a, W> RowBlock<'a, W> {
    /// Calls `f` with each list that is not empty, as an exclusive piece.
    #[inline(always)]
    pub fn each_row(self, mut f: impl FnMut(VertexId, Piece<'a, W>)) {
        let Self { first, offsets, targets, weights } = self;
        for (v, ends) in (first..).zip(offsets.windows(2)) {
            let list = (ends[0] - offsets[0]) as usize..(ends[1] - offsets[0]) as usize;
            if !list.is_empty() {
                f(v, Piece { targets: &targets[list.clone()], weights: &weights[list], exclusive: true });
            }
        }
    }
}

/// Whether a visitor wants the rest of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Hand over the next piece of this vertex.
    More,
    /// The remaining pieces of this vertex are not needed and need not be read. A hint: a piece that is
    /// already on its way to another thread may still come.
    Enough,
}

/// The vertices whose lists a scan hands over.
#[derive(Debug, Clone, Copy)]
pub enum Select<'a> {
    /// Every vertex.
    All,
    /// These, each at most once, in any order.
    List(&'a [VertexId]),
    /// The members of a set over `0..num_vertices`.
    Bits(&'a Bitmap),
}

/// Whether a [`Patch`] is handed to one end of its edges, the rows or the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The edges are not handed to this end.
    Skipped,
    /// The edges are handed to this end; see [`Piece::exclusive`].
    Taken {
        /// Whether no other thread is handed anything of these vertices meanwhile.
        exclusive: bool,
    },
}

impl End {
    /// Whether edges are handed to this end.
    #[inline(always)]
    pub const fn is_taken(self) -> bool {
        matches!(self, Self::Taken { .. })
    }

    /// Whether no other thread is handed anything of these vertices meanwhile.
    #[inline(always)]
    pub const fn is_exclusive(self) -> bool {
        matches!(self, Self::Taken { exclusive: true })
    }
}

/// Vertices of a strip: the rows of a [`Patch`] lie in one strip, and so do its columns. Strips begin at
/// multiples of this.
pub const STRIP_LEN: usize = 1 << 16;

/// A square of the adjacency matrix: all edges from the vertices of one strip to those of one strip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Tile {
    /// The strip of its rows: their vertices divided by [`STRIP_LEN`].
    pub row: u32,
    /// The strip of its columns.
    pub column: u32,
}

/// Entries of a part of the adjacency matrix, row by row: pieces of the lists of many vertices.
#[derive(Debug, Clone, Copy)]
pub struct Patch<'a, W> {
    /// The rows, ascending.
    pub rows: &'a [VertexId],
    /// Where the entries of each row end; those of the first begin at 0.
    pub ends: &'a [u32],
    /// The column of each entry.
    pub columns: &'a [VertexId],
    /// The weight of each entry; as long as `columns`.
    pub weights: &'a [W],
    /// Whether a column is in the list of its row.
    pub to_rows: End,
    /// Whether a row is in the list of its column.
    pub to_columns: End,
}

impl<W> Patch<'_, W> {
    /// Each row and its entries.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = (VertexId, Range<usize>)> {
        let mut start = 0;
        self.rows.iter().zip(self.ends).map(move |(&row, &end)| {
            let range = start..end as usize;
            start = range.end;
            (row, range)
        })
    }
}

/// What a scan does with the pieces it hands over.
pub trait Visitor<W>: Sync {
    /// Carried by each worker through the scan and handed back at its end: counts, output chunks, partial
    /// sums.
    type State: Send;

    /// Whether [`Visitor::visit`] may answer [`Flow::Enough`]. If not, a graph that decodes lists decodes
    /// each as a whole.
    const STOPS: bool = true;

    /// Whether lists are handed over in batches, by calls through a pointer, however they are stored. Scans
    /// of mapped lists are else compiled for each visitor, plain and compressed. For visitors that run
    /// rarely, or once beside many other scans: the scan takes some percent longer, and the program is
    /// smaller and sooner built.
    const BOXED: bool = false;

    /// Whether [`Visitor::visit_rows`] is called where whole lists lie one after another. Such a visitor
    /// wants every vertex.
    const ROWS: bool = false;

    /// Whether [`Visitor::visit_patch`] is called where a graph has patches; if not, they are handed over row
    /// by row.
    const PATCHES: bool = !Self::BOXED;

    /// A state for one worker.
    fn new_state(&self) -> Self::State;

    /// Whether the list of `v` is wanted; asked before the list is located.
    #[inline(always)]
    fn wants(&self, _v: VertexId) -> bool {
        true
    }

    /// Whether `u` matters as a neighbour. If not, pieces may lack it, so a graph that keeps lists in parts
    /// can skip parts without a neighbour that matters. The answer stays the same throughout a scan.
    #[inline(always)]
    fn minds(&self, _u: VertexId) -> bool {
        true
    }

    /// Takes one piece of the list of `v`. Vertices without neighbours get no call.
    fn visit(&self, state: &mut Self::State, v: VertexId, piece: Piece<'_, W>) -> Flow;

    /// Takes whole lists that lie one after another. The same as [`Visitor::visit`] for each list that is not
    /// empty, with an exclusive piece; where lists are short, a loop over all of them is faster.
    #[inline(always)]
    fn visit_rows(&self, state: &mut Self::State, rows: RowBlock<'_, W>) {
        rows.each_row(|v, piece| {
            self.visit(state, v, piece);
        });
    }

    /// Takes arcs from their other end: `u` is a neighbour in the list of each of these vertices. A graph
    /// that keeps every edge once hands over one end of its edges by [`Visitor::visit`] and the other by
    /// this method. The vertices are selected, but [`Visitor::wants`] was not asked for them yet.
    ///
    /// Does the same as a visit to each vertex with a piece of `u` alone. A visitor may override it to
    /// examine `u` once for all of them.
    #[inline(always)]
    fn visit_back(&self, state: &mut Self::State, u: VertexId, vertices: Piece<'_, W>) {
        for (&v, weight) in vertices.targets.iter().zip(vertices.weights) {
            if self.wants(v) {
                let weights = std::slice::from_ref(weight);
                self.visit(state, v, Piece { targets: &[u], weights, exclusive: vertices.exclusive });
            }
        }
    }

    /// Takes pieces of the lists of many vertices. All are selected; none was asked for with
    /// [`Visitor::wants`] yet. The same as [`Visitor::visit`] for each row and [`Visitor::visit_back`] for
    /// each row; where rows are short, a loop over all entries is faster.
    #[inline(always)]
    fn visit_patch(&self, state: &mut Self::State, patch: &Patch<'_, W>) {
        for (row, range) in patch.iter() {
            let (targets, weights) = (&patch.columns[range.clone()], &patch.weights[range]);
            if patch.to_rows.is_taken() && self.wants(row) {
                self.visit(state, row, Piece { targets, weights, exclusive: patch.to_rows.is_exclusive() });
            }
            if patch.to_columns.is_taken() {
                self.visit_back(
                    state,
                    row,
                    Piece { targets, weights, exclusive: patch.to_columns.is_exclusive() },
                );
            }
        }
    }
}

/// A graph that can be computed on.
pub trait Graph: Sync {
    /// The type of the weights beside the neighbours.
    type Weight: Weight;
    /// What can go wrong while lists are read; in memory, only a [`Stop`].
    type Error: std::error::Error + From<Stop> + Send + Sync + 'static;

    /// Number of vertices; their ids are `0..num_vertices`.
    fn num_vertices(&self) -> usize;

    /// Whether lists are handed over in parts all over the scan, so that no visit is likely to see a whole
    /// one. A hint.
    #[inline(always)]
    fn is_scattered(&self) -> bool {
        false
    }

    /// Whether a scan of a few lists reads these alone, in microseconds, and several threads may scan at
    /// once. A hint.
    #[inline(always)]
    fn is_at_hand(&self) -> bool {
        false
    }

    /// Whether, in a scan of all vertices or of a set, two threads never hold exclusive pieces of two
    /// vertices whose bits lie in one word of 64 at the same time. If so, sets of one bit a vertex may be
    /// updated by plain stores too.
    #[inline(always)]
    fn words_apart(&self) -> bool {
        true
    }

    /// Number of entries in all out-lists. An undirected edge counts twice, a self-loop once.
    fn num_arcs(&self) -> u64;

    /// Whether out-lists and in-lists differ.
    fn is_directed(&self) -> bool;

    /// Whether lists of this direction are kept. Out-lists always are. In-lists are kept in undirected
    /// graphs, where both are the same, and in directed graphs that were stored with them.
    fn has(&self, direction: Direction) -> bool;

    /// Length of the list of `v`. O(1), without touching the disk. Panics if the direction is not kept.
    fn degree(&self, direction: Direction, v: VertexId) -> usize;

    /// Hands the lists of the selected vertices to `visitor`, in parallel on the threads of `run`, and
    /// returns the workers' states. A handful of vertices is handled on the calling thread, within
    /// microseconds.
    ///
    /// # Errors
    /// The first list that cannot be read; [`Stop::Cancelled`] within 100 ms of a cancellation;
    /// [`Stop::Unsuitable`] if the direction is not kept.
    fn scan<V: Visitor<Self::Weight>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>, Self::Error>;
}

/// A graph that gives whole sorted lists at random, for intersections.
pub trait Lists: Graph {
    /// Calls `f` with the list of `v`, ascending by neighbour, and the weights beside it.
    ///
    /// # Errors
    /// If the list cannot be read, or the direction is not kept.
    fn with_list<R>(
        &self,
        direction: Direction,
        v: VertexId,
        f: impl FnOnce(&[VertexId], &[Self::Weight]) -> R,
    ) -> Result<R, Self::Error>;

    /// Reads where the lists of at most [`crate::BATCH_LEN`] vertices begin, if that is memory: each of these
    /// reads may miss all caches; the misses of one call overlap, where those of [`Lists::with_list`] come
    /// one after another. Without other effect.
    #[inline(always)]
    fn touch(&self, _direction: Direction, _batch: &[VertexId]) {}
}
