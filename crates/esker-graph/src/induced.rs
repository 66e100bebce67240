//! A graph without its removed vertices.

use crate::bitmap::Bitmap;
use crate::graph::{Direction, Flow, Graph, Lists, Piece, Select, Visitor};
use crate::id::VertexId;
use crate::remaining::Remaining;
use crate::run::Run;
use crate::stop::Stop;

/// Vertices of a selection that one unit of shared work translates.
const GRAIN: usize = 1 << 16;

/// The graph over the vertices that are left of another: those are numbered anew, without gaps and in the
/// same order, so sorted lists stay sorted. Removed vertices have no edges; that is the caller's duty.
///
/// Every piece is translated, whole, into a buffer of the worker before it is visited: about a nanosecond an
/// arc. Memory: that buffer, as long as the longest piece; in a scan of a selection, the selection once more.
/// [`Remaining`] is extra.
///
/// ```
/// use esker_graph::{Csr, Direction, Graph, Induced, Remaining};
///
/// let csr = Csr::directed(4, &[(0, 2, ()), (2, 3, ())])?; // vertex 1 has no edges
/// let (graph, remaining) = (csr.graph(), Remaining::new(4, &[1])?);
/// let induced = Induced::new(&graph, &remaining);
/// assert_eq!(induced.num_vertices(), 3);
/// assert_eq!(induced.degree(Direction::Out, 1), 1); // once vertex 2
/// assert_eq!(remaining.origin(1), 2);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Induced<'g, G> {
    graph: &'g G,
    remaining: &'g Remaining,
}

impl<'g, G: Graph> Induced<'g, G> {
    /// The graph over the vertices that are left.
    pub fn new(graph: &'g G, remaining: &'g Remaining) -> Self {
        Self { graph, remaining }
    }

    /// Which vertices of the graph inside its vertices are.
    pub fn remaining(&self) -> &'g Remaining {
        self.remaining
    }

    /// A set of vertices as one of those of the graph inside.
    fn origins_of(&self, run: &Run, bits: &Bitmap) -> Result<Bitmap, Stop> {
        let inner = Bitmap::new(self.graph.num_vertices());
        run.share_ranges::<_, Stop>(
            bits.len(),
            GRAIN,
            || (),
            |(), range| {
                for v in bits.iter_range(range) {
                    inner.insert(self.remaining.origin(v));
                }
                Ok(())
            },
        )?;
        Ok(inner)
    }
}

/// Translates the ids of the whole graph to those of the remaining vertices for a visitor.
struct Translating<'a, V> {
    visitor: &'a V,
    remaining: &'a Remaining,
}

/// The state of a worker: that of the visitor, and the neighbours of a piece by their new ids.
struct TranslatingState<S> {
    inner: S,
    ranks: Vec<VertexId>,
}

impl<W, V: Visitor<W>> Visitor<W> for Translating<'_, V> {
    type State = TranslatingState<V::State>;

    const STOPS: bool = V::STOPS;

    fn new_state(&self) -> Self::State {
        TranslatingState { inner: self.visitor.new_state(), ranks: Vec::new() }
    }

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.remaining.place(v).is_some_and(|v| self.visitor.wants(v))
    }

    #[inline(always)]
    fn visit(&self, state: &mut Self::State, v: VertexId, piece: Piece<'_, W>) -> Flow {
        state.ranks.clear();
        state.ranks.extend(piece.targets.iter().map(|&target| self.remaining.rank(target)));
        let piece = Piece { targets: &state.ranks, weights: piece.weights, exclusive: piece.exclusive };
        self.visitor.visit(&mut state.inner, self.remaining.rank(v), piece)
    }
}

impl<G: Graph> Graph for Induced<'_, G> {
    type Weight = G::Weight;
    type Error = G::Error;

    /// The inner graph keeps the words of its own ids apart, and those are other words.
    fn words_apart(&self) -> bool {
        false
    }

    fn num_vertices(&self) -> usize {
        self.remaining.len()
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

    #[inline(always)]
    fn degree(&self, direction: Direction, v: VertexId) -> usize {
        self.graph.degree(direction, self.remaining.origin(v))
    }

    fn scan<V: Visitor<G::Weight>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>, G::Error> {
        let visitor = Translating { visitor, remaining: self.remaining };
        let states = match select {
            Select::All => self.graph.scan(run, direction, Select::All, &visitor)?,
            Select::List(list) => {
                let list: Vec<_> = list.iter().map(|&v| self.remaining.origin(v)).collect();
                self.graph.scan(run, direction, Select::List(&list), &visitor)?
            }
            Select::Bits(bits) => {
                let bits = self.origins_of(run, bits)?;
                self.graph.scan(run, direction, Select::Bits(&bits), &visitor)?
            }
        };
        Ok(states.into_iter().map(|state| state.inner).collect())
    }
}

/// Each list is copied once.
impl<G: Lists> Lists for Induced<'_, G> {
    fn with_list<R>(
        &self,
        direction: Direction,
        v: VertexId,
        f: impl FnOnce(&[VertexId], &[G::Weight]) -> R,
    ) -> Result<R, G::Error> {
        self.graph.with_list(direction, self.remaining.origin(v), |targets, weights| {
            let places: Vec<_> = targets.iter().map(|&target| self.remaining.rank(target)).collect();
            f(&places, weights)
        })
    }
}
