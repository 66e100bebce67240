//! Kinds of edges: a view of some, and how many edges there are of each.

use esker::selection::{Conditions, count_kinds as counted};
use pyo3::prelude::*;

use crate::failure::PyOutcome;
use crate::graph::PyGraph;
use crate::settings::{Settings, ViewSettings};
use crate::watch::watched_reading;

/// The graph of the edges of some kinds.
#[pyfunction]
pub(crate) fn kind_view(
    py: Python<'_>,
    graph: &PyGraph,
    kinds: Vec<String>,
    all_vertices: bool,
    choice: ViewSettings,
    settings: Settings,
) -> PyOutcome<PyGraph> {
    let (run, cancel, listener) = settings.run("kinds")?;
    let view = choice.of(&graph.view)?;
    let view = watched_reading(py, &cancel, listener.as_ref(), graph.view.version().path(), || {
        let conditions = Conditions::with_kinds(&[], &kinds, view.version())?;
        match conditions {
            Some(conditions) => Ok(view.filtered(conditions, None, all_vertices, &run)?),
            None => Ok(view),
        }
    })?;
    Ok(PyGraph { view, rows: graph.rows.clone() })
}

/// The number of edges of each kind.
#[pyfunction]
pub(crate) fn count_kinds(
    py: Python<'_>,
    graph: &PyGraph,
    settings: Settings,
) -> PyOutcome<Vec<(String, u64)>> {
    let (run, cancel, listener) = settings.run("kinds")?;
    let counts = watched_reading(py, &cancel, listener.as_ref(), graph.view.version().path(), || {
        Ok(counted(graph.view.version(), &run)?)
    })?;
    Ok(counts.into_iter().map(|count| (count.kind, count.edges)).collect())
}
