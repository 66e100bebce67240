//! One version of a graph: ids, lists, properties, runs of algorithms.

use std::collections::VecDeque;
use std::path::Path;

use arrow_array::Array as _;
use esker::algo::algorithm::centrality::pagerank::{Criterion, PageRankOptions, pagerank};
use esker::catalogue::{Params, find};
use esker::computation::Computation;
use esker::graph::{Bitmap, Cancel, Direction, VertexId, vertex};
use esker::import::read::source::{id_at, integer_ids};
use esker::plan::shape_of;
use esker::store::ids::ExternalId;
use esker::store::{Version, View};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::failure::{PyFailure, PyOutcome, invalid, mistyped};
use crate::input::array::Array;
use crate::input::column::{ColumnType, InputColumn, same_length};
use crate::interrupts::InterruptChecks;
use crate::language::{PythonWords, said};
use crate::output::answer::PyAnswer;
use crate::output::edges::{EdgeArrays, values_between};
use crate::output::report::graph_facts;
use crate::output::row_order::VersionRows;
use crate::output::stream::ids_are_signed;
use crate::output::values::{PropertyRows, id_object, value_object};
use crate::settings::{AccessSettings, Settings, ViewSettings, brief, one_of};
use crate::watch::{reading, watched_reading};

/// A version of a graph.
#[pyclass(frozen, name = "Graph", module = "esker._esker")]
pub(crate) struct PyGraph {
    pub(crate) view: View,
    pub(crate) rows: VersionRows,
}

impl PyGraph {
    /// A version, with rows of its own.
    pub(crate) fn new(view: View) -> Self {
        Self { rows: VersionRows::new(&view), view }
    }

    fn version(&self) -> &Version {
        self.view.version()
    }
}

pub(crate) fn direction(name: &str) -> PyOutcome<Direction> {
    one_of("direction", name, &[("out", Direction::Out), ("in", Direction::In)])
}

#[pymethods]
impl PyGraph {
    /// A description of the graph, as JSON.
    fn facts(&self) -> PyOutcome<String> {
        graph_facts(&self.view)
    }

    /// Runs an algorithm of the catalogue.
    #[allow(clippy::too_many_arguments)]
    fn run(
        &self,
        py: Python<'_>,
        name: &str,
        options: Vec<(String, String)>,
        settings: Settings,
        verify: bool,
        reading: AccessSettings,
        choice: ViewSettings,
    ) -> PyOutcome<PyAnswer> {
        let (entry, params) = (find(name)?, params(options));
        let request = reading.request()?;
        let resources = settings.resources();
        let (run, cancel, listener) = settings.run(name)?;
        let computation = Computation::of(entry, &params).reading(request).verified(verify);
        let mut view = choice.of(&self.view)?;
        // A window is gathered in memory if it fits there, and in-lists that are not kept are made there.
        let lacks_in_lists = view.version().is_directed() && !view.version().has(Direction::In);
        if !request.is_free() || view.window_index().is_some() || lacks_in_lists {
            view = computation.plan(&view, &resources)?.view;
        }
        let answer = watched_reading(py, &cancel, listener.as_ref(), self.path(), || {
            Ok(computation.run(&view, &run)?)
        })?;
        Ok(PyAnswer::new(answer, &self.rows))
    }

    /// PageRank until a round changes less than the tolerance, as in NetworkX; and whether it converged.
    fn pagerank(
        &self,
        py: Python<'_>,
        damping: f64,
        tolerance: f64,
        rounds_max: usize,
        settings: Settings,
    ) -> PyOutcome<(Array, bool)> {
        let (run, cancel, listener) = settings.run("pagerank")?;
        let criterion = Criterion::Change;
        let options = PageRankOptions { damping, tolerance, criterion, rounds_max, teleport: None };
        let (scores, converged) = watched_reading(py, &cancel, listener.as_ref(), self.path(), || {
            let found = pagerank(&self.view.present_graph::<()>(&run)?, &run, &options)?;
            // The scores of the vertices that are there, in order of vertex.
            let scores = match (self.rows.order()?, self.view.remaining(&run)?) {
                (None, _) => found.scores,
                (Some(order), None) => order.gather(&found.scores),
                (Some(order), Some(remaining)) => {
                    let score = |&v: &VertexId| found.scores[remaining.rank(v) as usize];
                    order.vertices().iter().map(score).collect()
                }
            };
            Ok((scores, found.converged))
        })?;
        Ok((Array::of(scores), converged))
    }

