//! Edges of a graph as arrays: all edges, or the edges between given vertices.

use esker::export::{EdgeBlock, EdgeStream, EdgeValues, ExportGraph, ListExport, StoredExport};
use esker::graph::{Run, VertexId, vertex};
use esker::store::Snapshot;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::Array;
use crate::failure::Outcome;

/// Edges as columns.
pub(crate) struct EdgeArrays {
    source: Vec<VertexId>,
    target: Vec<VertexId>,
    properties: Vec<(String, EdgeValues, Vec<String>)>,
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
        let infos = graph.properties().to_vec();
        let mut arrays = Self { source: Vec::new(), target: Vec::new(), properties: Vec::new() };
        let mut all = EdgeBlock::new(&infos);
        match among {
            None => arrays.take_all(&graph, run, &mut all, with_properties)?,
            Some(among) => arrays.take_some(&graph, run, among, &mut all)?,
        }
        // The export renumbers the remaining vertices.
        if let Some(remaining) = snapshot.remaining(run)? {
            for v in arrays.source.iter_mut().chain(&mut arrays.target) {
                *v = remaining.origin(*v);
            }
        }
        for (number, (info, values)) in infos.into_iter().zip(all.properties).enumerate() {
            if with_properties {
                let texts = graph.dictionary(number)?;
                let texts = texts.iter().map(|text| String::from_utf8_lossy(text).into_owned());
                arrays.properties.push((info.name, values, texts.collect()));
            }
        }
        Ok(arrays)
    }

    fn take_all(
        &mut self,
        graph: &StoredExport<'_>,
        run: &Run,
        all: &mut EdgeBlock,
        with_properties: bool,
    ) -> Outcome<()> {
        let mut edges = ListExport::new(graph, false)?;
        let count = edges.shape().edges as usize;
        self.source.reserve_exact(count);
        self.target.reserve_exact(count);
        let mut block = EdgeBlock::new(graph.properties());
        loop {
            run.check()?;
            block.clear();
            edges.next(&mut block)?;
            if block.is_empty() {
                return Ok(());
            }
            self.source.extend(block.sources.iter().map(|&v| vertex(v as usize)));
            self.target.extend(block.targets.iter().map(|&v| vertex(v as usize)));
            if with_properties {
                all.properties.iter_mut().zip(&block.properties).for_each(|(all, some)| extend(all, some));
            }
        }
    }

    /// Reads the lists of these vertices, and skips neighbours that are not among them.
    fn take_some(
        &mut self,
        graph: &StoredExport<'_>,
        run: &Run,
        among: &[VertexId],
        all: &mut EdgeBlock,
    ) -> Outcome<()> {
        let mut sorted = among.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let is_member = |v: u64| sorted.binary_search_by(|&member| (member as u64).cmp(&v)).is_ok();
        let mut block = EdgeBlock::new(graph.properties());
        for &v in &sorted {
            run.check()?;
            block.clear();
            let degree = graph.degree(esker::graph::Direction::Out, v)?;
            graph.list(
                esker::graph::Direction::Out,
                v,
                0..degree,
                &mut block.targets,
                &mut block.properties,
            )?;
            let undirected = !graph.is_directed();
            for (index, &target) in block.targets.iter().enumerate() {
                if is_member(target) && !(undirected && target < v as u64) {
                    self.source.push(v);
                    self.target.push(vertex(target as usize));
                    let pairs = all.properties.iter_mut().zip(&block.properties);
                    pairs.for_each(|(all, some)| push(all, some, index));
                }
            }
        }
        Ok(())
    }

    /// Sources, targets, and properties by name; a text property is a pair of codes and the texts they refer to.
    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<(Array, Array, Bound<'_, PyDict>)> {
        let properties = PyDict::new(py);
        for (name, values, texts) in self.properties {
            match values {
                EdgeValues::Int(values) => properties.set_item(name, Py::new(py, Array::of(values))?)?,
                EdgeValues::Float(values) => properties.set_item(name, Py::new(py, Array::of(values))?)?,
                EdgeValues::Code(codes) => {
                    properties.set_item(name, (Py::new(py, Array::of(codes))?, texts))?;
                }
            }
        }
        Ok((Array::of(self.source), Array::of(self.target), properties))
    }
}

fn extend(all: &mut EdgeValues, some: &EdgeValues) {
    match (all, some) {
        (EdgeValues::Int(all), EdgeValues::Int(some)) => all.extend_from_slice(some),
        (EdgeValues::Float(all), EdgeValues::Float(some)) => all.extend_from_slice(some),
        (EdgeValues::Code(all), EdgeValues::Code(some)) => all.extend_from_slice(some),
        _ => unreachable!("both blocks have the same properties"),
    }
}

fn push(all: &mut EdgeValues, some: &EdgeValues, index: usize) {
    match (all, some) {
        (EdgeValues::Int(all), EdgeValues::Int(some)) => all.push(some[index]),
        (EdgeValues::Float(all), EdgeValues::Float(some)) => all.push(some[index]),
        (EdgeValues::Code(all), EdgeValues::Code(some)) => all.push(some[index]),
        _ => unreachable!("both blocks have the same properties"),
    }
}
