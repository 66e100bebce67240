//! Parts of a graph: edges of some kinds that meet conditions, without some vertices; and the number of edges
//! of each kind.

use esker::Error;
use esker::graph::Run;
use esker::grouping::{self, GroupOrder, GroupQuery, Measure};
use esker::selection::{Condition, Conditions, count_kinds as counted};
use esker::store::View;
use esker::window::Times;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::{PyFailure, PyOutcome};
use crate::graph::PyGraph;
use crate::input::array::Array;
use crate::output::edges::EdgeArrays;
use crate::output::row_order::VersionRows;
use crate::settings::{Settings, ViewSettings};
use crate::watch::watched_reading;

/// What is read of a graph.
#[derive(Default, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PartSettings {
    /// Kinds of edges; of any if none is named.
    kinds: Vec<String>,
    /// Each edge meets all of them.
    conditions: Vec<String>,
    /// Ids of vertices that are left out with their edges.
    without: Vec<String>,
    all_vertices: bool,
}

fn part_of(view: View, part: &PartSettings, conditions: &[Condition], run: &Run) -> Result<View, Error> {
    let (version, all_vertices) = (view.version(), part.all_vertices);
    let filter = Conditions::with_kinds(conditions, &part.kinds, version, run)?;
    let left_out = part.without.iter().map(|id| version.find_vertex(id, run));
    let left_out = left_out.collect::<Result<Vec<_>, _>>()?;
    match filter {
        filter if !left_out.is_empty() => {
            let filter = filter.map(|filter| filter as _);
            Ok(view.without(&left_out, filter, None, all_vertices, run)?)
        }
        Some(filter) => Ok(view.filtered(filter, None, all_vertices, run)?),
        None => Ok(view),
    }
}

/// The edges that meet conditions, and all vertices.
fn edges_of(view: &View, conditions: &[Condition], run: &Run) -> Result<View, Error> {
    let part = PartSettings { all_vertices: true, ..PartSettings::default() };
    part_of(view.clone(), &part, conditions, run)
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
    part: PartSettings,
    choice: ViewSettings,
    settings: Settings,
) -> PyOutcome<PyGraph> {
    let (run, cancel, listener) = settings.run("conditions")?;
    let (view, conditions) = (choice.of(&graph.view)?, parsed(&part.conditions)?);
    let view = watched_reading(py, &cancel, listener.as_ref(), graph.view.version().path(), || {
        Ok(part_of(view, &part, &conditions, &run)?)
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
        let view = edges_of(&graph.view, &conditions, &run)?;
        EdgeArrays::read(&VersionRows::new(&view), &run, None, true)
    })?;
    Ok(edges.into_python(py)?)
}

/// What is asked of groups of edges.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct GroupSettings {
    by: Vec<String>,
    /// Names of measures, each with its property.
    measures: Vec<(String, Option<String>)>,
    conditions: Vec<String>,
    every: Option<String>,
    time: Option<String>,
    sort: Option<String>,
    ascending: Option<bool>,
    top: Option<usize>,
}

impl GroupSettings {
    fn query(&self) -> PyOutcome<GroupQuery> {
        let measure = |(name, property): &(String, Option<String>)| match (&**name, property.clone()) {
            ("sum", Some(property)) => Measure::Sum(property),
            ("mean", Some(property)) => Measure::Mean(property),
            ("min", Some(property)) => Measure::Min(property),
            ("max", Some(property)) => Measure::Max(property),
            (_, _) => Measure::Count,
        };
        let every = self
            .every
            .as_deref()
            .map(str::parse)
            .transpose()
            .map_err(|reason: String| Error::usage(reason))?;
        Ok(GroupQuery {
            by: self.by.iter().map(|key| key.as_str().into()).collect(),
            every,
            measures: self.measures.iter().map(measure).collect(),
            order: GroupOrder { column: self.sort.clone(), ascending: self.ascending, top: self.top },
        })
    }
}

/// The groups of the edges that meet all conditions: names of columns, and rows as JSON.
#[pyfunction]
pub(crate) fn group_edges(
    py: Python<'_>,
    graph: &PyGraph,
    groups: GroupSettings,
    settings: Settings,
) -> PyOutcome<(Vec<String>, String)> {
    let (run, cancel, listener) = settings.run("edges")?;
    let (query, conditions) = (groups.query()?, parsed(&groups.conditions)?);
    let table = watched_reading(py, &cancel, listener.as_ref(), graph.view.version().path(), || {
        let view = edges_of(&graph.view, &conditions, &run)?;
        let times = match query.every {
            Some(_) => Some(Times::of(&view, groups.time.as_deref(), None, &run)?),
            None => None,
        };
        Ok(grouping::group_edges(&view, times.as_ref(), &query, &run)?)
    })?;
    let rows = table.rows()?;
    Ok((table.columns, serde_json::Value::from_iter(rows).to_string()))
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
