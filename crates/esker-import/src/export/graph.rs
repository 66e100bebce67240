//! What is exported: graphs, and streams of edges.

use std::ops::Range;

use esker_format::Result;
use esker_graph::{Direction, VertexId, vertex};

use crate::source::TextColumn;

/// Edges in a block.
pub(super) const BLOCK_EDGES: u64 = 1 << 16;

/// The type of an edge property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyKind {
    /// Integers that fit 32 bits.
    I32,
    /// Integers.
    I64,
    /// Numbers that fit 32 bits exactly.
    F32,
    /// Numbers.
    F64,
    /// Texts from a dictionary.
    Text,
}

/// An edge property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyInfo {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: PropertyKind,
}

/// Values of a property.
#[derive(Debug, Clone, PartialEq)]
pub enum EdgeValues {
    /// Of kind [`PropertyKind::I32`] or [`PropertyKind::I64`].
    Int(Vec<i64>),
    /// Of kind [`PropertyKind::F32`] or [`PropertyKind::F64`].
    Float(Vec<f64>),
    /// Positions in the dictionary of a property of kind [`PropertyKind::Text`].
    Code(Vec<u32>),
}

impl EdgeValues {
    /// No values of this kind.
    pub fn new(kind: PropertyKind) -> Self {
        match kind {
            PropertyKind::I32 | PropertyKind::I64 => Self::Int(Vec::new()),
            PropertyKind::F32 | PropertyKind::F64 => Self::Float(Vec::new()),
            PropertyKind::Text => Self::Code(Vec::new()),
        }
    }

    /// Takes all values out.
    pub fn clear(&mut self) {
        match self {
            Self::Int(values) => values.clear(),
            Self::Float(values) => values.clear(),
            Self::Code(values) => values.clear(),
        }
    }

    /// Takes the values of a range out.
    fn remove(&mut self, range: Range<usize>) {
        match self {
            Self::Int(values) => drop(values.drain(range)),
            Self::Float(values) => drop(values.drain(range)),
            Self::Code(values) => drop(values.drain(range)),
        }
    }
}

/// Consecutive edges: columns of equal length.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EdgeBlock {
    /// Number of the vertex that each edge leaves.
    pub sources: Vec<u64>,
    /// Number of the vertex where it arrives.
    pub targets: Vec<u64>,
    /// Values of each property.
    pub properties: Vec<EdgeValues>,
}

impl EdgeBlock {
    /// An empty block for these properties.
    pub fn new(properties: &[PropertyInfo]) -> Self {
        let values = properties.iter().map(|property| EdgeValues::new(property.kind)).collect();
        Self { sources: Vec::new(), targets: Vec::new(), properties: values }
    }

    /// Takes all edges out.
    pub fn clear(&mut self) {
        self.sources.clear();
        self.targets.clear();
        self.properties.iter_mut().for_each(EdgeValues::clear);
    }

    /// Number of edges.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }
}

/// A graph that can be exported.
pub trait ExportGraph: Sync {
    /// Number of vertices.
    fn num_vertices(&self) -> u64;

    /// Entries of all out-lists.
    fn num_arcs(&self) -> u64;

    /// Whether out-lists and in-lists differ.
    fn is_directed(&self) -> bool;

    /// Whether lists of this direction are kept.
    fn has(&self, direction: Direction) -> bool;

    /// The edge properties.
    fn properties(&self) -> &[PropertyInfo];

    /// Which property is the weight.
    fn weight(&self) -> Option<usize>;

    /// The distinct texts of a property of kind [`PropertyKind::Text`]; none for others.
    ///
    /// # Errors
    /// If they cannot be read.
    fn dictionary(&self, property: usize) -> Result<TextColumn>;

    /// Length of the list of `v`.
    ///
    /// # Errors
    /// If it cannot be read, or the direction is not kept.
    fn degree(&self, direction: Direction, v: VertexId) -> Result<u64>;

    /// Appends the entries `range` of the list of `v`, ascending by target, to `targets` and each property's values.
    ///
    /// # Errors
    /// If the list cannot be read, or the direction is not kept.
    fn list(
        &self,
        direction: Direction,
        v: VertexId,
        range: Range<u64>,
        targets: &mut Vec<u64>,
        properties: &mut [EdgeValues],
    ) -> Result<()>;

    /// Whether external ids are texts; else they are integers.
    fn has_text_ids(&self) -> bool;

    /// If the external ids are exactly the integers `base..base + n`, but vertices are in another order, the base.
    /// Formats that know only numbers then number the vertices by their ids.
    fn dense_base(&self) -> Option<u64>;

    /// The external id of `v`, when ids are integers.
    ///
    /// # Errors
    /// If it cannot be read.
    fn int_id(&self, v: VertexId) -> Result<u64>;

    /// Appends the external id of `v`, in decimal digits when ids are integers.
    ///
    /// # Errors
    /// If it cannot be read.
    fn write_id(&self, v: VertexId, out: &mut Vec<u8>) -> Result<()>;

