//! What is exported: graphs, and streams of edges.

use std::ops::Range;

use arrow_array::builder::{ArrayBuilder, Float64Builder, Int64Builder, UInt32Builder, UInt64Builder};
use arrow_array::{ArrayRef, LargeBinaryArray};
use esker_format::{LogicalType, PropertyRecord, Result};
use esker_graph::{Cancel, Direction, VertexId, vertex};
use esker_layers::property::PropertyValue;

/// Edges in a block.
pub(super) const BLOCK_EDGES: u64 = 1 << 16;
/// Vertices between two looks at the cancel token.
pub(super) const CHECK_VERTICES: u64 = 1 << 12;

/// The type of an edge property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyKind {
    /// Integers that fit 32 bits.
    I32,
    /// Integers.
    I64,
    /// Integers from 0 to 2^64 - 1.
    U64,
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
    /// The type in which its values are handed on.
    pub kind: PropertyKind,
    /// What they are.
    pub logical: LogicalType,
    /// Whether edges may be without a value: null.
    pub optional: bool,
}

/// Consecutive edges: columns of equal length.
#[derive(Debug, Clone)]
pub struct ExportBlock {
    /// Number of the vertex that each edge leaves.
    pub sources: Vec<u64>,
    /// Number of the vertex where it arrives.
    pub targets: Vec<u64>,
    /// Values of each property: `Int64`, `UInt64`, `Float64`, or `UInt32` positions in the dictionary of a
    /// text property. Null where an edge has none.
    pub properties: Vec<ArrayRef>,
}

impl ExportBlock {
    /// Number of edges.
    pub(crate) fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }
}

/// A block that grows.
pub struct BlockBuilder {
    /// As in [`ExportBlock`].
    pub sources: Vec<u64>,
    /// As in [`ExportBlock`].
    pub targets: Vec<u64>,
    /// A builder of [`ExportBlock::properties`] for each.
    pub properties: Vec<Box<dyn ArrayBuilder>>,
}

impl BlockBuilder {
    /// An empty block for these properties.
    pub fn new(properties: &[PropertyInfo]) -> Self {
        let builder = |info: &PropertyInfo| -> Box<dyn ArrayBuilder> {
            match info.kind {
                PropertyKind::I32 | PropertyKind::I64 => Box::new(Int64Builder::new()),
                PropertyKind::U64 => Box::new(UInt64Builder::new()),
                PropertyKind::F32 | PropertyKind::F64 => Box::new(Float64Builder::new()),
                PropertyKind::Text => Box::new(UInt32Builder::new()),
            }
        };
        let properties = properties.iter().map(builder).collect();
        Self { sources: Vec::new(), targets: Vec::new(), properties }
    }

    /// The block. The builder is then empty.
    pub fn finish(&mut self) -> ExportBlock {
        ExportBlock {
            sources: std::mem::take(&mut self.sources),
            targets: std::mem::take(&mut self.targets),
            properties: self.properties.iter_mut().map(arrow_array::builder::ArrayBuilder::finish).collect(),
        }
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

    /// Whether edges between the same two vertices are kept apart.
    fn is_multigraph(&self) -> bool {
        false
    }

    /// The edge property that is the kind, by which edges between the same two vertices are kept apart.
    fn kind(&self) -> Option<&str> {
        None
    }

    /// The properties of vertices.
    fn vertex_records(&self) -> Vec<PropertyRecord> {
        Vec::new()
    }

    /// The words that stand for no value in the tables that the graph reads later.
    fn nulls(&self) -> &[String] {
        &[]
    }

    /// The values of `v`, one or none for each of [`ExportGraph::vertex_records`].
    ///
    /// # Errors
    /// If they cannot be read.
    fn vertex_values<'a>(&'a self, _v: VertexId, values: &mut [Option<PropertyValue<'a>>]) -> Result<()> {
        values.fill(None);
        Ok(())
    }

    /// Whether lists of this direction are kept.
    fn has(&self, direction: Direction) -> bool;

    /// The edge properties.
    fn properties(&self) -> &[PropertyInfo];

    /// Refuses a property of which an edge has no value, for a format that has no place for a missing one.
    ///
    /// # Errors
    /// [`esker_format::Error::Invalid`], which names such an edge.
    fn expect_values(&self, _property: usize) -> Result<()> {
        Ok(())
    }

    /// Which property is the weight.
    fn weight(&self) -> Option<usize>;

    /// The distinct texts of a property of kind [`PropertyKind::Text`]; none for others.
    ///
    /// # Errors
    /// If they cannot be read.
    fn dictionary(&self, property: usize) -> Result<LargeBinaryArray>;

    /// Length of the list of `v`.
    ///
    /// # Errors
    /// If it cannot be read, or the direction is not kept.
    fn degree(&self, direction: Direction, v: VertexId) -> Result<u64>;

    /// Appends those entries `range` of the list of `v` whose target is at least `least`, ascending by
    /// target.
    ///
    /// # Errors
    /// If the list cannot be read, or the direction is not kept.
    fn list(
        &self,
        direction: Direction,
        v: VertexId,
        range: Range<u64>,
        least: u64,
        out: &mut BlockBuilder,
    ) -> Result<()>;

    /// Whether external ids are texts; else they are integers.
    fn has_text_ids(&self) -> bool;

    /// If the external ids are exactly the integers `base..base + n`, but vertices are in another order, the
    /// base. Formats that know only numbers then number the vertices by their ids.
    fn dense_base(&self) -> Option<u64>;

    /// The least external id, if the ids are consecutive integers.
    fn least_id(&self) -> Option<u64>;

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

/// The dictionary of a property that is not of texts.
pub(super) fn no_texts() -> LargeBinaryArray {
    LargeBinaryArray::new_null(0)
}

/// What is known of a stream before it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StreamShape {
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
    pub dictionaries: Vec<LargeBinaryArray>,
}

/// Edges, block by block. Ids are the numbers of the vertices unless [`EdgeStream::graph`] says more.
pub(crate) trait EdgeStream {
    /// What is known before.
    fn shape(&self) -> StreamShape;

