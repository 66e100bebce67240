//! The shortest paths between two vertices, and ids by their beginning.

use esker::local::{Path, PathLength, PathOptions, paths, with_prefix};
use pyo3::prelude::*;

use crate::failure::PyOutcome;
use crate::graph::PyGraph;
use crate::output::values::id_object;
use crate::settings::Settings;
use crate::watch::watched_reading;

/// A length as an object of Python: exact for integers.
#[derive(IntoPyObject)]
pub(crate) enum LengthObject {
    Whole(i128),
    Real(f64),
}

impl From<PathLength> for LengthObject {
    fn from(length: PathLength) -> Self {
        match length {
            PathLength::Whole(length) => Self::Whole(length),
            PathLength::Real(length) => Self::Real(length),
        }
    }
}

/// The ids on a path, and the lengths of its edges.
type PathObject<'py> = (Vec<Bound<'py, PyAny>>, Vec<LengthObject>);

/// The ids of the vertices of each path between the vertices with two ids, and the length from its start to
/// each of them, shortest first. `weight`: the edge property that is the length of an edge, else each is one
/// step; `avoid`: vertices that no path may meet; `max_steps`: the greatest number of edges of a path.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn shortest_paths<'py>(
    py: Python<'py>,
    graph: &PyGraph,
    from: &Bound<'py, PyAny>,
    to: &Bound<'py, PyAny>,
    count: usize,
    weight: Option<&str>,
    avoid: Vec<Bound<'py, PyAny>>,
    max_steps: Option<usize>,
    settings: Settings,
) -> PyOutcome<Vec<PathObject<'py>>> {
    let view = &graph.view;
    let (from, to) = (graph.vertex(from)?, graph.vertex(to)?);
    let weight = weight.map(|name| view.version().edge_property(name)).transpose()?;
    let avoid = avoid.iter().map(|id| graph.vertex(id)).collect::<PyOutcome<Vec<_>>>()?;
    let options = PathOptions { count, weight, avoid: &avoid, max_steps, ..PathOptions::default() };
    let (run, cancel, listener) = settings.run("paths")?;
    let found = watched_reading(py, &cancel, listener.as_ref(), view.version().path(), || {
        Ok(paths(view.version(), from, to, options, &run)?)
    })?;
    let objects = |Path { vertices, lengths, .. }: Path| {
        let ids = vertices.into_iter().map(|v| id_object(py, view.version(), v)).collect::<PyOutcome<_>>()?;
        Ok((ids, lengths.into_iter().map(LengthObject::from).collect()))
    };
    found.into_iter().map(objects).collect()
}

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
