//! The catalogue, for Python to make methods of.

use esker::catalogue::CATALOGUE;
use esker::graph::VertexId;
use pyo3::prelude::*;

/// An option: name, what its value is, what it does.
type Listed = (&'static str, &'static str, &'static str);

/// The algorithms: name, summary, options, whether it reads weights, whether it is for undirected graphs alone.
#[pyfunction]
pub(crate) fn catalogue() -> Vec<(&'static str, &'static str, Vec<Listed>, bool, bool)> {
    let entry = |entry: &esker::catalogue::Entry| {
        let options = entry.options.iter().map(|option| (option.name, option.value, option.help)).collect();
        (entry.name, entry.summary, options, entry.weighted, entry.undirected)
    };
    CATALOGUE.iter().map(entry).collect()
}

/// Width of a vertex id in this build.
#[pyfunction]
pub(crate) fn vertex_id_bytes() -> usize {
    size_of::<VertexId>()
}
