//! Adjacency as NetworkX keeps it: for each node, a dictionary from its neighbours to the attributes of the edges.

use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyString};

use crate::array::Array;
use crate::column::Column;
use crate::entries::Entries;
use crate::failure::Outcome;
use crate::turns::Turns;
use esker::import::source::integer_ids;

/// Integers of this magnitude and more are not exact as floats.
const EXACT: i64 = 1 << 53;

/// The row of each node.
struct RowOf<'a, 'py> {
    nodes: &'a Bound<'py, PyDict>,
    /// If nodes are integers without wide gaps: the least of them, and the row of each from it on, [`Self::NO_ROW`] for gaps.
    table: Option<(i64, Vec<i64>)>,
}

impl<'a, 'py> RowOf<'a, 'py> {
    const NO_ROW: i64 = -1;

    /// Nodes and their rows, which are 0, 1 and so on.
    fn new(nodes: &'a Bound<'py, PyDict>, turns: &mut Turns) -> PyResult<Self> {
        let mut integers = Vec::with_capacity(nodes.len());
        let mut entries = Entries::of(nodes);
        while let Some((node, _)) = entries.next(false)? {
            match integer(&node) {
                Some(value) => integers.push(value),
                None => return Ok(Self { nodes, table: None }),
            }
            turns.step(nodes.py())?;
        }
        let least = integers.iter().copied().min().unwrap_or(0);
        let span = integers.iter().map(|value| value.abs_diff(least)).max().unwrap_or(0);
        if span > 8 * integers.len() as u64 {
            return Ok(Self { nodes, table: None });
        }
        let mut table = vec![Self::NO_ROW; span as usize + 1];
        for (row, value) in integers.iter().enumerate() {
            table[value.abs_diff(least) as usize] = row as i64;
        }
        Ok(Self { nodes, table: Some((least, table)) })
    }

    fn get(&self, node: &Bound<'py, PyAny>) -> PyResult<i64> {
        if let Some((least, table)) = &self.table
            && let Some(value) = integer(node)
        {
            let index = value.checked_sub(*least).and_then(|index| usize::try_from(index).ok());
            let row = index.and_then(|index| table.get(index)).copied();
            if let Some(row) = row.filter(|row| *row != Self::NO_ROW) {
                return Ok(row);
            }
        }
        match self.nodes.get_item(node)? {
            Some(row) => row.extract(),
            None => Err(PyKeyError::new_err((node.clone().unbind(),))),
        }
    }
}

fn integer(object: &Bound<'_, PyAny>) -> Option<i64> {
    if object.is_exact_instance_of::<PyInt>() { object.extract().ok() } else { None }
}

/// Calls `visit` with the row of each source, that of each target and, if `with_values`, the value of each entry of the dictionaries of rows.
/// Returns `false` if a row has no plain dictionary, or `visit` has returned `false`.
fn walk<'py>(
    rows: &Bound<'py, PyList>,
    row_of: &RowOf<'_, 'py>,
    turns: &mut Turns,
    with_values: bool,
    mut visit: impl FnMut(usize, i64, Option<Bound<'py, PyAny>>) -> PyResult<bool>,
) -> PyResult<bool> {
    for source in 0..rows.len() {
        let row = rows.get_item(source)?;
        let Ok(others) = row.cast_exact::<PyDict>() else { return Ok(false) };
        let mut entries = Entries::of(others);
        while let Some((node, value)) = entries.next(with_values)? {
            if !visit(source, row_of.get(&node)?, value)? {
                return Ok(false);
            }
            turns.step(rows.py())?;
        }
        turns.step(rows.py())?;
    }
    Ok(true)
}

/// Weights of arcs: integers and floats, which are finite, and exact as floats.
#[derive(Default)]
struct Weights {
    values: Vec<f64>,
    /// 1 for each integer, 0 for each float.
    whole: Vec<u8>,
    all_one: bool,
}

impl Weights {
    /// Appends a weight. Returns `false` if it is not an `int` or a `float`, or too large.
    fn push(&mut self, value: &Bound<'_, PyAny>) -> bool {
        let (value, whole) = if value.is_exact_instance_of::<PyFloat>() {
            (value.extract().ok().filter(|value: &f64| value.is_finite()), 0)
        } else {
            (integer(value).filter(|value| -EXACT < *value && *value < EXACT).map(|value| value as f64), 1)
        };
        let Some(value) = value else { return false };
        self.all_one &= whole == 1 && value == 1.0;
        self.values.push(value);
        self.whole.push(whole);
        true
    }

    /// The weights, `None` if all are the integer 1; and which are integers, if some are and others not.
    fn finish(self) -> (Option<Array>, Option<Array>) {
        let integers = self.whole.iter().filter(|whole| **whole == 1).count();
        match integers {
            _ if self.all_one => (None, None),
            0 => (Some(Array::of(self.values)), None),
            all if all == self.values.len() => {
                (Some(Array::of(self.values.into_iter().map(|value| value as i64).collect())), None)
            }
            _ => (Some(Array::of(self.values)), Some(Array::of(self.whole))),
        }
    }
}

/// The length of the list of each row, the targets of all, their weights and which are integers.
type Lists = (Array, Array, Option<Array>, Option<Array>);