    /// The next block, which is not empty; `None` at the end.
    ///
    /// # Errors
    /// If edges cannot be read.
    fn next(&mut self) -> Result<Option<ExportBlock>>;

    /// The graph that knows the ids of the vertices.
    fn graph(&self) -> Option<&dyn ExportGraph> {
        None
    }
}

/// The edges of a graph as a stream: list by list, or (undirected, not at both ends) each from its smaller
/// end.
pub(crate) struct ListExport<'a> {
    graph: &'a dyn ExportGraph,
    once: bool,
    edges: u64,
    dictionaries: Vec<LargeBinaryArray>,
    vertex: u64,
    /// Entries of the list of `vertex` that were handed over.
    entry: u64,
}

impl<'a> ListExport<'a> {
    /// Reads the dictionaries, and counts the edges that will come, which takes a pass over an undirected
    /// graph's lists.
    ///
    /// # Errors
    /// If lists or dictionaries cannot be read; cancellation.
    pub(crate) fn new(graph: &'a dyn ExportGraph, both_ends: bool, cancel: &Cancel) -> Result<Self> {
        let once = !graph.is_directed() && !both_ends;
        let edges = if once { num_edges_once(graph, cancel)? } else { graph.num_arcs() };
        let dictionaries = (0..graph.properties().len()).map(|property| graph.dictionary(property));
        let dictionaries = dictionaries.collect::<Result<_>>()?;
        Ok(Self { edges, dictionaries, ..Self::sample(graph, both_ends) })
    }

    /// The same edges without their number and without dictionaries, for those who look at the first.
    pub(crate) fn sample(graph: &'a dyn ExportGraph, both_ends: bool) -> Self {
        let once = !graph.is_directed() && !both_ends;
        Self { graph, once, edges: 0, dictionaries: Vec::new(), vertex: 0, entry: 0 }
    }
}

/// Edges of an undirected graph: an arc for each, a self-loop has one arc anyway.
fn num_edges_once(graph: &dyn ExportGraph, cancel: &Cancel) -> Result<u64> {
    let loops = num_loops(graph, cancel)?;
    Ok((graph.num_arcs() - loops) / 2 + loops)
}

/// Self-loops, found by a pass over all lists.
pub(super) fn num_loops(graph: &dyn ExportGraph, cancel: &Cancel) -> Result<u64> {
    let mut block = BlockBuilder::new(&[]);
    let mut loops = 0;
    for v in 0..graph.num_vertices() {
        if v % CHECK_VERTICES == 0 {
            cancel.check()?;
        }
        let degree = graph.degree(Direction::Out, vertex(v as usize))?;
        let mut entry = 0;
        while entry < degree {
            block.targets.clear();
            let end = degree.min(entry + BLOCK_EDGES);
            graph.list(Direction::Out, vertex(v as usize), entry..end, v, &mut block)?;
            loops += block.targets.partition_point(|&t| t <= v) as u64;
            entry = end;
        }
    }
    Ok(loops)
}

impl EdgeStream for ListExport<'_> {
    fn shape(&self) -> StreamShape {
        let properties = self.graph.properties().to_vec();
        let dictionaries = self.dictionaries.clone();
        StreamShape {
            vertices: self.graph.num_vertices(),
            edges: self.edges,
            directed: self.graph.is_directed(),
            properties,
            weight: self.graph.weight(),
            dictionaries,
        }
    }

    fn next(&mut self) -> Result<Option<ExportBlock>> {
        let mut block = BlockBuilder::new(self.graph.properties());
        while (block.targets.len() as u64) < BLOCK_EDGES && self.vertex < self.graph.num_vertices() {
            let v = vertex(self.vertex as usize);
            let degree = self.graph.degree(Direction::Out, v)?;
            let end = degree.min(self.entry + BLOCK_EDGES);
            // The other end hands over the edges to smaller targets.
            let least = if self.once { self.vertex } else { 0 };
            self.graph.list(Direction::Out, v, self.entry..end, least, &mut block)?;
            block.sources.resize(block.targets.len(), self.vertex);
            (self.vertex, self.entry) = if end == degree { (self.vertex + 1, 0) } else { (self.vertex, end) };
        }
        Ok(Some(block.finish()).filter(|block| !block.is_empty()))
    }

    fn graph(&self) -> Option<&dyn ExportGraph> {
        Some(self.graph)
    }
}
