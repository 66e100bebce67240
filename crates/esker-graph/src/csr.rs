//! Compressed sparse rows (CSR): the reference representation of a graph in memory.
//!
//! [`CsrGraph`] borrows its arrays as [`Rows`]; [`Csr`] owns them.

use crate::graph::{Direction, Graph, Lists, Select, Visitor, Weight};
use crate::id::{VertexId, vertex};
use crate::rows::Rows;
use crate::run::{Cancel, Run};
use crate::stop::Stop;

/// A graph over borrowed rows.
#[derive(Debug, Clone, Copy)]
pub struct CsrGraph<'a, W> {
    out: Rows<'a, W>,
    /// `None` if not kept, or if the graph is undirected.
    incoming: Option<Rows<'a, W>>,
    directed: bool,
}

impl<'a, W: Weight> CsrGraph<'a, W> {
    /// An undirected graph: every edge is in the lists of both of its ends.
    pub fn undirected(rows: Rows<'a, W>) -> Self {
        Self { out: rows, incoming: None, directed: false }
    }

    /// A directed graph, with in-lists if `incoming` is given.
    pub fn directed(out: Rows<'a, W>, incoming: Option<Rows<'a, W>>) -> Self {
        Self { out, incoming, directed: true }
    }

    /// The rows of a direction, if the graph has them.
    #[inline(always)]
    pub fn rows(&self, direction: Direction) -> Option<&Rows<'a, W>> {
        match (direction, self.directed) {
            (Direction::In, true) => self.incoming.as_ref(),
            _ => Some(&self.out),
        }
    }

    fn kept(&self, direction: Direction) -> Result<&Rows<'a, W>, Stop> {
        self.rows(direction)
            .ok_or_else(|| Stop::unsuitable("the graph is stored without its in-edges".to_owned()))
    }
}

impl<W: Weight> Graph for CsrGraph<'_, W> {
    type Weight = W;
    type Error = Stop;

    fn num_vertices(&self) -> usize {
        self.out.num_vertices()
    }

    fn num_arcs(&self) -> u64 {
        self.out.targets().len() as u64
    }

    fn is_directed(&self) -> bool {
        self.directed
    }

    fn is_at_hand(&self) -> bool {
        true
    }

    fn has(&self, direction: Direction) -> bool {
        self.rows(direction).is_some()
    }

    #[inline(always)]
    fn degree(&self, direction: Direction, v: VertexId) -> usize {
        self.rows(direction).expect("the graph has this direction").degree(v)
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

    #[inline(always)]
    fn touch(&self, direction: Direction, batch: &[VertexId]) {
        if let Some(rows) = self.rows(direction) {
            rows.touch_targets(batch);
        }
    }
}

/// The arrays of one direction, owned.
#[derive(Debug, Clone)]
struct OwnedRows<W> {
    offsets: Vec<u64>,
    targets: Vec<VertexId>,
    weights: Vec<W>,
}

/// Edges sorted by one of their ends, otherwise in the given order, and where the edges of each vertex begin.
/// Counts instead of comparing: a step for each edge and each vertex.
fn counted<W>(
    num_vertices: usize,
    edges: Vec<&(VertexId, VertexId, W)>,
    end: impl Fn(&(VertexId, VertexId, W)) -> VertexId,
) -> (Vec<&(VertexId, VertexId, W)>, Vec<u64>) {
    let mut offsets = vec![0_u64; num_vertices + 1];
    for edge in &edges {
        offsets[end(edge) as usize + 1] += 1;
    }
    for v in 0..num_vertices {
        offsets[v + 1] += offsets[v];
    }
    let (mut next, mut sorted) = (offsets.clone(), edges.clone());
    for edge in edges {
        let place = &mut next[end(edge) as usize];
        sorted[*place as usize] = edge;
        *place += 1;
    }
    (sorted, offsets)
}

impl<W: Weight> OwnedRows<W> {
    /// Sorted rows of `edges`. Keeps duplicates in the given order.
    fn from_edges(num_vertices: usize, edges: &[(VertexId, VertexId, W)]) -> Self {
        let order: Vec<&(VertexId, VertexId, W)> = edges.iter().collect();
        let (order, _) = counted(num_vertices, order, |edge| edge.1);
        let (order, offsets) = counted(num_vertices, order, |edge| edge.0);
        Self {
            offsets,
            targets: order.iter().map(|edge| edge.1).collect(),
            weights: order.iter().map(|edge| edge.2).collect(),
        }
    }