    /// The vertex whose id is `base + number`, when ids are dense.
    ///
    /// # Errors
    /// If it cannot be read.
    fn vertex_of_number(&self, number: u64) -> Result<VertexId>;
}

/// What is known of a stream before it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamShape {
    /// Number of vertices.
    pub vertices: u64,
    /// Number of edges that will come, exactly.
    pub edges: u64,
    /// Whether they have a direction.
    pub directed: bool,
    /// Their properties.
    pub properties: Vec<PropertyInfo>,
    /// Which property is the weight.
    pub weight: Option<usize>,
    /// The texts of properties of kind [`PropertyKind::Text`]; empty for others.
    pub dictionaries: Vec<TextColumn>,
}

/// Edges, block by block. Ids are the numbers of the vertices unless [`EdgeStream::graph`] says more.
pub trait EdgeStream {
    /// What is known before.
    fn shape(&self) -> StreamShape;

    /// Fills `block`, which is empty; leaves it empty at the end.
    ///
    /// # Errors
    /// If edges cannot be read.
    fn next(&mut self, block: &mut EdgeBlock) -> Result<()>;

    /// The graph that knows the ids of the vertices.
    fn graph(&self) -> Option<&dyn ExportGraph> {
        None
    }
}

/// The edges of a graph as a stream: list by list, or (undirected, not at both ends) each from its smaller end.
pub struct ListExport<'a> {
    graph: &'a dyn ExportGraph,
    once: bool,
    edges: u64,
    vertex: u64,
    /// Entries of the list of `vertex` that were handed over.
    entry: u64,
}

impl<'a> ListExport<'a> {
    /// Counts the edges that will come, which takes a pass over an undirected graph's lists.
    ///
    /// # Errors
    /// If lists cannot be read.
    pub fn new(graph: &'a dyn ExportGraph, both_ends: bool) -> Result<Self> {
        let once = !graph.is_directed() && !both_ends;
        let edges = if once { num_edges_once(graph)? } else { graph.num_arcs() };
        Ok(Self { graph, once, edges, vertex: 0, entry: 0 })
    }
}

/// Edges of an undirected graph: an arc for each, a self-loop has one arc anyway.
fn num_edges_once(graph: &dyn ExportGraph) -> Result<u64> {
    let loops = num_loops(graph)?;
    Ok((graph.num_arcs() - loops) / 2 + loops)
}

/// Self-loops, found by a pass over all lists.
pub(super) fn num_loops(graph: &dyn ExportGraph) -> Result<u64> {
    let mut block = EdgeBlock::new(graph.properties());
    let mut loops = 0;
    for v in 0..graph.num_vertices() {
        let degree = graph.degree(Direction::Out, vertex(v as usize))?;
        let mut entry = 0;
        while entry < degree {
            block.clear();
            let end = degree.min(entry + BLOCK_EDGES);
            graph.list(
                Direction::Out,
                vertex(v as usize),
                entry..end,
                &mut block.targets,
                &mut block.properties,
            )?;
            let (first, past) =
                (block.targets.partition_point(|&t| t < v), block.targets.partition_point(|&t| t <= v));
            loops += (past - first) as u64;
            entry = end;
        }
    }
    Ok(loops)
}

impl EdgeStream for ListExport<'_> {
    fn shape(&self) -> StreamShape {
        let properties = self.graph.properties().to_vec();
        // A dictionary that cannot be read is found out about when its column is: none is needed before.
        let dictionaries =
            (0..properties.len()).map(|i| self.graph.dictionary(i).unwrap_or_default()).collect();
        StreamShape {
            vertices: self.graph.num_vertices(),
            edges: self.edges,
            directed: self.graph.is_directed(),
            properties,
            weight: self.graph.weight(),
            dictionaries,
        }
    }

    fn next(&mut self, block: &mut EdgeBlock) -> Result<()> {
        while (block.len() as u64) < BLOCK_EDGES && self.vertex < self.graph.num_vertices() {
            let v = vertex(self.vertex as usize);
            let degree = self.graph.degree(Direction::Out, v)?;
            let end = degree.min(self.entry + BLOCK_EDGES);
            let from = block.len();
            self.graph.list(Direction::Out, v, self.entry..end, &mut block.targets, &mut block.properties)?;
            if self.once {
                // Lists ascend: those that the other end hands over come first.
                let others = block.targets[from..].partition_point(|&target| target < self.vertex);
                block.targets.drain(from..from + others);
                block.properties.iter_mut().for_each(|values| values.remove(from..from + others));
            }
            block.sources.resize(block.len(), self.vertex);
            (self.vertex, self.entry) = if end == degree { (self.vertex + 1, 0) } else { (self.vertex, end) };
        }
        Ok(())
    }

    fn graph(&self) -> Option<&dyn ExportGraph> {
        Some(self.graph)
    }
}
