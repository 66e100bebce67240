//! Ids by their beginning.

use esker::local::with_prefix;
use pyo3::prelude::*;

use crate::failure::PyOutcome;
use crate::graph::PyGraph;
use crate::output::values::id_object;
use crate::settings::Settings;
use crate::watch::watched_reading;

/// The ids that begin with a text, sorted, at most `top`, and how many there are.
#[pyfunction]
pub(crate) fn ids_with_prefix<'py>(
    py: Python<'py>,
    graph: &PyGraph,
    prefix: &str,
    top: usize,
    settings: Settings,
) -> PyOutcome<(Vec<Bound<'py, PyAny>>, u64)> {
    let view = &graph.view;
    let (run, cancel, listener) = settings.run("ids")?;
    let found = watched_reading(py, &cancel, listener.as_ref(), view.version().path(), || {
        Ok(with_prefix(view, prefix, top, &run)?)
    })?;
    let ids = found.vertices.into_iter().map(|v| id_object(py, view.version(), v));
    Ok((ids.collect::<PyOutcome<_>>()?, found.count))
}
