//! One version of a graph: ids, lists, properties, runs of algorithms.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::Array as _;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use esker::algo::algorithm::pagerank::{Criterion, PageRankOptions, pagerank};
use esker::catalogue::{Entry, Job, Params, Resources, find};
use esker::graph::{Bitmap, Cancel, Direction, NONE, Rows, Run, Stop, VertexId, vertex};
use esker::import::source::{id_at, integer_ids};
use esker::plan::{estimate_on, plan, shape_of};
use esker::store::format::{ElementType, IdMapKind};
use esker::store::ids::ExternalId;
use esker::store::{Snapshot, StoredWeight};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::answer::Answer;
use crate::array::Array;
use crate::column::{Column, ColumnType};
use crate::edges::EdgeArrays;
use crate::failure::{Failure, Outcome, invalid, mistyped};
use crate::report::graph_facts;
use crate::settings::{Choice, Reading, Settings, brief, one_of};
use crate::stream::ids_are_signed;
use crate::turns::Turns;
use crate::values::{VertexValues, id_object, value_object};
use crate::watch::watched;

/// A version of a graph.
#[pyclass(frozen, module = "esker._esker")]
pub(crate) struct Graph {
    pub(crate) snapshot: Snapshot,
}

fn direction(name: &str) -> Outcome<Direction> {
    one_of("direction", name, &[("out", Direction::Out), ("in", Direction::In)])
}

#[pymethods]
impl Graph {
    /// A description of the graph, as JSON.
    fn facts(&self) -> Outcome<String> {
        graph_facts(&self.snapshot)
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
        reading: Reading,
        choice: Choice,
    ) -> Outcome<Answer> {
        let (entry, params) = (find(name)?, params(options));
        let request = reading.request()?;
        let resources = settings.resources();
        let (run, cancel, listener) = settings.run(name)?;
        let mut snapshot = choice.of(&self.snapshot)?;
        // A window is gathered in memory if it fits there, and in-lists that are not kept are made there.
        let lacks_in_lists = snapshot.is_directed() && !snapshot.has(Direction::In);
        if !request.is_free() || snapshot.window_index().is_some() || lacks_in_lists {
            snapshot = plan(&snapshot, entry, &params, &request, &resources)?.apply(&snapshot)?;
        }
        let answer = watched(py, &cancel, listener.as_ref(), || {
            let job = Job { snapshot: &snapshot, run: &run, params: &params, verify };
            entry.run(&job).or_else(|error| Err(with_whole_need(error, &job, entry, &resources)?))
        })?;
        Ok(Answer { answer: Arc::new(answer), snapshot: self.snapshot.clone() })
    }

    /// PageRank with a teleport weight for each vertex, until a round changes the scores by less than the tolerance in all, as NetworkX has
    /// it; returns the scores and whether they converged.
    fn pagerank(
        &self,
        py: Python<'_>,
        damping: f64,
        tolerance: f64,
        rounds_max: usize,
        teleport: Option<&Column>,
        settings: Settings,
    ) -> Outcome<(Array, bool)> {
        let (run, cancel, listener) = settings.run("pagerank")?;
        let weights = teleport.map(|column| column.values(0..column.len())).transpose()?;
        let teleport = match weights {
            None => None,
            Some(weights) => match weights.as_primitive_opt::<Float64Type>() {
                Some(weights) if weights.len() == self.snapshot.num_vertices() => {
                    Some(weights.values().to_vec())
                }
                _ => return invalid("teleport must have one float per vertex"),
            },
        };
        let options =
            PageRankOptions { damping, tolerance, criterion: Criterion::Change, rounds_max, teleport };
        let found = watched(py, &cancel, listener.as_ref(), || {
            Ok(pagerank(&self.snapshot.graph::<()>(&run)?, &run, &options)?)
        })?;
        Ok((Array::of(found.scores), found.converged))
    }

