//! The catalogue of algorithms, from which Python makes methods.

use esker::catalogue::CATALOGUE;
use esker::graph::VertexId;
use pyo3::prelude::*;

/// An option: name, value name, help.
type OptionEntry = (&'static str, &'static str, &'static str);

/// The algorithms: name, summary, options, whether it reads weights, whether it requires an undirected graph.
#[pyfunction]
pub(crate) fn catalogue() -> Vec<(&'static str, &'static str, Vec<OptionEntry>, bool, bool)> {
    let entry = |entry: &esker::catalogue::Entry| {
        let options = entry.options.iter().map(|option| (option.name, option.value, option.help)).collect();
        (entry.name, entry.summary, options, entry.weighted, entry.undirected)
    };
    CATALOGUE.iter().map(entry).collect()
}

/// Size of a vertex id in this build, in bytes.
#[pyfunction]
pub(crate) fn vertex_id_bytes() -> usize {
    size_of::<VertexId>()
}
