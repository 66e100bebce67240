//! Answers of algorithms, for Python.

use parking_lot::Mutex;
use std::sync::Arc;

use esker::answer::{Fact, Ranking, Value, Values};
use esker::drawing::PictureValues;
use esker::graph::Cancel;
use esker::store::View;
use esker::top::{TopVertex, top};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::failure::{PyOutcome, invalid};
use crate::input::array::Array;
use crate::interrupts::InterruptChecks;
use crate::output::row_order::VersionRows;
use crate::output::values::id_object;
use crate::watch::{reading, watched_reading};

/// The most rows that are ranked on the calling thread.
const BRIEF_LEN: usize = 1 << 20;

/// The answer of an algorithm, with rows in place of vertices.
#[pyclass(frozen, name = "Answer", module = "esker._esker")]
pub(crate) struct PyAnswer {
    given: Mutex<UnreadAnswer>,
    pub(crate) rows: VersionRows,
}

/// An answer as the algorithm gave it, until its values are asked for.
struct UnreadAnswer {
    answer: Arc<esker::answer::Answer>,
    is_in_rows: bool,
}

impl PyAnswer {
    /// An answer on the vertices of these rows.
    pub(crate) fn new(answer: esker::answer::Answer, rows: &VersionRows) -> Self {
        let given = UnreadAnswer { answer: Arc::new(answer), is_in_rows: false };
        Self { given: Mutex::new(given), rows: rows.clone() }
    }

    /// The answer with rows in place of vertices. Time: at first O(n), if row `v` is not vertex `v`.
    pub(crate) fn in_rows(&self) -> PyOutcome<Arc<esker::answer::Answer>> {
        let mut given = self.given.lock();
        if !given.is_in_rows {
            if let Some(order) = self.rows.order()? {
                let answer = Arc::unwrap_or_clone(std::mem::take(&mut given.answer));
                given.answer = Arc::new(order.answer(answer));
            }
            given.is_in_rows = true;
        }
        Ok(Arc::clone(&given.answer))
    }

    /// The values of the principal column, for a picture.
    pub(crate) fn vertex_values(&self, what: &str) -> PyOutcome<PictureValues> {
        let (answer, rows) = (self.in_rows()?, self.rows.clone());
        let Some(PictureValues::Answer { name, is_of_groups, value }) = PictureValues::of(&answer) else {
            return invalid(format!("{what} must be a result with a value for each vertex"));
        };
        let of_vertex = move |v| {
            // It was found for the rows of the answer.
            let order = rows.order().ok().flatten();
            Ok(match value(order.map_or(v, |order| order.row(v)))? {
                Value::Vertex(row) => Value::Vertex(order.map_or(row, |order| order.vertex(row))),
                other => other,
            })
        };
        Ok(PictureValues::Answer { name, is_of_groups, value: Arc::new(of_vertex) })
    }

    /// Changes the answer while its rows are vertices: before its values are asked for.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut esker::answer::Answer) -> PyOutcome<T>,
    ) -> PyOutcome<T> {
        let mut given = self.given.lock();
        debug_assert!(!given.is_in_rows, "the rows are no vertices any more");
        change(Arc::make_mut(&mut given.answer))
    }

    /// The answer, for what does not depend on the order of rows.
    fn given(&self) -> Arc<esker::answer::Answer> {
        Arc::clone(&self.given.lock().answer)
    }
}

#[pymethods]
impl PyAnswer {
    /// The name, kind (`vertex`, `index`, `integer`, `count`, `float`) and ranking (`largest`, `groups`) of
    /// each column.
    fn columns(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        let answer = self.given();
        let columns = answer.columns.iter();
        columns.map(|column| (column.name, kind(&column.values), ranking(column.ranking))).collect()
    }

    /// The values of a column, without a copy.
    fn column(&self, py: Python<'_>, index: usize) -> PyOutcome<Option<Array>> {
        let answer = reading(py, self.rows.view().version().path(), || self.in_rows())?;
        let Some(column) = answer.columns.get(index) else { return Ok(None) };
        macro_rules! within {
            ($($kind:ident),*) => {
                match column.values {
                    $(Values::$kind(_) => Array::within(Arc::clone(&answer), |answer| match &answer.columns[index].values {
                        Values::$kind(values) => Ok::<&[_], ()>(values),
                        _ => Err(()),
                    }).ok(),)*
                }
            };
        }
        Ok(within!(Vertex, Index, Integer, Count, Float))
    }

    /// The row of the graph of each row of the answer, ascending; `None` if it has all rows of the graph.
    fn vertices(&self, py: Python<'_>) -> PyOutcome<Option<Array>> {
        let answer = reading(py, self.rows.view().version().path(), || self.in_rows())?;
        Ok(Array::within(answer, |answer| answer.vertices.as_deref().ok_or(())).ok())
    }

