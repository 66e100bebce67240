//! Boxed sources of lists: graphs that are read without compiling each algorithm for them.
//!
//! A graph that streams its lists (several layers, tiles, a pool, heads with tails on disk, removed vertices)
//! implements [`Source`], which does not depend on the visitor's type. It hands over batches of pieces
//! through a [`Sink`], so one virtual call serves a thousand arcs. [`Boxed`] wraps any graph, with one
//! virtual call per piece, for tests.

use parking_lot::Mutex;
use std::ops::Range;

use crate::bitmap::Bitmap;
use crate::graph::{Direction, Flow, Graph, Lists, Patch, Piece, Select, Tile, Visitor, Weight};
use crate::id::VertexId;
use crate::layout::wanted_of;
use crate::run::Run;
use crate::stop::Stop;

/// Pieces in a batch, at most: one bit of a word each.
pub const SINK_BATCH_MAX: usize = 64;

/// How lists are read best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListAccess {
    /// One by one, as fast as in a scan.
    Single,
    /// A few one by one, many in a scan.
    Scans,
    /// In scans alone: a single list is decoded together with many others, or is not at hand.
    OnlyScans,
}

/// The lists of one direction behind a pointer, with weights of type `W` and errors of type `E`. The methods
/// are those of [`Graph`] and [`Lists`].
pub trait Source<W, E>: Send + Sync {
    /// See [`Graph::degree`].
    fn degree(&self, v: VertexId) -> usize;

    /// See [`Graph::is_scattered`].
    fn is_scattered(&self) -> bool {
        false
    }

    /// See [`Graph::words_apart`].
    fn words_apart(&self) -> bool {
        true
    }

    /// How lists are read best.
    fn list_access(&self) -> ListAccess {
        ListAccess::Single
    }

    /// Whether it reads single lists too; else it only scans.
    fn has_lists(&self) -> bool {
        true
    }

    /// Verifies ahead of time what the first scan would verify.
    ///
    /// # Errors
    /// As [`Graph::scan`].
    fn prepare(&self, _run: &Run) -> Result<(), E> {
        Ok(())
    }

    /// Bytes that scans have read from the disk so far, past the page cache.
    fn read_bytes(&self) -> u64 {
        0
    }

    /// Single lists that were read from a pool so far, and those that were not in it.
    fn point_reads(&self) -> (u64, u64) {
        (0, 0)
    }

    /// See [`Graph::scan`].
    ///
    /// # Errors
    /// As [`Graph::scan`].
    fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<(), E>;

    /// See [`Lists::with_list`].
    ///
    /// # Errors
    /// As [`Lists::with_list`].
    fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[W])) -> Result<(), E>;
}

/// [`Graph`] and [`Lists`] without type parameters of their methods.
trait AnyLists<W, E>: Sync {
    fn num_vertices(&self) -> usize;
    fn num_arcs(&self) -> u64;
    fn is_directed(&self) -> bool;
    fn is_scattered(&self) -> bool;
    fn words_apart(&self) -> bool;
    fn has(&self, direction: Direction) -> bool;
    fn degree(&self, direction: Direction, v: VertexId) -> usize;
    fn scan(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &dyn AnyVisitor<W>,
    ) -> Result<(), E>;
    fn with_list(
        &self,
        direction: Direction,
        v: VertexId,
        take: &mut dyn FnMut(&[VertexId], &[W]),
    ) -> Result<(), E>;
}

/// A visitor without its type.
pub trait AnyVisitor<W>: Sync {
    /// [`Visitor::STOPS`].
    fn stops(&self) -> bool;
    /// [`Visitor::wants`].
    fn wants(&self, v: VertexId) -> bool;
    /// Those of the 64 vertices from `first` on that are selected and wanted, a bit each.
    fn wanted(&self, first: usize, selected: u64) -> u64;
    /// Whether [`Visitor::minds`] holds for any vertex of a range.
    fn minds_any(&self, vertices: Range<usize>) -> bool;
    /// The edges that a tile must leave out, with all their copies, in ascending order: for each, its row
    /// within the tile times [`STRIP_LEN`](crate::STRIP_LEN), plus its column within the tile. Only for
    /// sources of tiles.
    fn left_out(&self, tile: Tile) -> &[u32];
    /// A worker with a state of its own. When dropped, it gives its state back.
    fn sink(&self) -> Box<dyn Sink<W> + '_>;
}

/// The vertices of a range, all or those in `bits`, that are wanted. For each block of 64 that holds any: its
/// first vertex, and a bit for each.
pub fn wanted_blocks<'v, W>(
    visitor: &'v dyn AnyVisitor<W>,
    vertices: Range<usize>,
    bits: Option<&'v Bitmap>,
) -> impl Iterator<Item = (usize, u64)> + use<'v, W> {
    let Range { start, end } = vertices;
    (start / 64 * 64..end).step_by(64).filter_map(move |first| {
        let selected = Bitmap::selected(bits, first, end) & u64::MAX << start.saturating_sub(first);
        let wanted = if selected == 0 { 0 } else { visitor.wanted(first, selected) };
        (wanted != 0).then_some((first, wanted))
    })
}

