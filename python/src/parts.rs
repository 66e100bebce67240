//! Parts of a graph: edges of some kinds that meet conditions; and how many edges there are of each kind.

use esker::Error;
use esker::graph::Run;
use esker::selection::{Condition, Conditions, count_kinds as counted};
use esker::store::View;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::{PyFailure, PyOutcome};
use crate::graph::PyGraph;
use crate::input::array::Array;
use crate::output::edges::EdgeArrays;
use crate::output::row_order::VersionRows;
use crate::settings::{Settings, ViewSettings};
use crate::watch::watched_reading;

/// The edges of some kinds, or of any if none is named, that meet all conditions.
fn part_of(
    view: View,
    kinds: &[String],
    conditions: &[Condition],
    all_vertices: bool,
    run: &Run,
) -> Result<View, Error> {
    match Conditions::with_kinds(conditions, kinds, view.version(), run)? {
        Some(conditions) => Ok(view.filtered(conditions, None, all_vertices, run)?),
        None => Ok(view),
    }
}

fn parsed(conditions: &[String]) -> Result<Vec<Condition>, PyFailure> {
    let parse = |text: &String| text.parse().map_err(|reason: String| Error::usage(reason).into());
    conditions.iter().map(parse).collect()
}

/// The graph of a part of the edges.
#[pyfunction]
pub(crate) fn part_view(
    py: Python<'_>,
    graph: &PyGraph,
    kinds: Vec<String>,
    conditions: Vec<String>,
    all_vertices: bool,
    choice: ViewSettings,
    settings: Settings,
) -> PyOutcome<PyGraph> {
    let (run, cancel, listener) = settings.run("conditions")?;
    let (view, conditions) = (choice.of(&graph.view)?, parsed(&conditions)?);
    let view = watched_reading(py, &cancel, listener.as_ref(), graph.view.version().path(), || {
        Ok(part_of(view, &kinds, &conditions, all_vertices, &run)?)
    })?;
    Ok(PyGraph { view, rows: graph.rows.clone() })
}

/// The edges that meet all conditions, as columns whose ends are rows of the whole graph.
#[pyfunction]
pub(crate) fn edges_that_meet<'py>(
    py: Python<'py>,
    graph: &PyGraph,
    conditions: Vec<String>,
    settings: Settings,
) -> PyOutcome<(Array, Array, Bound<'py, PyDict>)> {
    let (run, cancel, listener) = settings.run("conditions")?;
    let conditions = parsed(&conditions)?;
    let edges = watched_reading(py, &cancel, listener.as_ref(), graph.view.version().path(), || {
        let view = part_of(graph.view.clone(), &[], &conditions, true, &run)?;
        EdgeArrays::read(&VersionRows::new(&view), &run, None, true)
    })?;
    Ok(edges.into_python(py)?)
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