/// The lists of the neighbours of each row. `rows` holds the dictionary of each, `row_of` the rows of the nodes. With an attribute, its
/// values are the weights. `None` if dictionaries or weights are not of the plain types.
#[pyfunction]
#[pyo3(signature = (rows, row_of, attribute=None, default=None))]
pub(crate) fn read_adjacency<'py>(
    rows: &Bound<'py, PyList>,
    row_of: &Bound<'py, PyDict>,
    attribute: Option<Bound<'py, PyAny>>,
    default: Option<Bound<'py, PyAny>>,
) -> PyResult<Option<Lists>> {
    let mut turns = Turns::new();
    let row_of = RowOf::new(row_of, &mut turns)?;
    let mut lengths = vec![0_i64; rows.len()];
    let mut targets = Vec::new();
    let mut weights = Weights { all_one: true, ..Weights::default() };
    let plain = walk(rows, &row_of, &mut turns, attribute.is_some(), |source, target, value| {
        lengths[source] += 1;
        targets.push(target);
        let (Some(attribute), Some(values)) = (&attribute, value) else { return Ok(true) };
        let Ok(values) = values.cast_exact::<PyDict>() else { return Ok(false) };
        let weight = values.get_item(attribute)?.or_else(|| default.clone());
        Ok(weight.is_some_and(|weight| weights.push(&weight)))
    })?;
    if !plain {
        return Ok(None);
    }
    let (weights, whole) = weights.finish();
    Ok(Some((Array::of(lengths), Array::of(targets), weights, whole)))
}

/// The edges as rows of sources and targets, and a list of the attributes of each; an undirected edge from the end with the smaller row.
/// `None` if the dictionaries are not plain.
#[pyfunction]
pub(crate) fn read_edges<'py>(
    rows: &Bound<'py, PyList>,
    row_of: &Bound<'py, PyDict>,
    directed: bool,
) -> PyResult<Option<(Array, Array, Bound<'py, PyList>)>> {
    let mut turns = Turns::new();
    let row_of = RowOf::new(row_of, &mut turns)?;
    let (mut sources, mut targets, attributes) = (Vec::new(), Vec::new(), PyList::empty(rows.py()));
    let plain = walk(rows, &row_of, &mut turns, true, |source, target, value| {
        if directed || target >= source as i64 {
            sources.push(source as i64);
            targets.push(target);
            attributes.append(value)?;
        }
        Ok(true)
    })?;
    Ok(plain.then(|| (Array::of(sources), Array::of(targets), attributes)))
}

/// Adds edges to the dictionaries of a graph of NetworkX that has its nodes, but no edges.
///
/// Args: the dictionaries of neighbours, those of predecessors for a directed graph; the node of each row; the rows of sources and targets;
/// the name and the values of each property; whether the graph keeps parallel edges.
#[pyfunction]
#[pyo3(signature = (adjacency, predecessors, nodes, source, target, properties, multigraph))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn write_adjacency<'py>(
    py: Python<'py>,
    adjacency: &Bound<'py, PyDict>,
    predecessors: Option<Bound<'py, PyDict>>,
    nodes: &Bound<'py, PyList>,
    source: &Column,
    target: &Column,
    properties: Vec<(Bound<'py, PyString>, Bound<'py, PyList>)>,
    multigraph: bool,
) -> Outcome<()> {
    let nodes: Vec<Bound<'py, PyAny>> = nodes.iter().collect();
    let of_rows = |all: &Bound<'py, PyDict>| -> PyResult<Vec<Bound<'py, PyDict>>> {
        let of_row = |node| -> PyResult<Bound<'py, PyDict>> {
            let found = all.get_item(node)?.ok_or_else(|| PyKeyError::new_err("a node is missing"))?;
            Ok(found.cast_into()?)
        };
        nodes.iter().map(of_row).collect()
    };
    let after = of_rows(adjacency)?;
    let before = predecessors.as_ref().map(of_rows).transpose()?;
    let before = before.as_ref().unwrap_or(&after);
    let (sources, targets) = (source.ids(0..source.len(), false)?, target.ids(0..target.len(), false)?);
    let ends =
        integer_ids(&sources).unwrap_or_default().iter().zip(integer_ids(&targets).unwrap_or_default());
    let mut turns = Turns::new();
    for (at, (&u, &v)) in ends.enumerate() {
        turns.step(py)?;
        let (u, v) = (u as usize, v as usize);
        if u.max(v) >= nodes.len() {
            return Err(PyIndexError::new_err(format!("there is no row {}", u.max(v))).into());
        }
        let mut values = PyDict::new(py);
        for (name, column) in &properties {
            values.set_item(name, column.get_item(at)?)?;
        }
        if multigraph {
            if let Some(parallel) = after[u].get_item(&nodes[v])? {
                let parallel = parallel.cast_into::<PyDict>().map_err(PyErr::from)?;
                parallel.set_item(parallel.len(), values)?;
                continue;
            }
            let first = PyDict::new(py);
            first.set_item(0, values)?;
            values = first;
        }
        after[u].set_item(&nodes[v], &values)?;
        before[v].set_item(&nodes[u], &values)?;
    }
    Ok(())
}