    /// The estimated bytes of memory and bytes read by a run, and the bytes of the lists.
    fn estimate(
        &self,
        name: &str,
        options: Vec<(String, String)>,
        settings: Settings,
        choice: ViewSettings,
        reading: Option<AccessSettings>,
    ) -> PyOutcome<(u64, u64, u64, Option<String>)> {
        let (entry, params, resources) = (find(name)?, params(options), settings.resources());
        let view = choice.of(&self.view)?;
        let computation = Computation::of(entry, &params);
        computation.check(&view, &*brief()?)?;
        let planned = reading.map(|reading| {
            computation.reading(reading.request()?).plan(&view, &resources).map_err(PyFailure::from)
        });
        let planned = planned.transpose()?;
        let estimate = planned.as_ref().map(|planned| planned.plan.estimate);
        let estimate = estimate.map_or_else(|| computation.estimate(&view, &resources), Ok)?;
        let plan = planned.map(|planned| planned.to_json(&PythonWords)).transpose()?;
        let shape = shape_of(&view, entry.reads_weights(&view))?;
        let sides = if shape.directed && shape.in_edges { 2 } else { 1 };
        let list_bytes = shape.weighted_list_bytes() * sides;
        Ok((estimate.memory_bytes, estimate.read_bytes, list_bytes, plan.map(|plan| plan.to_string())))
    }