    /// The rows of the sources and targets of the edges, if the rows of the answer are edges.
    fn edges(&self, py: Python<'_>) -> PyOutcome<Option<(Array, Array)>> {
        let answer = reading(py, self.rows.view().version().path(), || self.in_rows())?;
        let Some(edges) = answer.edges.as_ref() else { return Ok(None) };
        let end = |of: fn(&(_, _)) -> _| Array::of(edges.iter().map(of).collect::<Vec<_>>());
        Ok(Some((end(|edge| edge.0), end(|edge| edge.1))))
    }

    /// Whether the rows are edges.
    fn has_edges(&self) -> bool {
        self.given().edges.is_some()
    }

    /// Number of rows.
    fn len(&self) -> usize {
        let answer = self.given();
        match (&answer.edges, answer.columns.first()) {
            (Some(edges), _) => edges.len(),
            (None, column) => column.map_or(0, |column| column.values.len()),
        }
    }

    #[getter]
    fn rounds(&self) -> usize {
        self.given().rounds
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.given().seconds
    }

    #[getter]
    fn arcs(&self) -> u64 {
        self.given().arcs
    }

    /// Facts by name.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        facts_by_name(py, &self.given().facts)
    }

    /// Appends the top rows of the principal column to `rows`: keys and values, with external ids; ties by
    /// row.
    fn top(&self, py: Python<'_>, count: usize, rows: &Bound<'_, PyList>) -> PyOutcome<()> {
        let cancel = Cancel::default();
        let rank = || {
            let answer = self.in_rows()?;
            let order = self.rows.order()?;
            let of_row = |value| match (value, order) {
                (Value::Vertex(row), Some(order)) => Value::Vertex(order.vertex(row)),
                (Value::Edge(u, v), Some(order)) => Value::Edge(order.vertex(u), order.vertex(v)),
                (value, _) => value,
            };
            let ranked = top(&answer, count, &cancel)?.into_iter();
            let shown = ranked.map(|one| TopVertex { key: of_row(one.key), value: of_row(one.value), ..one });
            Ok(shown.collect())
        };
        // To start a thread takes longer than to rank few rows.
        let path = self.rows.view().version().path();
        let ranked = match self.len() <= BRIEF_LEN {
            true => reading(py, path, rank)?,
            false => watched_reading(py, &cancel, None, path, rank)?,
        };
        append_ranked(rows, self.rows.view(), ranked)
    }
}

/// Appends keys and values, with external ids, one by one, so that Ctrl-C ends the loop. The caller keeps the
/// list: to free many tuples takes longer than Ctrl-C may.
pub(crate) fn append_ranked(rows: &Bound<'_, PyList>, view: &View, ranked: Vec<TopVertex>) -> PyOutcome<()> {
    let (py, mut checks) = (rows.py(), InterruptChecks::new());
    for one in ranked {
        checks.step(py)?;
        rows.append((shown(py, view, one.key)?, shown(py, view, one.value)?))?;
    }
    Ok(())
}

/// A value as an object: vertices as their ids.
pub(crate) fn shown<'py>(py: Python<'py>, view: &View, value: Value) -> PyOutcome<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Missing => py.None().into_bound(py),
        Value::Vertex(v) => id_object(py, view.version(), v)?,
        Value::Edge(u, v) => (id_object(py, view.version(), u)?, id_object(py, view.version(), v)?)
            .into_pyobject(py)?
            .into_any(),
        Value::Integer(value) => value.into_pyobject(py).map_err(PyErr::from)?.into_any(),
        Value::Count(value) => value.into_pyobject(py).map_err(PyErr::from)?.into_any(),
        Value::Float(value) => value.into_pyobject(py).map_err(PyErr::from)?.into_any(),
    })
}

fn kind(values: &Values) -> &'static str {
    match values {
        Values::Vertex(_) => "vertex",
        Values::Index(_) => "index",
        Values::Integer(_) => "integer",
        Values::Count(_) => "count",
        Values::Float(_) => "float",
    }
}

fn ranking(ranking: Ranking) -> &'static str {
    match ranking {
        Ranking::Largest => "largest",
        Ranking::Groups => "groups",
        Ranking::Blocks => "blocks",
    }
}

/// The figures of an answer by name.
pub(crate) fn facts_by_name<'py>(
    py: Python<'py>,
    facts: &[(&'static str, Fact)],
) -> PyResult<Bound<'py, PyDict>> {
    let by_name = PyDict::new(py);
    for (name, fact) in facts {
        match fact {
            Fact::Count(count) => by_name.set_item(name, count)?,
            Fact::Float(number) => by_name.set_item(name, number)?,
            Fact::Flag(flag) => by_name.set_item(name, flag)?,
        }
    }
    Ok(by_name)
}