    fn borrow(&self) -> Rows<'_, W> {
        Rows::of(&self.offsets, &self.targets, &self.weights)
    }
}

/// A graph in memory that owns its arrays. Memory: 8 bytes per vertex and 4 bytes (plus the weight) per arc,
/// twice if directed.
#[derive(Debug, Clone)]
pub struct Csr<W = ()> {
    out: OwnedRows<W>,
    directed: bool,
    /// `None` if not kept, or if the graph is undirected.
    incoming: Option<OwnedRows<W>>,
}

impl<W: Weight> Csr<W> {
    /// A copy of any graph, with its in-lists if it is directed and has them.
    ///
    /// ```
    /// use esker_graph::{Csr, Graph, Induced, Remaining};
    ///
    /// let csr = Csr::directed(3, &[(0, 2, ())])?;
    /// let (graph, remaining) = (csr.graph(), Remaining::new(3, &[1])?);
    /// let copy = Csr::copy_of(&Induced::new(&graph, &remaining))?; // without vertex 1
    /// assert_eq!((copy.graph().num_vertices(), copy.graph().num_arcs()), (2, 1));
    /// # Ok::<(), esker_graph::Stop>(())
    /// ```
    ///
    /// # Errors
    /// The first list that cannot be read.
    pub fn copy_of<G: Lists<Weight = W>>(graph: &G) -> Result<Self, G::Error> {
        Self::copy_with(graph, graph.has(Direction::In), &Cancel::default())
    }

    /// A copy of any graph, with in-lists if it is directed and they are wanted. Tiles have in-edges, but no
    /// in-lists to read one by one.
    ///
    /// # Errors
    /// The first list that cannot be read; [`Stop::Cancelled`].
    pub fn copy_with<G: Lists<Weight = W>>(
        graph: &G,
        in_lists: bool,
        cancel: &Cancel,
    ) -> Result<Self, G::Error> {
        let copy = |direction| -> Result<OwnedRows<W>, G::Error> {
            let mut rows = OwnedRows { offsets: vec![0], targets: Vec::new(), weights: Vec::new() };
            for v in (0..graph.num_vertices()).map(vertex) {
                cancel.check()?;
                graph.with_list(direction, v, |targets, weights| {
                    rows.targets.extend_from_slice(targets);
                    rows.weights.extend_from_slice(weights);
                })?;
                rows.offsets.push(rows.targets.len() as u64);
            }
            Ok(rows)
        };
        let incoming = if graph.is_directed() && in_lists { Some(copy(Direction::In)?) } else { None };
        Ok(Self { out: copy(Direction::Out)?, directed: graph.is_directed(), incoming })
    }

    /// A directed graph with in-lists. Keeps duplicates and self-loops.
    ///
    /// ```
    /// use esker_graph::{Csr, Direction, Graph};
    ///
    /// let csr = Csr::directed(3, &[(0, 1, 2.5), (0, 2, 1.0), (2, 1, 4.0)])?;
    /// let graph = csr.graph();
    /// assert_eq!((graph.num_vertices(), graph.num_arcs()), (3, 3));
    /// assert_eq!((graph.degree(Direction::Out, 0), graph.degree(Direction::In, 1)), (2, 2));
    /// # Ok::<(), esker_graph::Stop>(())
    /// ```
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

    /// An undirected graph: each edge is entered at both ends, a self-loop once. Keeps duplicates.
    ///
    /// ```
    /// use esker_graph::{Csr, Direction, Graph, Lists};
    ///
    /// let csr = Csr::undirected(4, &[(2, 0, ()), (2, 1, ()), (3, 3, ())])?;
    /// let graph = csr.graph();
    /// assert_eq!(graph.num_arcs(), 5); // two for each edge, one for the self-loop
    /// let list = graph.with_list(Direction::Out, 2, |targets, _weights| targets.to_vec())?;
    /// assert_eq!(list, [0, 1]); // ascending
    /// # Ok::<(), esker_graph::Stop>(())
    /// ```
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

    /// This graph over borrowed rows, as algorithms take it.
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
        Some((u, v, _)) => Err(Stop::unsuitable(format!(
            "edge {u} -> {v} has an end that is not one of {num_vertices} vertices"
        ))),
        None => Ok(()),
    }
}