    /// The row of the vertex with an id.
    fn vertex_of(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyOutcome<VertexId> {
        let v = self.vertex(id)?;
        reading(py, self.path(), || self.rows.row(v))
    }

    /// The rows of the vertices with the given ids.
    fn vertices_of(&self, py: Python<'_>, ids: &InputColumn) -> PyOutcome<Array> {
        ids.expect_ids(self.version().ids().is_text())?;
        reading(py, self.path(), || {
            let mut found = self.look_up(ids)?;
            if let Some(order) = self.rows.order()? {
                found.iter_mut().for_each(|v| *v = order.row(*v));
            }
            Ok(Array::of(found))
        })
    }

    /// Fails unless a vertex with this id exists.
    fn expect_vertex(&self, id: &Bound<'_, PyAny>) -> PyOutcome<()> {
        self.vertex(id).map(drop)
    }

    /// Whether a vertex with this id exists.
    fn has_vertex(&self, id: &Bound<'_, PyAny>) -> PyOutcome<bool> {
        self.vertex_if_any(id).map(|found| found.is_some())
    }

    /// The id of a row.
    fn id_of<'py>(&self, py: Python<'py>, row: VertexId) -> PyOutcome<Bound<'py, PyAny>> {
        id_object(py, self.version(), self.rows.vertex(row)?)
    }

    /// The ids of the given rows, or of all: an array of integers, or a list of strings.
    #[pyo3(signature = (rows=None))]
    fn ids<'py>(&self, py: Python<'py>, rows: Option<&InputColumn>) -> PyOutcome<Bound<'py, PyAny>> {
        let vertices = reading(py, self.path(), || match rows {
            Some(column) => self.numbers(column).map(Some),
            None => Ok(self.rows.order()?.map(|order| order.vertices().to_vec())),
        })?;
        self.id_objects(py, vertices)
    }

    /// The rows in a column, checked.
    fn checked_rows(&self, py: Python<'_>, column: &InputColumn) -> PyOutcome<Array> {
        reading(py, self.path(), || self.checked(column)).map(Array::of)
    }

    /// Whether both are of one version of one database.
    fn is_same_version(&self, other: &Self) -> bool {
        let (own, its) = (self.version(), other.version());
        (own.path(), own.number(), own.record().committed_ms)
            == (its.path(), its.number(), its.record().committed_ms)
    }

    /// Whether ids are strings.
    fn ids_are_texts(&self) -> bool {
        self.version().ids().is_text()
    }

    /// Whether the id of each row is its number.
    fn rows_are_ids(&self) -> PyOutcome<bool> {
        let ids = self.version().ids();
        Ok(ids.dense_base() == Some(0) && self.rows.len()? == ids.num_vertices())
    }

    /// The degree of the vertex with an id.
    fn degree(&self, id: &Bound<'_, PyAny>, direction_name: &str) -> PyOutcome<usize> {
        let (direction, v) = (direction(direction_name)?, self.vertex(id)?);
        self.read(|| Ok(self.version().degree(direction, v)?))
    }

    /// The degrees of all rows.
    fn degrees(&self, py: Python<'_>, direction_name: &str) -> PyOutcome<Array> {
        let direction = direction(direction_name)?;
        reading(py, self.path(), || {
            let degree = |v| Ok(self.version().degree(direction, v)? as u64);
            let degrees: Vec<u64> = match self.rows.order()? {
                None => {
                    (0..self.version().num_vertices()).map(|v| degree(vertex(v))).collect::<PyOutcome<_>>()?
                }
                Some(order) => order.vertices().iter().map(|&v| degree(v)).collect::<PyOutcome<_>>()?,
            };
            Ok(Array::of(degrees))
        })
    }

    /// The rows of the neighbours of a row, ascending.
    fn neighbors(&self, py: Python<'_>, row: VertexId, direction_name: &str) -> PyOutcome<Array> {
        let direction = direction(direction_name)?;
        reading(py, self.path(), || {
            let v = self.rows.vertex(row)?;
            let mut found = self.version().neighbors(direction, v)?.into_owned();
            if let Some(order) = self.rows.order()? {
                found.iter_mut().for_each(|v| *v = order.row(*v));
                found.sort_unstable();
            }
            Ok(Array::of(found))
        })
    }

    /// The ids of the neighbours of the vertex with an id, in the order of rows.
    fn neighbor_ids<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
        direction_name: &str,
    ) -> PyOutcome<Bound<'py, PyAny>> {
        let (direction, v) = (direction(direction_name)?, self.vertex(id)?);
        let mut found = self.read(|| Ok(self.version().neighbors(direction, v)?.into_owned()))?;
        self.rows.sort(&mut found)?;
        self.id_objects(py, Some(found))
    }

    /// Whether an edge between the vertices with these ids exists.
    fn has_edge(&self, source: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyOutcome<bool> {
        match (self.vertex_if_any(source)?, self.vertex_if_any(target)?) {
            (Some(source), Some(target)) => self.read(|| Ok(self.version().has_edge(source, target)?)),
            _ => Ok(false),
        }
    }

    /// For each pair of ids, 1 if an edge exists, else 0.
    fn has_edges(&self, py: Python<'_>, source: &InputColumn, target: &InputColumn) -> PyOutcome<Array> {
        let is_text = self.version().ids().is_text();
        source.expect_ids(is_text)?;
        target.expect_ids(is_text)?;
        same_length(source, target)?;
        reading(py, self.path(), || {
            let sources = self.find_each(source, |_, found| Ok(found))?;
            let targets = self.find_each(target, |_, found| Ok(found))?;
            let has = |(source, target): (&Option<VertexId>, &Option<VertexId>)| match (source, target) {
                (Some(source), Some(target)) => Ok(u8::from(self.version().has_edge(*source, *target)?)),
                _ => Ok(0),
            };
            sources.iter().zip(&targets).map(has).collect::<PyOutcome<Vec<u8>>>().map(Array::of)
        })
    }

    /// The properties of all edges between the vertices with two ids.
    fn edge_values<'py>(
        &self,
        py: Python<'py>,
        source: &Bound<'py, PyAny>,
        target: &Bound<'py, PyAny>,
    ) -> PyOutcome<Vec<Bound<'py, PyDict>>> {
        let (source, target) = (self.vertex(source)?, self.vertex(target)?);
        self.read(|| values_between(py, self.version(), source, target))
    }

    /// The properties of the vertex with an id.
    fn vertex_values<'py>(&self, py: Python<'py>, id: &Bound<'py, PyAny>) -> PyOutcome<Bound<'py, PyDict>> {
        let (v, values) = (self.vertex(id)?, PyDict::new(py));
        self.read(|| {
            for record in self.version().vertex_properties() {
                let property = self.version().vertex_property(&record.name)?;
                if let Some(value) = property.get(v)? {
                    values.set_item(&record.name, value_object(py, value)?)?;
                }
            }
            Ok(values)
        })
    }

    /// A property of all rows: an array of values and one with 1 where a row has one, or a list of texts. Of
    /// vectors, all numbers one after another, and their length behind both arrays.
    fn property<'py>(&self, py: Python<'py>, name: &str, settings: Settings) -> PyOutcome<Bound<'py, PyAny>> {
        let (run, cancel, listener) = settings.run("property")?;
        let values = watched_reading(py, &cancel, listener.as_ref(), self.path(), || {
            PropertyRows::read(&self.rows, name, &run)
        })?;
        Ok(match values {
            PropertyRows::Numbers(values, present) => (values, present).into_pyobject(py)?.into_any(),
            PropertyRows::Texts(texts) => PyList::new(py, texts)?.into_any(),
            PropertyRows::Vectors(values, present, len) => {
                (values, present, len).into_pyobject(py)?.into_any()
            }
        })
    }

    /// Sources, targets and properties of the edges, in the order of rows; with `among`, between these.
    #[pyo3(signature = (among, with_properties, settings))]
    fn edges<'py>(
        &self,
        py: Python<'py>,
        among: Option<&InputColumn>,
        with_properties: bool,
        settings: Settings,
    ) -> PyOutcome<(Array, Array, Bound<'py, PyDict>)> {
        let (run, cancel, listener) = settings.run("edges")?;
        let among = among.map(|column| self.checked(column)).transpose()?;
        let edges = watched_reading(py, &cancel, listener.as_ref(), self.path(), || {
            EdgeArrays::read(&self.rows, &run, among.as_deref(), with_properties)
        })?;
        Ok(edges.into_python(py)?)
    }

    /// The rows of the vertices within `radius` steps of one, by ascending distance, itself first.
    fn within(
        &self,
        py: Python<'_>,
        center: &Bound<'_, PyAny>,
        radius: usize,
        direction_name: &str,
    ) -> PyOutcome<Array> {
        let directions: &[Direction] = match direction_name {
            "both" if self.version().is_directed() => &[Direction::Out, Direction::In],
            "both" => &[Direction::Out],
            other => &[direction(other)?],
        };
        let (center, cancel) = (self.vertex(center)?, Cancel::default());
        watched_reading(py, &cancel, None, self.path(), || {
            let seen = Bitmap::new(self.version().num_vertices());
            seen.insert(center);
            let mut found = vec![center];
            let mut queue = VecDeque::from([(center, 0)]);
            while let Some((v, depth)) = queue.pop_front().filter(|(_, depth)| *depth < radius) {
                cancel.check()?;
                for &direction in directions {
                    for &next in self.version().neighbors(direction, v)?.iter() {
                        if seen.insert(next) {
                            found.push(next);
                            queue.push_back((next, depth + 1));
                        }
                    }
                }
            }
            if let Some(order) = self.rows.order()? {
                found.iter_mut().for_each(|v| *v = order.row(*v));
            }
            Ok(found)
        })
        .map(Array::of)
    }
}

