//! A graph whose type is forgotten: for kinds that are rare, so that algorithms need not be compiled for each of them.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::graph::{Direction, Flow, Graph, Lists, Piece, Select, Visitor, Weight};
use crate::id::VertexId;
use crate::run::{Run, Stop};

/// Any graph with weights of type `W` and errors of type `E`, behind a pointer. A piece costs an indirect call, a list that is asked for
/// at random another; degrees too, so this is for graphs that are awkward anyway.
pub struct Erased<'a, W, E> {
    graph: Box<dyn AnyLists<W, E> + 'a>,
}

impl<'a, W: Weight, E> Erased<'a, W, E> {
    /// Forgets the type of `graph`.
    pub fn new<G: Lists<Weight = W, Error = E> + 'a>(graph: G) -> Self {
        Self { graph: Box::new(graph) }
    }
}

impl<W, E> std::fmt::Debug for Erased<'_, W, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Erased").finish_non_exhaustive()
    }
}

/// [`Lists`], without type parameters of its methods.
trait AnyLists<W, E>: Sync {
    fn num_vertices(&self) -> usize;
    fn is_scattered(&self) -> bool;
    fn num_arcs(&self) -> u64;
    fn is_directed(&self) -> bool;
    fn has(&self, direction: Direction) -> bool;
    fn degree(&self, direction: Direction, v: VertexId) -> usize;
    fn scan(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        workers: &dyn Workers<W>,
    ) -> Result<(), E>;
    fn with_list(
        &self,
        direction: Direction,
        v: VertexId,
        take: &mut dyn FnMut(&[VertexId], &[W]),
    ) -> Result<(), E>;
}

/// A visitor, without its type.
trait Workers<W>: Sync {
    /// [`Visitor::STOPS`].
    fn stops(&self) -> bool;
    fn wants(&self, v: VertexId) -> bool;
    /// A worker with a state of its own.
    fn worker(&self) -> Box<dyn Worker<W> + '_>;
}

/// A visitor with the state of one worker.
trait Worker<W>: Send {
    fn visit(&mut self, v: VertexId, piece: Piece<'_, W>) -> Flow;
    fn visit_back(&mut self, u: VertexId, vertices: Piece<'_, W>);
    fn enter(&mut self, vertices: Range<usize>);
    fn leave(&mut self);
    /// Hands the state back.
    fn finish(self: Box<Self>);
}

/// A visitor and the states of the workers that have finished.
struct Collecting<'a, V, S> {
    visitor: &'a V,
    finished: Mutex<Vec<S>>,
}

struct Working<'a, V, S> {
    of: &'a Collecting<'a, V, S>,
    state: S,
}

impl<W, V: Visitor<W>> Workers<W> for Collecting<'_, V, V::State> {
    fn stops(&self) -> bool {
        V::STOPS
    }

    fn wants(&self, v: VertexId) -> bool {
        self.visitor.wants(v)
    }

    fn worker(&self) -> Box<dyn Worker<W> + '_> {
        Box::new(Working { of: self, state: self.visitor.new_state() })
    }
}

impl<W, V: Visitor<W>> Worker<W> for Working<'_, V, V::State> {
    fn visit(&mut self, v: VertexId, piece: Piece<'_, W>) -> Flow {
        self.of.visitor.visit(&mut self.state, v, piece)
    }

    fn visit_back(&mut self, u: VertexId, vertices: Piece<'_, W>) {
        self.of.visitor.visit_back(&mut self.state, u, vertices);
    }

    fn enter(&mut self, vertices: Range<usize>) {
        self.of.visitor.enter(&mut self.state, vertices);
    }

    fn leave(&mut self) {
        self.of.visitor.leave(&mut self.state);
    }

    fn finish(self: Box<Self>) {
        self.of.finished.lock().unwrap_or_else(PoisonError::into_inner).push(self.state);
    }
}

/// Shows a graph a visitor without type as one with a type.
struct Bridge<'a, W, const STOPS: bool>(&'a dyn Workers<W>);

impl<'a, W, const STOPS: bool> Visitor<W> for Bridge<'a, W, STOPS> {
    type State = Box<dyn Worker<W> + 'a>;

    const STOPS: bool = STOPS;

    fn new_state(&self) -> Self::State {
        self.0.worker()
    }

    fn wants(&self, v: VertexId) -> bool {
        self.0.wants(v)
    }

    fn visit(&self, state: &mut Self::State, v: VertexId, piece: Piece<'_, W>) -> Flow {
        state.visit(v, piece)
    }

    fn visit_back(&self, state: &mut Self::State, u: VertexId, vertices: Piece<'_, W>) {
        state.visit_back(u, vertices);
    }

    fn enter(&self, state: &mut Self::State, vertices: Range<usize>) {
        state.enter(vertices);
    }

    fn leave(&self, state: &mut Self::State) {
        state.leave();
    }
}

impl<G: Lists> AnyLists<G::Weight, G::Error> for G {
    fn num_vertices(&self) -> usize {
        Graph::num_vertices(self)
    }

    fn is_scattered(&self) -> bool {
        Graph::is_scattered(self)
    }

    fn num_arcs(&self) -> u64 {
        Graph::num_arcs(self)
    }

    fn is_directed(&self) -> bool {
        Graph::is_directed(self)
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
        workers: &dyn Workers<G::Weight>,
    ) -> Result<(), G::Error> {
        let finished = if workers.stops() {
            Graph::scan(self, run, direction, select, &Bridge::<_, true>(workers))?
        } else {
            Graph::scan(self, run, direction, select, &Bridge::<_, false>(workers))?
        };
        finished.into_iter().for_each(Worker::finish);
        Ok(())
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

impl<W: Weight, E: std::error::Error + From<Stop> + Send + Sync + 'static> Graph for Erased<'_, W, E> {
    type Weight = W;
    type Error = E;

    /// Of the graph inside this is not known.
    const WORDS_APART: bool = false;

    fn num_vertices(&self) -> usize {
        self.graph.num_vertices()
    }

    fn is_scattered(&self) -> bool {
        self.graph.is_scattered()
    }

    fn num_arcs(&self) -> u64 {
        self.graph.num_arcs()
    }

    fn is_directed(&self) -> bool {
        self.graph.is_directed()
    }

    fn has(&self, direction: Direction) -> bool {
        self.graph.has(direction)
    }

    fn degree(&self, direction: Direction, v: VertexId) -> usize {
        self.graph.degree(direction, v)
    }

    fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>, E> {
        let collecting = Collecting { visitor, finished: Mutex::new(Vec::new()) };
        self.graph.scan(run, direction, select, &collecting)?;
        Ok(collecting.finished.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<W: Weight, E: std::error::Error + From<Stop> + Send + Sync + 'static> Lists for Erased<'_, W, E> {
    fn with_list<R>(
        &self,
        direction: Direction,
        v: VertexId,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R, E> {
        let (mut f, mut result) = (Some(f), None);
        self.graph.with_list(direction, v, &mut |targets, weights| {
            result = f.take().map(|f| f(targets, weights));
        })?;
        Ok(result.expect("a list is given once"))
    }
}