/// A visitor together with the state of one worker.
pub trait Sink<W>: Send {
    /// Calls [`Visitor::visit`] for each piece whose vertex is still wanted. Returns which pieces have
    /// enough, a bit each: visits that returned [`Flow::Enough`] and vertices no longer wanted. At most
    /// [`SINK_BATCH_MAX`] pieces.
    fn visit(&mut self, batch: &[(VertexId, Piece<'_, W>)]) -> u64;
    /// [`Visitor::visit_back`].
    fn visit_back(&mut self, u: VertexId, vertices: Piece<'_, W>);
    /// [`Visitor::visit_patch`].
    fn visit_patch(&mut self, patch: &Patch<'_, W>);
}

/// Compiled once for each type of weight, not for each sink.
impl<W> dyn Sink<W> + '_ {
    /// Hands over a patch row by row.
    pub fn visit_rows(&mut self, patch: &Patch<'_, W>) {
        for (row, range) in patch.iter() {
            let (targets, weights) = (&patch.columns[range.clone()], &patch.weights[range]);
            if patch.to_rows.is_taken() {
                let piece = Piece { targets, weights, exclusive: patch.to_rows.is_exclusive() };
                self.visit(&[(row, piece)]);
            }
            if patch.to_columns.is_taken() {
                let exclusive = patch.to_columns.is_exclusive();
                self.visit_back(row, Piece { targets, weights, exclusive });
            }
        }
    }

    /// Calls [`Sink::visit`] for one piece.
    pub fn visit_one(&mut self, v: VertexId, piece: Piece<'_, W>) -> Flow {
        if self.visit(&[(v, piece)]) == 0 { Flow::More } else { Flow::Enough }
    }
}

/// Calls `scan` with a visitor without its type, and returns the states of its workers.
///
/// # Errors
/// Those of `scan`.
pub fn collect<W: Weight, E, V: Visitor<W>>(
    visitor: &V,
    scan: impl FnOnce(&dyn AnyVisitor<W>) -> Result<(), E>,
) -> Result<Vec<V::State>, E> {
    let collecting = Collecting { visitor, states: Mutex::new(Vec::new()) };
    scan(&collecting)?;
    Ok(collecting.states.into_inner())
}

/// A visitor and the states of its finished workers.
struct Collecting<'a, V, S> {
    visitor: &'a V,
    states: Mutex<Vec<S>>,
}

struct Collector<'a, W, V: Visitor<W>> {
    of: &'a Collecting<'a, V, V::State>,
    /// Present until the worker is dropped.
    state: Option<V::State>,
}

impl<W, V: Visitor<W>> Drop for Collector<'_, W, V> {
    fn drop(&mut self) {
        self.of.states.lock().extend(self.state.take());
    }
}

impl<W: Weight, V: Visitor<W>> AnyVisitor<W> for Collecting<'_, V, V::State> {
    fn stops(&self) -> bool {
        V::STOPS
    }

    fn wants(&self, v: VertexId) -> bool {
        self.visitor.wants(v)
    }

    fn wanted(&self, first: usize, selected: u64) -> u64 {
        wanted_of(self.visitor, first, selected)
    }

    fn minds_any(&self, vertices: Range<usize>) -> bool {
        vertices.into_iter().any(|u| self.visitor.minds(crate::id::vertex(u)))
    }

    fn left_out(&self, _tile: Tile) -> &[u32] {
        &[]
    }

    fn sink(&self) -> Box<dyn Sink<W> + '_> {
        Box::new(Collector { of: self, state: Some(self.visitor.new_state()) })
    }
}

impl<W: Weight, V: Visitor<W>> Sink<W> for Collector<'_, W, V> {
    fn visit(&mut self, batch: &[(VertexId, Piece<'_, W>)]) -> u64 {
        let Some(state) = &mut self.state else { return 0 };
        let visitor = self.of.visitor;
        let mut enough = 0;
        for (i, (v, piece)) in batch.iter().enumerate() {
            let is = !visitor.wants(*v) || visitor.visit(state, *v, *piece) == Flow::Enough;
            enough |= u64::from(is) << i;
        }
        enough
    }

    fn visit_back(&mut self, u: VertexId, vertices: Piece<'_, W>) {
        if let Some(state) = &mut self.state {
            self.of.visitor.visit_back(state, u, vertices);
        }
    }

    fn visit_patch(&mut self, patch: &Patch<'_, W>) {
        if !V::PATCHES {
            return (self as &mut dyn Sink<W>).visit_rows(patch);
        }
        if let Some(state) = &mut self.state {
            self.of.visitor.visit_patch(state, patch);
        }
    }
}

/// Shows an [`AnyVisitor`] as a [`Visitor`], with one virtual call a piece. `STOPS` must be
/// [`AnyVisitor::stops`] or true.
pub struct DynVisitor<'a, W, const STOPS: bool>(pub &'a dyn AnyVisitor<W>);

