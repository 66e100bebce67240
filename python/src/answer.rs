//! Answers of algorithms, for Python.

use std::sync::Arc;

use esker::answer::{Fact, Ranking, Value, Values};
use esker::graph::Cancel;
use esker::store::Snapshot;
use esker::top::{TopVertex, top};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::array::Array;
use crate::failure::Outcome;
use crate::turns::Turns;
use crate::values::id_object;
use crate::watch::watched;

/// The most rows that are ranked on the calling thread.
const BRIEF_LEN: usize = 1 << 20;

/// The answer of an algorithm, and the snapshot it was computed on.
#[pyclass(frozen, module = "esker._esker")]
pub(crate) struct Answer {
    pub(crate) answer: Arc<esker::answer::Answer>,
    pub(crate) snapshot: Snapshot,
}

#[pymethods]
impl Answer {
    /// The name, kind (`vertex`, `index`, `integer`, `count`, `float`) and ranking (`largest`, `groups`) of each column.
    fn columns(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        let columns = self.answer.columns.iter();
        columns.map(|column| (column.name, kind(&column.values), ranking(column.ranking))).collect()
    }

    /// The values of a column, without a copy.
    fn column(&self, index: usize) -> Option<Array> {
        let answer = Arc::clone(&self.answer);
        let values = &self.answer.columns.get(index)?.values;
        macro_rules! within {
            ($($kind:ident),*) => {
                match values {
                    $(Values::$kind(_) => Array::within(answer, |answer| match &answer.columns[index].values {
                        Values::$kind(values) => Ok::<&[_], ()>(values),
                        _ => Err(()),
                    }).ok(),)*
                }
            };
        }
        within!(Vertex, Index, Integer, Count, Float)
    }

    /// The vertex of each row; `None` if row `v` is vertex `v`.
    fn vertices(&self) -> Option<Array> {
        let found = Array::within(Arc::clone(&self.answer), |answer| answer.vertices.as_deref().ok_or(()));
        found.ok()
    }

    /// The sources and targets of the edges, if rows are edges.
    fn edges(&self) -> Option<(Array, Array)> {
        let edges = self.answer.edges.as_ref()?;
        let end = |of: fn(&(_, _)) -> _| Array::of(edges.iter().map(of).collect::<Vec<_>>());
        Some((end(|edge| edge.0), end(|edge| edge.1)))
    }

    /// Number of rows.
    fn len(&self) -> usize {
        match (&self.answer.edges, &self.answer.vertices, self.answer.columns.first()) {
            (Some(edges), ..) => edges.len(),
            (None, Some(vertices), Some(_)) => vertices.len(),
            (None, _, Some(column)) => column.values.len(),
            (None, _, None) => 0,
        }
    }

    #[getter]
    fn rounds(&self) -> usize {
        self.answer.rounds
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.answer.seconds
    }

    #[getter]
    fn arcs(&self) -> u64 {
        self.answer.arcs
    }

    /// Facts by name.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        facts_by_name(py, &self.answer.facts)
    }

    /// Appends the top rows of the principal column to `rows`: keys and values, with external ids.
    fn top(&self, py: Python<'_>, count: usize, rows: &Bound<'_, PyList>) -> Outcome<()> {
        let cancel = Cancel::default();
        let rank = || Ok(top(&self.answer, count, &cancel)?);
        // To start a thread takes longer than to rank few rows.
        let ranked =
            if self.len() <= BRIEF_LEN { py.detach(rank) } else { watched(py, &cancel, None, rank) }?;
        append_ranked(rows, &self.snapshot, ranked)
    }
}

/// Appends keys and values, with external ids, one by one, so that Ctrl-C ends the loop. The caller keeps the list: to free many tuples takes
/// longer than Ctrl-C may.
pub(crate) fn append_ranked(
    rows: &Bound<'_, PyList>,
    snapshot: &Snapshot,
    ranked: Vec<TopVertex>,
) -> Outcome<()> {
    let (py, mut turns) = (rows.py(), Turns::new());
    for one in ranked {
        turns.step(py)?;
        rows.append((shown(py, snapshot, one.key)?, shown(py, snapshot, one.value)?))?;
    }
    Ok(())
}

/// A value as an object: vertices as their ids.
pub(crate) fn shown<'py>(py: Python<'py>, snapshot: &Snapshot, value: Value) -> Outcome<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Missing => py.None().into_bound(py),
        Value::Vertex(v) => id_object(py, snapshot, v)?,
        Value::Edge(u, v) => {
            (id_object(py, snapshot, u)?, id_object(py, snapshot, v)?).into_pyobject(py)?.into_any()
        }
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