/// The options of an algorithm.
pub(crate) fn params(options: Vec<(String, String)>) -> Params {
    let mut params = Params::default();
    options.into_iter().for_each(|(name, value)| params.add(&name, value));
    params
}

impl PyGraph {
    /// The path of its database.
    fn path(&self) -> &Path {
        self.version().path()
    }

    /// Does a short read, which is an error if another program overwrote a file of the database.
    fn read<T>(&self, work: impl FnOnce() -> PyOutcome<T>) -> PyOutcome<T> {
        esker::guarded(self.path(), work)
    }

    /// The vertex with an id.
    pub(crate) fn vertex(&self, id: &Bound<'_, PyAny>) -> PyOutcome<VertexId> {
        let column = InputColumn::one(id)?;
        column.expect_ids(self.version().ids().is_text())?;
        Ok(self.read(|| self.look_up(&column))?[0])
    }

    /// The vertex with an id; `None` if there is none, also because no id is of this type.
    fn vertex_if_any(&self, id: &Bound<'_, PyAny>) -> PyOutcome<Option<VertexId>> {
        let find = || -> PyOutcome<Option<VertexId>> {
            let column = InputColumn::one(id)?;
            column.expect_ids(self.version().ids().is_text())?;
            Ok(self.read(|| self.find_each(&column, |_, found| Ok(found)))?[0])
        };
        match find() {
            Err(PyFailure::Named("MistypedError" | "InvalidError", _)) => Ok(None),
            other => other,
        }
    }

