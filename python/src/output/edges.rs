//! Edges of a graph as arrays: all edges, or the edges between given vertices.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, BooleanArray, UInt64Array};
use arrow_select::filter::filter;
use arrow_select::take::take;
use esker::export::{BlockBuilder, ExportBlock, ExportGraph, PropertyInfo, PropertyKind, StoredExport};
use esker::graph::{Direction, Remaining, Run, VertexId, vertex};
use esker::store::Version;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::PyOutcome;
use crate::input::array::{Array, ArrayItem};
use crate::output::row_order::{RowOrder, VersionRows};
use crate::output::values::value_object;

/// Edges that are gathered before those to unwanted targets are left out.
const BLOCK_EDGES: usize = 1 << 16;

/// The properties of all edges between two vertices.
pub(crate) fn values_between<'py>(
    py: Python<'py>,
    version: &Version,
    source: VertexId,
    target: VertexId,
) -> PyOutcome<Vec<Bound<'py, PyDict>>> {
    let edges = version.edges(Direction::Out, source)?;
    let first = edges.targets().partition_point(|&v| v < target);
    let count = edges.targets()[first..].iter().take_while(|&&v| v == target).count();
    let mut found = Vec::new();
    for index in first..first + count {
        let values = PyDict::new(py);
        for property in version.edge_properties() {
            let value = version.edge_value(property, edges.bits(property.number, index)?)?;
            if value.is_missing() {
                continue;
            }
            values.set_item(&property.name, value_object(py, value)?)?;
        }
        found.push(values);
    }
    Ok(found)
}

/// Reads edges in the order of rows: by source, then by target. An undirected edge comes with the end whose
/// row is smaller.
pub(crate) struct RowLists<'a> {
    graph: StoredExport<'a>,
    remaining: Option<&'a Remaining>,
    order: Option<&'a RowOrder>,
}

impl<'a> RowLists<'a> {
    pub(crate) fn new(rows: &'a VersionRows, run: &'a Run) -> PyOutcome<Self> {
        let view = rows.view();
        // The export numbers the vertices that are there, in order of vertex: those are rows, if vertices
        // ascend with rows.
        let order = rows.order()?.filter(|order| !order.ascends());
        Ok(Self { graph: StoredExport::new(view, run)?, remaining: view.remaining(run)?, order })
    }

    pub(crate) fn graph(&self) -> &StoredExport<'a> {
        &self.graph
    }

    /// Appends the edges of a row.
    pub(crate) fn append(&self, row: usize, block: &mut BlockBuilder) -> PyOutcome<()> {
        let place = match self.order {
            None => vertex(row),
            Some(order) => {
                let v = order.vertex(vertex(row));
                self.remaining.map_or(v, |remaining| remaining.rank(v))
            }
        };
        let degree = self.graph.degree(Direction::Out, place)?;
        let least = if self.graph.is_directed() || self.order.is_some() { 0 } else { row as u64 };
        self.graph.list(Direction::Out, place, 0..degree, least, block)?;
        block.sources.resize(block.targets.len(), row as u64);
        Ok(())
    }

    /// The appended edges, whose rows ascended.
    pub(crate) fn finish(&self, block: &mut BlockBuilder) -> PyOutcome<ExportBlock> {
        let mut block = block.finish();
        let Some(order) = self.order else { return Ok(block) };
        for target in &mut block.targets {
            let place = vertex(*target as usize);
            *target = order.row(self.remaining.map_or(place, |remaining| remaining.origin(place))) as u64;
        }
        let edge = |at: u64| (block.sources[at as usize], block.targets[at as usize]);
        let is_directed = self.graph.is_directed();
        let is_here = |&at: &u64| is_directed || edge(at).0 <= edge(at).1;
        let mut places: Vec<u64> = (0..block.targets.len() as u64).filter(is_here).collect();
        // Parallel edges stay in their order.
        places.sort_by_key(|&at| edge(at));
        let (sources, targets) = places.iter().map(|&at| edge(at)).unzip();
        let places = UInt64Array::from(places);
        let properties = block.properties.iter().map(|values| take(values, &places, None));
        let properties = properties.collect::<Result<_, _>>()?;
        Ok(ExportBlock { sources, targets, properties })
    }
}

/// Edges as columns.
pub(crate) struct EdgeArrays {
    source: Vec<VertexId>,
    target: Vec<VertexId>,
    properties: Vec<EdgeProperty>,
}

struct EdgeProperty {
    info: PropertyInfo,
    /// The values, in parts.
    parts: Vec<ArrayRef>,
    /// What the values of a text property refer to.
    texts: Vec<String>,
}