impl<'a, W, const STOPS: bool> Visitor<W> for DynVisitor<'a, W, STOPS> {
    type State = Box<dyn Sink<W> + 'a>;

    const STOPS: bool = STOPS;

    fn new_state(&self) -> Self::State {
        self.0.sink()
    }

    fn wants(&self, v: VertexId) -> bool {
        self.0.wants(v)
    }

    fn visit(&self, sink: &mut Self::State, v: VertexId, piece: Piece<'_, W>) -> Flow {
        sink.visit_one(v, piece)
    }

    fn visit_back(&self, sink: &mut Self::State, u: VertexId, vertices: Piece<'_, W>) {
        sink.visit_back(u, vertices);
    }

    fn visit_patch(&self, sink: &mut Self::State, patch: &Patch<'_, W>) {
        sink.visit_patch(patch);
    }
}

impl<G: Lists> AnyLists<G::Weight, G::Error> for G {
    fn num_vertices(&self) -> usize {
        Graph::num_vertices(self)
    }

    fn num_arcs(&self) -> u64 {
        Graph::num_arcs(self)
    }

    fn is_directed(&self) -> bool {
        Graph::is_directed(self)
    }

    fn is_scattered(&self) -> bool {
        Graph::is_scattered(self)
    }

    fn words_apart(&self) -> bool {
        Graph::words_apart(self)
    }

    fn has(&self, direction: Direction) -> bool {
        Graph::has(self, direction)
    }

    fn degree(&self, direction: Direction, v: VertexId) -> usize {
        Graph::degree(self, direction, v)
    }

    fn scan(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &dyn AnyVisitor<G::Weight>,
    ) -> Result<(), G::Error> {
        // The states are sinks, which give the visitor's states back when they are dropped.
        if visitor.stops() {
            Graph::scan(self, run, direction, select, &DynVisitor::<_, true>(visitor)).map(drop)
        } else {
            Graph::scan(self, run, direction, select, &DynVisitor::<_, false>(visitor)).map(drop)
        }
    }

    fn with_list(
        &self,
        direction: Direction,
        v: VertexId,
        take: &mut dyn FnMut(&[VertexId], &[G::Weight]),
    ) -> Result<(), G::Error> {
        Lists::with_list(self, direction, v, take)
    }
}

/// Any graph behind a pointer.
pub struct Boxed<'a, W, E>(Box<dyn AnyLists<W, E> + 'a>);

impl<'a, W: Weight, E> Boxed<'a, W, E> {
    /// Boxes a graph.
    pub fn new<G: Lists<Weight = W, Error = E> + 'a>(graph: G) -> Self {
        Self(Box::new(graph))
    }
}

impl<W, E> std::fmt::Debug for Boxed<'_, W, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Boxed").finish_non_exhaustive()
    }
}

impl<W: Weight, E: std::error::Error + From<Stop> + Send + Sync + 'static> Graph for Boxed<'_, W, E> {
    type Weight = W;
    type Error = E;

    fn num_vertices(&self) -> usize {
        self.0.num_vertices()
    }

    fn is_scattered(&self) -> bool {
        self.0.is_scattered()
    }

    fn words_apart(&self) -> bool {
        self.0.words_apart()
    }

    fn num_arcs(&self) -> u64 {
        self.0.num_arcs()
    }

    fn is_directed(&self) -> bool {
        self.0.is_directed()
    }

    fn has(&self, direction: Direction) -> bool {
        self.0.has(direction)
    }

    fn degree(&self, direction: Direction, v: VertexId) -> usize {
        self.0.degree(direction, v)
    }

    fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>, E> {
        collect(visitor, |visitor| self.0.scan(run, direction, select, visitor))
    }
}

impl<W: Weight, E: std::error::Error + From<Stop> + Send + Sync + 'static> Lists for Boxed<'_, W, E> {
    fn with_list<R>(
        &self,
        direction: Direction,
        v: VertexId,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R, E> {
        take_once(f, |take| self.0.with_list(direction, v, take))
    }
}

/// Calls `give` with a function that calls `f`, and returns the result of `f`.
///
/// # Errors
/// Those of `give`.
pub fn take_once<W, E, R>(
    f: impl FnOnce(&[VertexId], &[W]) -> R,
    give: impl FnOnce(&mut dyn FnMut(&[VertexId], &[W])) -> Result<(), E>,
) -> Result<R, E> {
    let (mut f, mut result) = (Some(f), None);
    give(&mut |targets, weights| result = f.take().map(|f| f(targets, weights)))?;
    Ok(result.expect("a list is given once"))
}