    /// The ids of vertices, or of all in their order: an array of integers, or a list of strings.
    fn id_objects<'py>(
        &self,
        py: Python<'py>,
        vertices: Option<Vec<VertexId>>,
    ) -> PyOutcome<Bound<'py, PyAny>> {
        let ids = self.version().ids();
        if ids.is_text() {
            let all = vertices.unwrap_or_else(|| (0..ids.num_vertices()).map(vertex).collect());
            let (texts, mut checks) = (PyList::empty(py), InterruptChecks::new());
            for v in all {
                checks.step(py)?;
                texts.append(id_object(py, self.version(), v)?)?;
            }
            return Ok(texts.into_any());
        }
        let integers = reading(py, self.path(), || -> PyOutcome<Vec<u64>> {
            let integer = |v: VertexId| match ids.external_of(v)? {
                ExternalId::Int(id) => Ok(id),
                ExternalId::Text(_) => invalid(format!("vertex {v} has a text id, not an integer id")),
            };
            match vertices {
                Some(vertices) => vertices.into_iter().map(integer).collect(),
                None => (0..ids.num_vertices()).map(|v| integer(vertex(v))).collect(),
            }
        })?;
        let array = if ids_are_signed(self.version())? {
            Array::of(integers.into_iter().map(|id| id as i64).collect())
        } else {
            Array::of(integers)
        };
        Ok(Bound::new(py, array)?.into_any())
    }

    fn look_up(&self, column: &InputColumn) -> PyOutcome<Vec<VertexId>> {
        let not_found = |id: ExternalId<'_>| {
            let gone = || format!("the vertex {:?} was removed", id.to_string());
            let found = self.version().ids().find(&id.to_string());
            let message = found.map_or_else(|error| said(&error.message()), |_| gone());
            PyFailure::Named("VertexNotFoundError", message)
        };
        self.find_each(column, |id, found| found.ok_or_else(|| not_found(id)))
    }

    /// Calls `take` with each id of a column and its vertex, if it exists; collects the results.
    fn find_each<T>(
        &self,
        column: &InputColumn,
        mut take: impl FnMut(ExternalId<'_>, Option<VertexId>) -> PyOutcome<T>,
    ) -> PyOutcome<Vec<T>> {
        let (known, removed) = (self.version().ids(), self.view.removed(&*brief()?)?);
        let mut seek = |id: ExternalId<'_>| {
            let found = known.vertex_of(id)?.filter(|&v| !removed.is_removed(v));
            take(id, found)
        };
        let ids = column.known_ids(0..column.len(), known.is_text())?;
        (0..ids.len()).map(|index| seek(id_at(&ids, index))).collect()
    }

    /// The vertices of a column of rows.
    fn numbers(&self, column: &InputColumn) -> PyOutcome<Vec<VertexId>> {
        let mut rows = self.checked(column)?;
        if let Some(order) = self.rows.order()? {
            rows.iter_mut().for_each(|row| *row = order.vertex(*row));
        }
        Ok(rows)
    }

    /// Reads a column of rows.
    fn checked(&self, column: &InputColumn) -> PyOutcome<Vec<VertexId>> {
        if column.len() > 0 && column.column_type() != ColumnType::Integers {
            return mistyped(format!("{}: vertex numbers must be integers", column.what()));
        }
        let ids = column.ids(0..column.len(), false)?;
        let numbers = integer_ids(&ids).unwrap_or_default();
        let n = self.rows.len()?;
        match numbers.iter().position(|&v| v >= n as u64) {
            Some(at) => invalid(format!("there is no vertex number {}: there are {n}", numbers[at])),
            None => Ok(numbers.iter().map(|&v| vertex(v as usize)).collect()),
        }
    }
}
