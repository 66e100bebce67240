//! Edges of a graph as arrays: all edges, or the edges between given vertices.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, BooleanArray};
use arrow_select::filter::filter;
use esker::export::{BlockBuilder, ExportBlock, ExportGraph, PropertyInfo, PropertyKind, StoredExport};
use esker::graph::{Direction, Run, VertexId, vertex};
use esker::store::Snapshot;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::{Array, Item};
use crate::failure::Outcome;

/// Edges that are gathered before those to unwanted targets are left out.
const BLOCK_EDGES: usize = 1 << 16;

/// Edges as columns.
pub(crate) struct EdgeArrays {
    source: Vec<VertexId>,
    target: Vec<VertexId>,
    properties: Vec<Property>,
}

struct Property {
    info: PropertyInfo,
    /// The values, in parts.
    parts: Vec<ArrayRef>,
    /// What the values of a text property refer to.
    texts: Vec<String>,
}

impl EdgeArrays {
    /// Reads the edges of a snapshot, each undirected edge once. With `among`, only the edges with both ends in it. Memory: the arrays.
    pub(crate) fn read(
        snapshot: &Snapshot,
        run: &Run,
        among: Option<&[VertexId]>,
        with_properties: bool,
    ) -> Outcome<Self> {
        let graph = StoredExport::new(snapshot, run)?;
        let mut properties = Vec::new();
        for (number, info) in graph.properties().iter().enumerate().filter(|_| with_properties) {
            let texts = graph.dictionary(number)?;
            let texts = texts.iter().flatten().map(|text| String::from_utf8_lossy(text).into_owned());
            properties.push(Property { info: info.clone(), parts: Vec::new(), texts: texts.collect() });
        }
        let mut arrays = Self { source: Vec::new(), target: Vec::new(), properties };
        match among {
            None => {
                arrays.reserve(&graph);
                let n = graph.num_vertices() as usize;
                arrays.take_lists(&graph, run, (0..n).map(vertex), |_| true)?;
            }
            Some(among) => {
                let mut sorted = among.to_vec();
                sorted.sort_unstable();
                sorted.dedup();
                let is_member = |v: u64| sorted.binary_search_by(|&member| (member as u64).cmp(&v)).is_ok();
                arrays.take_lists(&graph, run, sorted.iter().copied(), is_member)?;
            }
        }
        // The export renumbers the remaining vertices.
        if let Some(remaining) = snapshot.remaining(run)? {
            for v in arrays.source.iter_mut().chain(&mut arrays.target) {
                *v = remaining.origin(*v);
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

    /// Reads the lists of these vertices, and keeps the edges to some targets.
    fn take_lists(
        &mut self,
        graph: &StoredExport<'_>,
        run: &Run,
        vertices: impl Iterator<Item = VertexId>,
        wants: impl Fn(u64) -> bool,
    ) -> Outcome<()> {
        let mut builder = BlockBuilder::new(graph.properties());
        for v in vertices {
            run.check()?;
            let degree = graph.degree(Direction::Out, v)?;
            // Of an undirected edge, the end with the smaller number.
            let least = if graph.is_directed() { 0 } else { v as u64 };
            graph.list(Direction::Out, v, 0..degree, least, &mut builder)?;
            builder.sources.resize(builder.targets.len(), v as u64);
            if builder.targets.len() >= BLOCK_EDGES {
                self.take(kept(builder.finish(), &wants)?);
            }
        }
        self.take(kept(builder.finish(), &wants)?);
        Ok(())
    }

    /// Sources, targets, and properties by name; a text property is a pair of codes and the texts they refer to.
    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<(Array, Array, Bound<'_, PyDict>)> {
        let properties = PyDict::new(py);
        for Property { info, parts, texts } in self.properties {
            match info.kind {
                PropertyKind::I32 | PropertyKind::I64 => {
                    properties.set_item(info.name, Py::new(py, joined::<Int64Type>(&parts))?)?;
                }
                PropertyKind::U64 => {
                    properties.set_item(info.name, Py::new(py, joined::<UInt64Type>(&parts))?)?;
                }
                PropertyKind::F32 | PropertyKind::F64 => {
                    properties.set_item(info.name, Py::new(py, joined::<Float64Type>(&parts))?)?;
                }
                PropertyKind::Text => {
                    properties.set_item(info.name, (Py::new(py, joined::<UInt32Type>(&parts))?, texts))?;
                }
            }
        }
        Ok((Array::of(self.source), Array::of(self.target), properties))
    }
}

/// The edges of a block to wanted targets.
fn kept(block: ExportBlock, wants: &impl Fn(u64) -> bool) -> Outcome<ExportBlock> {
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

fn joined<T: ArrowPrimitiveType<Native: Item>>(parts: &[ArrayRef]) -> Array {
    let mut all = Vec::with_capacity(parts.iter().map(arrow_array::Array::len).sum());
    parts.iter().for_each(|part| all.extend_from_slice(part.as_primitive::<T>().values()));
    Array::of(all)
}