    /// The estimated bytes of memory and bytes read by a run, and the bytes of the lists.
    fn estimate(
        &self,
        name: &str,
        options: Vec<(String, String)>,
        settings: Settings,
        choice: Choice,
        reading: Option<Reading>,
    ) -> Outcome<(u64, u64, u64, Option<String>)> {
        let (entry, params, resources) = (find(name)?, params(options), settings.resources());
        let snapshot = choice.of(&self.snapshot)?;
        let plan = reading.map(|reading| {
            plan(&snapshot, entry, &params, &reading.request()?, &resources).map_err(Failure::from)
        });
        let plan = plan.transpose()?;
        let estimate = match &plan {
            Some(plan) => plan.estimate,
            None => estimate_on(&snapshot, entry, &params, &resources)?,
        };
        let plan = plan.map(|plan| plan.to_json(&snapshot, &resources)).transpose()?;
        let shape = shape_of(&snapshot, entry.reads_weights(&snapshot))?;
        let sides = if shape.directed && shape.in_edges { 2 } else { 1 };
        let plan = plan.map(|plan| plan.to_string());
        Ok((estimate.memory_bytes, estimate.read_bytes, shape.weighted_list_bytes() * sides, plan))
    }

    /// The vertex with an id.
    fn vertex_of(&self, id: &Bound<'_, PyAny>) -> Outcome<VertexId> {
        let column = Column::one(id)?;
        column.expect_ids(self.snapshot.ids().is_text())?;
        let found = self.look_up(&column)?;
        Ok(found[0])
    }

    /// The vertices with the given ids.
    fn vertices_of(&self, py: Python<'_>, ids: &Column) -> Outcome<Array> {
        ids.expect_ids(self.snapshot.ids().is_text())?;
        py.detach(|| self.look_up(ids)).map(Array::of)
    }

    /// Whether a vertex with this id exists.
    fn has_vertex(&self, id: &Bound<'_, PyAny>) -> Outcome<bool> {
        let exists = || -> Outcome<bool> {
            let column = Column::one(id)?;
            column.expect_ids(self.snapshot.ids().is_text())?;
            Ok(self.find_each(&column, |_, found| Ok(found.is_some()))? == [true])
        };
        match exists() {
            Err(Failure::Named("MistypedError" | "InvalidError", _)) => Ok(false),
            other => other,
        }
    }