impl EdgeArrays {
    /// Reads the edges, each undirected edge once. With `among`, only the edges with both ends among these
    /// rows. Memory: the arrays.
    pub(crate) fn read(
        rows: &VersionRows,
        run: &Run,
        among: Option<&[VertexId]>,
        with_properties: bool,
    ) -> PyOutcome<Self> {
        let lists = RowLists::new(rows, run)?;
        let graph = lists.graph();
        let mut properties = Vec::new();
        for (number, info) in graph.properties().iter().enumerate().filter(|_| with_properties) {
            let texts = graph.dictionary(number)?;
            let texts = texts.iter().flatten().map(|text| String::from_utf8_lossy(text).into_owned());
            properties.push(EdgeProperty { info: info.clone(), parts: Vec::new(), texts: texts.collect() });
        }
        let mut arrays = Self { source: Vec::new(), target: Vec::new(), properties };
        match among {
            None => {
                arrays.reserve(graph);
                let n = graph.num_vertices() as usize;
                arrays.take_lists(&lists, run, 0..n, |_| true)?;
            }
            Some(among) => {
                let mut sorted = among.to_vec();
                sorted.sort_unstable();
                sorted.dedup();
                let is_member =
                    |row: u64| sorted.binary_search_by(|&member| (member as u64).cmp(&row)).is_ok();
                arrays.take_lists(&lists, run, sorted.iter().map(|&row| row as usize), is_member)?;
            }
        }
        Ok(arrays)
    }

    fn take(&mut self, block: ExportBlock) {
        self.source.extend(block.sources.iter().map(|&v| vertex(v as usize)));
        self.target.extend(block.targets.iter().map(|&v| vertex(v as usize)));
        self.properties.iter_mut().zip(block.properties).for_each(|(all, part)| all.parts.push(part));
    }

    /// Makes room for all edges of a graph.
    fn reserve(&mut self, graph: &StoredExport<'_>) {
        let ends = if graph.is_directed() { 1 } else { 2 };
        let count = graph.num_arcs().div_ceil(ends) as usize;
        self.source.reserve_exact(count);
        self.target.reserve_exact(count);
    }

    /// Reads the lists of these rows, and keeps the edges to some targets.
    fn take_lists(
        &mut self,
        lists: &RowLists<'_>,
        run: &Run,
        rows: impl Iterator<Item = usize>,
        wants: impl Fn(u64) -> bool,
    ) -> PyOutcome<()> {
        let mut builder = BlockBuilder::new(lists.graph().properties());
        for row in rows {
            run.check()?;
            lists.append(row, &mut builder)?;
            if builder.targets.len() >= BLOCK_EDGES {
                self.take(kept(lists.finish(&mut builder)?, &wants)?);
            }
        }
        self.take(kept(lists.finish(&mut builder)?, &wants)?);
        Ok(())
    }

    /// Sources, targets, and properties by name: numbers, or the codes of texts; the texts or `None`; and an
    /// array with 1 where a value is missing, or `None` if each edge has one.
    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<(Array, Array, Bound<'_, PyDict>)> {
        let properties = PyDict::new(py);
        for EdgeProperty { info, parts, texts } in self.properties {
            let values = match info.kind {
                PropertyKind::I32 | PropertyKind::I64 => joined::<Int64Type>(&parts),
                PropertyKind::U64 => joined::<UInt64Type>(&parts),
                PropertyKind::F32 | PropertyKind::F64 => joined::<Float64Type>(&parts),
                PropertyKind::Text => joined::<UInt32Type>(&parts),
            };
            let texts = (info.kind == PropertyKind::Text).then_some(texts);
            let missing = missing(&parts).map(|missing| Py::new(py, missing)).transpose()?;
            properties.set_item(info.name, (Py::new(py, values)?, texts, missing))?;
        }
        Ok((Array::of(self.source), Array::of(self.target), properties))
    }
}

/// An array with 1 where parts of a column have null; `None` if none has one.
fn missing(parts: &[ArrayRef]) -> Option<Array> {
    if parts.iter().all(|part| part.null_count() == 0) {
        return None;
    }
    let of_part = |part: &ArrayRef| (0..part.len()).map(|at| u8::from(part.is_null(at))).collect::<Vec<_>>();
    Some(Array::of(parts.iter().flat_map(of_part).collect::<Vec<u8>>()))
}

/// The edges of a block to wanted targets.
fn kept(block: ExportBlock, wants: &impl Fn(u64) -> bool) -> PyOutcome<ExportBlock> {
    let keep: Vec<bool> = block.targets.iter().map(|&target| wants(target)).collect();
    if keep.iter().all(|&keep| keep) {
        return Ok(block);
    }
    let only =
        |ids: Vec<u64>| ids.into_iter().zip(&keep).filter_map(|(v, &keep)| keep.then_some(v)).collect();
    let (sources, targets) = (only(block.sources), only(block.targets));
    let keep = BooleanArray::from(keep);
    let properties = block.properties.iter().map(|values| filter(values, &keep)).collect::<Result<_, _>>()?;
    Ok(ExportBlock { sources, targets, properties })
}

fn joined<T: ArrowPrimitiveType<Native: ArrayItem>>(parts: &[ArrayRef]) -> Array {
    let mut all = Vec::with_capacity(parts.iter().map(arrow_array::Array::len).sum());
    parts.iter().for_each(|part| all.extend_from_slice(part.as_primitive::<T>().values()));
    Array::of(all)
}
