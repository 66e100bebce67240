//! The catalogue, from which Python makes methods.

use esker::catalogue::{AUTO, CATALOGUE, Entry, Opt, OptKind, WeightReads};
use esker::graph::VertexId;
use pyo3::prelude::*;

/// An option of an algorithm.
#[derive(IntoPyObject)]
struct Listed {
    name: &'static str,
    /// `vertex`, `integer`, `float`, `property`, `flag` or `choice`.
    kind: &'static str,
    choices: Vec<&'static str>,
    /// As text; empty without one.
    default: &'static str,
    required: bool,
    repeatable: bool,
    help: &'static str,
}

/// An algorithm.
#[derive(IntoPyObject)]
pub(crate) struct ListedEntry {
    name: &'static str,
    summary: &'static str,
    options: Vec<Listed>,
    weighted: bool,
    takes_weight: bool,
    undirected: bool,
    columns: Vec<&'static str>,
    figures: Vec<&'static str>,
}

impl From<&Opt> for Listed {
    fn from(option: &Opt) -> Self {
        let (kind, choices) = match option.kind {
            OptKind::Vertex => ("vertex", Vec::new()),
            OptKind::Integer => ("integer", Vec::new()),
            OptKind::Float if option.has_auto => ("float", vec![AUTO]),
            OptKind::Float => ("float", Vec::new()),
            OptKind::Property => ("property", Vec::new()),
            OptKind::Flag => ("flag", Vec::new()),
            OptKind::Choice(names) => ("choice", names.to_vec()),
        };
        let Opt { name, required, repeatable, help, .. } = *option;
        Self { name, kind, choices, default: option.default_text(), required, repeatable, help }
    }
}

impl From<&Entry> for ListedEntry {
    fn from(entry: &Entry) -> Self {
        Self {
            name: entry.name,
            summary: entry.summary,
            options: entry.options.iter().map(Listed::from).collect(),
            weighted: entry.reads.weights == WeightReads::Always,
            takes_weight: entry.reads.weights != WeightReads::Never,
            undirected: entry.undirected,
            columns: entry.columns.to_vec(),
            figures: entry.figures.to_vec(),
        }
    }
}

/// The algorithms, as dictionaries.
#[pyfunction]
pub(crate) fn catalogue() -> Vec<ListedEntry> {
    CATALOGUE.iter().map(ListedEntry::from).collect()
}

/// Width of a vertex id in this build.
#[pyfunction]
pub(crate) fn vertex_id_bytes() -> usize {
    size_of::<VertexId>()
}