    /// The id of a vertex.
    fn id_of<'py>(&self, py: Python<'py>, v: VertexId) -> Outcome<Bound<'py, PyAny>> {
        id_object(py, &self.snapshot, v)
    }

    /// The ids of the given vertices, or of all: an array of integers, or a list of strings.
    #[pyo3(signature = (vertices=None))]
    fn ids<'py>(&self, py: Python<'py>, vertices: Option<&Column>) -> Outcome<Bound<'py, PyAny>> {
        let vertices = match vertices {
            Some(column) => Some(self.numbers(column)?),
            None => self.present()?,
        };
        let ids = self.snapshot.ids();
        if ids.is_text() {
            let all = vertices.unwrap_or_else(|| (0..ids.num_vertices()).map(vertex).collect());
            let (texts, mut turns) = (PyList::empty(py), Turns::new());
            for v in all {
                turns.step(py)?;
                texts.append(id_object(py, &self.snapshot, v)?)?;
            }
            return Ok(texts.into_any());
        }
        let integers = py.detach(|| -> Outcome<Vec<u64>> {
            let integer = |v: VertexId| match ids.external_of(v)? {
                ExternalId::Int(id) => Ok(id),
                ExternalId::Text(_) => invalid(format!("vertex {v} has a text id, not an integer id")),
            };
            match vertices {
                Some(vertices) => vertices.into_iter().map(integer).collect(),
                None => (0..ids.num_vertices()).map(|v| integer(vertex(v))).collect(),
            }
        })?;
        let array = if ids_are_signed(&self.snapshot)? {
            Array::of(integers.into_iter().map(|id| id as i64).collect())
        } else {
            Array::of(integers)
        };
        Ok(Bound::new(py, array)?.into_any())
    }

    /// The vertex numbers in a column, checked.
    fn checked_numbers(&self, column: &Column) -> Outcome<Array> {
        self.numbers(column).map(Array::of)
    }

    /// The vertices that are not removed, ascending; `None` if no vertex is removed.
    fn remaining(&self) -> Outcome<Option<Array>> {
        Ok(self.present()?.map(Array::of))
    }

    /// The vertex of each id in ascending order of id; `None` unless ids are consecutive integers in another order than vertices.
    fn in_id_order(&self, py: Python<'_>) -> Outcome<Option<Array>> {
        let manifest = self.snapshot.manifest();
        let ids = self.snapshot.ids();
        let Some(base) = ids.dense_base().filter(|_| manifest.ids.kind == IdMapKind::Permuted) else {
            return Ok(None);
        };
        let vertices = py.detach(|| {
            let find = |id: u64| Ok(ids.vertex_of(ExternalId::Int(base + id))?.unwrap_or(NONE));
            (0..ids.num_vertices() as u64).map(find).collect::<Outcome<Vec<VertexId>>>()
        })?;
        Ok(Some(Array::of(vertices)))
    }

    /// The degree of a vertex.
    fn degree(&self, v: VertexId, direction_name: &str) -> Outcome<usize> {
        Ok(self.snapshot.degree(direction(direction_name)?, v)?)
    }

    /// The degrees of all vertices.
    fn degrees(&self, py: Python<'_>, direction_name: &str) -> Outcome<Array> {
        let direction = direction(direction_name)?;
        py.detach(|| {
            let degree = |v| Ok(self.snapshot.degree(direction, vertex(v))? as u64);
            (0..self.snapshot.num_vertices()).map(degree).collect::<Outcome<Vec<u64>>>()
        })
        .map(Array::of)
    }

    /// The neighbours of a vertex, ascending.
    fn neighbors(&self, v: VertexId, direction_name: &str) -> Outcome<Array> {
        Ok(Array::of(self.snapshot.neighbors(direction(direction_name)?, v)?.into_owned()))
    }

    /// Whether an edge exists.
    fn has_edge(&self, source: VertexId, target: VertexId) -> Outcome<bool> {
        Ok(self.snapshot.neighbors(Direction::Out, source)?.binary_search(&target).is_ok())
    }

    /// The properties of all edges between two vertices.
    fn edge_values<'py>(
        &self,
        py: Python<'py>,
        source: VertexId,
        target: VertexId,
    ) -> Outcome<Vec<Bound<'py, PyDict>>> {
        let edges = self.snapshot.edges(Direction::Out, source)?;
        let first = edges.targets().partition_point(|&v| v < target);
        let count = edges.targets()[first..].iter().take_while(|&&v| v == target).count();
        let mut found = Vec::new();
        for index in first..first + count {
            let values = PyDict::new(py);
            for property in self.snapshot.edge_properties() {
                let bits = edges.bits(property.number, index)?;
                let value = match self.snapshot.dictionary(property.number) {
                    Some(texts) => esker::store::property::PropertyValue::Text(texts.text(bits as usize)?),
                    None => esker::store::property::PropertyValue::of(property, bits),
                };
                values.set_item(&property.name, value_object(py, value)?)?;
            }
            found.push(values);
        }
        Ok(found)
    }

    /// The properties of a vertex.
    fn vertex_values<'py>(&self, py: Python<'py>, v: VertexId) -> Outcome<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        for record in self.snapshot.vertex_properties() {
            let property = self.snapshot.vertex_property(&record.name)?;
            if let Some(value) = property.get(v)? {
                values.set_item(&record.name, value_object(py, value)?)?;
            }
        }
        Ok(values)
    }

    /// A property of all vertices: an array of values and an array with 1 for vertices that have a value, or a list of strings.
    fn property<'py>(&self, py: Python<'py>, name: &str, settings: Settings) -> Outcome<Bound<'py, PyAny>> {
        let (run, cancel, listener) = settings.run("property")?;
        let values =
            watched(py, &cancel, listener.as_ref(), || VertexValues::read(&self.snapshot, name, &run))?;
        Ok(match values {
            VertexValues::Numbers(values, present) => (values, present).into_pyobject(py)?.into_any(),
            VertexValues::Texts(texts) => PyList::new(py, texts)?.into_any(),
        })
    }

    /// Sources, targets and properties of the edges; with `among`, of the edges between these vertices.
    #[pyo3(signature = (among, with_properties, settings))]
    fn edges<'py>(
        &self,
        py: Python<'py>,
        among: Option<&Column>,
        with_properties: bool,
        settings: Settings,
    ) -> Outcome<(Array, Array, Bound<'py, PyDict>)> {
        let (run, cancel, listener) = settings.run("edges")?;
        let mut among = among.map(|column| self.numbers(column)).transpose()?;
        if let (Some(among), Some(remaining)) = (&mut among, self.snapshot.remaining(&run)?) {
            among.iter_mut().for_each(|v| *v = remaining.rank(*v));
        }
        let edges = watched(py, &cancel, listener.as_ref(), || {
            EdgeArrays::read(&self.snapshot, &run, among.as_deref(), with_properties)
        })?;
        Ok(edges.into_python(py)?)
    }

    /// The vertices within `radius` steps of `center`, by ascending distance, `center` first.
    fn within(
        &self,
        py: Python<'_>,
        center: VertexId,
        radius: usize,
        direction_name: &str,
    ) -> Outcome<Array> {
        let directions: &[Direction] = match direction_name {
            "both" if self.snapshot.is_directed() => &[Direction::Out, Direction::In],
            "both" => &[Direction::Out],
            other => &[direction(other)?],
        };
        let cancel = Cancel::default();
        watched(py, &cancel, None, || {
            let seen = Bitmap::new(self.snapshot.num_vertices());
            seen.insert(center);
            let mut found = vec![center];
            let mut queue = VecDeque::from([(center, 0)]);
            while let Some((v, depth)) = queue.pop_front().filter(|(_, depth)| *depth < radius) {
                cancel.check()?;
                for &direction in directions {
                    for &next in self.snapshot.neighbors(direction, v)?.iter() {
                        if seen.insert(next) {
                            found.push(next);
                            queue.push_back((next, depth + 1));
                        }
                    }
                }
            }
            Ok(found)
        })
        .map(Array::of)
    }

    /// Offsets, targets and weights, mapped; `None` unless each list is stored in one piece.
    fn csr(
        &self,
        py: Python<'_>,
        direction_name: &str,
        weighted: bool,
        settings: Settings,
    ) -> Outcome<Option<(Array, Array, Option<Array>)>> {
        let direction = direction(direction_name)?;
        let (run, cancel, listener) = settings.run("csr")?;
        watched(py, &cancel, listener.as_ref(), || match self.snapshot.weight_type().filter(|_| weighted) {
            None => self.csr_of::<()>(direction, &run, |_| Ok(None)),
            Some(ElementType::I32) => self.weighted_csr::<i32>(direction, &run),
            Some(ElementType::I64) => self.weighted_csr::<i64>(direction, &run),
            Some(ElementType::F32) => self.weighted_csr::<f32>(direction, &run),
            Some(_) => self.weighted_csr::<f64>(direction, &run),
        })
    }
}

