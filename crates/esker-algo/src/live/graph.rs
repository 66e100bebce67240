//! What a live answer reads: one version of a graph, list by list, and the edges that differ from the version
//! before.

use std::time::Instant;

use esker_graph::{Direction, Lists, Stop, VertexId, Weight, vertex};

/// A version of a graph whose lists are read one by one.
pub trait LiveGraph {
    /// The weights beside the neighbours.
    type Weight: Weight;
    /// What can go wrong.
    type Error: From<Stop>;

    /// Number of vertices.
    fn num_vertices(&self) -> usize;
    /// Whether out-lists and in-lists differ.
    fn is_directed(&self) -> bool;
    /// Whether lists of this direction are kept.
    fn has(&self, direction: Direction) -> bool;
    /// Length of the list of `v`.
    ///
    /// # Errors
    /// If it cannot be read.
    fn degree(&self, direction: Direction, v: VertexId) -> Result<usize, Self::Error>;
    /// Calls `take` with each entry of the list of `v`, in any order.
    ///
    /// # Errors
    /// If it cannot be read.
    fn each(
        &self,
        direction: Direction,
        v: VertexId,
        take: impl FnMut(VertexId, Self::Weight),
    ) -> Result<(), Self::Error>;
}

impl<G: Lists> LiveGraph for G {
    type Weight = G::Weight;
    type Error = G::Error;

    fn num_vertices(&self) -> usize {
        esker_graph::Graph::num_vertices(self)
    }

    fn is_directed(&self) -> bool {
        esker_graph::Graph::is_directed(self)
    }

    fn has(&self, direction: Direction) -> bool {
        esker_graph::Graph::has(self, direction)
    }

    fn degree(&self, direction: Direction, v: VertexId) -> Result<usize, G::Error> {
        Ok(esker_graph::Graph::degree(self, direction, v))
    }

    fn each(
        &self,
        direction: Direction,
        v: VertexId,
        mut take: impl FnMut(VertexId, G::Weight),
    ) -> Result<(), G::Error> {
        self.with_list(direction, v, |targets, weights| {
            targets.iter().zip(weights).for_each(|(&target, &weight)| take(target, weight));
        })
    }
}

/// What one version changed: each edge once, an undirected one from either end. A changed weight is an edge
/// removed and one added.
#[derive(Debug, Clone)]
pub struct ChangedEdges<W> {
    /// Edges that only the older version has: source, target, weight.
    pub removed: Vec<(VertexId, VertexId, W)>,
    /// Edges that only the newer version has.
    pub added: Vec<(VertexId, VertexId, W)>,
    /// Vertices that were removed. Their edges are among those removed.
    pub left: Vec<VertexId>,
    /// Vertices that are new, or restored.
    pub came: Vec<VertexId>,
}

impl<W> Default for ChangedEdges<W> {
    fn default() -> Self {
        Self { removed: Vec::new(), added: Vec::new(), left: Vec::new(), came: Vec::new() }
    }
}

impl<W> ChangedEdges<W> {
    /// The number of edges.
    pub fn len(&self) -> usize {
        self.removed.len() + self.added.len()
    }

    /// Whether no edge changed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Why an update stopped. The state is of no version then, unless the update says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Halt<E> {
    /// It read as much as it may, or took as long.
    TooMuch,
    /// The graph has no in-lists, which this update needs, or its weights do not add up.
    Unsuitable,
    /// A list could not be read.
    Failed(E),
}

/// The result of a step of an update.
pub(super) type UpdateResult<T, G> = Result<T, Halt<<G as LiveGraph>::Error>>;

impl<E> From<E> for Halt<E> {
    fn from(error: E) -> Self {
        Self::Failed(error)
    }
}

/// Reads lists of a version, and counts what it reads.
#[derive(Debug)]
pub struct BoundedReader<'g, G: LiveGraph> {
    graph: &'g G,
    changes: &'g ChangedEdges<G::Weight>,
    /// Arcs and lists read, one for each.
    read: u64,
    /// The most it may read.
    read_max: u64,
    /// When it has to end.
    deadline: Option<Instant>,
    /// The number of reads at which it looks at the clock next.
    next_look: u64,
}

/// Reads between two looks at the clock.
const LOOK_READS: u64 = 1024;

impl<'g, G: LiveGraph> BoundedReader<'g, G> {
    /// A reader of `graph` that may read that many arcs and lists. `changes` are its differences from the
    /// version of the state.
    pub fn new(graph: &'g G, changes: &'g ChangedEdges<G::Weight>, read_max: u64) -> Self {
        Self { graph, changes, read: 0, read_max, deadline: None, next_look: LOOK_READS }
    }

    /// Has the update stop at a time, if there is one.
    #[must_use]
    pub fn until(self, deadline: Option<Instant>) -> Self {
        Self { deadline, ..self }
    }

    /// The version.
    pub fn graph(&self) -> &'g G {
        self.graph
    }

    /// What the version changed.
    pub(super) fn changes(&self) -> &'g ChangedEdges<G::Weight> {
        self.changes
    }

    /// The number of vertices, and those from number `known` on.
    pub(super) fn new_vertices(&self, known: usize) -> (usize, Vec<VertexId>) {
        let n = self.graph.num_vertices();
        (n, (known..n).map(vertex).collect())
    }

    /// The arcs and lists read so far, and other steps that were counted.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Counts steps of work.
    ///
    /// # Errors
    /// [`Halt::TooMuch`].
    pub fn count(&mut self, steps: usize) -> Result<(), Halt<G::Error>> {
        self.read += steps as u64;
        if self.read > self.read_max {
            return Err(Halt::TooMuch);
        }
        if self.read < self.next_look {
            return Ok(());
        }
        self.next_look = self.read + LOOK_READS;
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_late { Err(Halt::TooMuch) } else { Ok(()) }
    }

    /// Calls `take` with each entry of the list of `v`.
    ///
    /// # Errors
    /// [`Halt::Unsuitable`] if the direction is not kept; the others of [`Halt`].
    pub fn each(
        &mut self,
        direction: Direction,
        v: VertexId,
        mut take: impl FnMut(VertexId, G::Weight),
    ) -> Result<(), Halt<G::Error>> {
        if !self.graph.has(direction) {
            return Err(Halt::Unsuitable);
        }
        let mut arcs = 0;
        self.graph.each(direction, v, |target, weight| {
            arcs += 1;
            take(target, weight);
        })?;
        self.count(arcs + 1)
    }

    /// Calls `take` with each neighbour of `v`, whatever the direction.
    ///
    /// # Errors
    /// As [`BoundedReader::each`].
    pub fn each_around(
        &mut self,
        v: VertexId,
        mut take: impl FnMut(VertexId, G::Weight),
    ) -> Result<(), Halt<G::Error>> {
        self.each(Direction::Out, v, &mut take)?;
        if self.graph.is_directed() { self.each(Direction::In, v, take) } else { Ok(()) }
    }

    /// The number of entries that [`BoundedReader::each_around`] hands over.
    ///
    /// # Errors
    /// As [`BoundedReader::each`].
    pub fn degree_around(&self, v: VertexId) -> Result<usize, Halt<G::Error>> {
        let mut degree = self.graph.degree(Direction::Out, v)?;
        if self.graph.is_directed() {
            if !self.graph.has(Direction::In) {
                return Err(Halt::Unsuitable);
            }
            degree += self.graph.degree(Direction::In, v)?;
        }
        Ok(degree)
    }
}