/// The refusal of a run with the limit that the whole of it needs. A graph that is read as undirected reserves memory before the algorithm does.
fn with_whole_need(
    error: esker::Error,
    job: &Job<'_>,
    entry: &Entry,
    resources: &Resources,
) -> Outcome<Failure> {
    use esker::store::Error::Stop as Stopped;
    Ok(match error {
        esker::Error::Store(Stopped(Stop::OverBudget { what, needed_bytes, budget_bytes }))
            if job.snapshot.drops_directions() =>
        {
            let all = estimate_on(job.snapshot, entry, job.params, resources)?.memory_bytes;
            let needed_bytes = needed_bytes.max(all);
            Stop::OverBudget { what, needed_bytes, budget_bytes }.into()
        }
        other => other.into(),
    })
}

pub(crate) fn params(options: Vec<(String, String)>) -> Params {
    let mut params = Params::default();
    options.into_iter().for_each(|(name, value)| params.add(&name, value));
    params
}

impl Graph {
    /// The vertices that are there, if some are removed.
    fn present(&self) -> Outcome<Option<Vec<VertexId>>> {
        let remaining = self.snapshot.remaining(&*brief()?)?;
        Ok(remaining.map(|remaining| remaining.origins().to_vec()))
    }

    fn look_up(&self, column: &Column) -> Outcome<Vec<VertexId>> {
        let snapshot = &self.snapshot;
        let not_found = |id: ExternalId<'_>| {
            let message = match snapshot.ids().find(&id.to_string()) {
                Err(error) => error.to_string(),
                Ok(_) => format!("the vertex {:?} was removed", id.to_string()),
            };
            Failure::Named("VertexNotFoundError", message)
        };
        self.find_each(column, |id, found| found.ok_or_else(|| not_found(id)))
    }

    /// Calls `take` with each id of a column and its vertex, if it exists; collects the results.
    fn find_each<T>(
        &self,
        column: &Column,
        mut take: impl FnMut(ExternalId<'_>, Option<VertexId>) -> Outcome<T>,
    ) -> Outcome<Vec<T>> {
        let snapshot = &self.snapshot;
        let removed = snapshot.removed(&*brief()?)?;
        let mut seek = |id: ExternalId<'_>| {
            let found = snapshot.ids().vertex_of(id)?.filter(|&v| !removed.is_removed(v));
            take(id, found)
        };
        let ids = column.ids(0..column.len(), snapshot.ids().is_text())?;
        (0..ids.len()).map(|index| seek(id_at(&ids, index))).collect()
    }

    /// Reads a column of vertex numbers.
    fn numbers(&self, column: &Column) -> Outcome<Vec<VertexId>> {
        if column.len() > 0 && column.column_type() != ColumnType::Integers {
            return mistyped(format!("{}: vertex numbers must be integers", column.what()));
        }
        let ids = column.ids(0..column.len(), false)?;
        let numbers = integer_ids(&ids).unwrap_or_default();
        let n = self.snapshot.num_vertices();
        match numbers.iter().position(|&v| v >= n as u64) {
            Some(at) => invalid(format!("there is no vertex number {}: there are {n}", numbers[at])),
            None => Ok(numbers.iter().map(|&v| vertex(v as usize)).collect()),
        }
    }

    fn weighted_csr<W: StoredWeight + crate::array::Item>(
        &self,
        direction: Direction,
        run: &Run,
    ) -> Outcome<Option<(Array, Array, Option<Array>)>> {
        self.csr_of::<W>(direction, run, |owner| {
            Array::within(owner, |snapshot: &Snapshot| {
                let csr = snapshot.graph::<W>(run)?.csr(run)?;
                let rows = csr.as_ref().and_then(|csr| csr.rows(direction));
                rows.map(Rows::weights).ok_or_else(vanished)
            })
            .map(Some)
        })
    }

    fn csr_of<W: StoredWeight>(
        &self,
        direction: Direction,
        run: &Run,
        weights: impl FnOnce(Arc<Snapshot>) -> Outcome<Option<Array>>,
    ) -> Outcome<Option<(Array, Array, Option<Array>)>> {
        let owner = Arc::new(self.snapshot.clone());
        let has = |snapshot: &Snapshot| -> Outcome<bool> {
            let csr = snapshot.graph::<W>(run)?.csr(run)?;
            Ok(csr.as_ref().is_some_and(|csr| csr.rows(direction).is_some()))
        };
        if !has(&owner)? {
            return Ok(None);
        }
        let offsets = Array::within(Arc::clone(&owner), |snapshot| {
            let csr = snapshot.graph::<W>(run)?.csr(run)?;
            csr.as_ref().and_then(|csr| csr.rows(direction)).map(Rows::offsets).ok_or_else(vanished)
        })?;
        let targets = Array::within(Arc::clone(&owner), |snapshot| {
            let csr = snapshot.graph::<W>(run)?.csr(run)?;
            csr.as_ref().and_then(|csr| csr.rows(direction)).map(Rows::targets).ok_or_else(vanished)
        })?;
        Ok(Some((offsets, targets, weights(owner)?)))
    }
}

fn vanished() -> Failure {
    Failure::Named(
        "Error",
        "the stored form of the lists changed; this is a bug, please report it".to_owned(),
    )
}
