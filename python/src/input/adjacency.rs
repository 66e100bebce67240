//! Adjacency as NetworkX keeps it: for each node, a dictionary from its neighbours to the attributes of the
//! edges.

use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyString};

use crate::failure::PyOutcome;
use crate::input::array::Array;
use crate::input::column::InputColumn;
use crate::input::entries::{Entries, RowEntries, RowEntry, first_entries};
use crate::input::node_rows::{RowOf, integer};
use crate::input::objects::Usual;
use crate::interrupts::InterruptChecks;
use esker::import::read::source::integer_ids;

/// Integers of this magnitude and more are not exact as floats.
const EXACT: i64 = 1 << 53;

/// An arc as it is read.
struct ReadArc<'py> {
    source: usize,
    target: usize,
    attributes: Option<Bound<'py, PyAny>>,
}

/// Calls `visit` with the arcs in the dictionaries of rows, batch by batch, and with their attributes if
/// `with_attributes`. Returns `false` if a row has no plain dictionary, or `visit` has returned `false`.
fn walk<'py>(
    rows: &Bound<'py, PyList>,
    row_of: &RowOf<'_, 'py>,
    checks: &mut InterruptChecks,
    with_attributes: bool,
    mut visit: impl FnMut(&[ReadArc<'py>]) -> PyResult<bool>,
) -> PyResult<bool> {
    let (mut taken, mut targets, mut arcs) = (Vec::new(), Vec::new(), Vec::new());
    let mut entries = RowEntries::of(rows, with_attributes);
    while !entries.is_done() {
        if !entries.next_batch(&mut taken)? {
            return Ok(false);
        }
        targets.clear();
        row_of.get_all(&taken, |entry| &entry.key, &mut targets)?;
        for (RowEntry { row, value, .. }, &target) in taken.drain(..).zip(&targets) {
            arcs.push(ReadArc { source: row, target, attributes: value });
        }
        if !visit(&arcs)? {
            return Ok(false);
        }
        checks.steps(rows.py(), 1 + arcs.len())?;
        arcs.clear();
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

    /// Appends a weight that is not known yet.
    fn push_unknown(&mut self) {
        self.values.push(f64::NAN);
        self.whole.push(0);
    }

    /// Gives an arc the weight of another.
    fn copy(&mut self, from: usize, to: usize) {
        self.values[to] = self.values[from];
        self.whole[to] = self.whole[from];
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

/// The lists of neighbours, as they are read.
struct ReadLists<'a, 'py> {
    attribute: Option<&'a Bound<'py, PyAny>>,
    default: Option<&'a Bound<'py, PyAny>>,
    directed: bool,
    lengths: Vec<i64>,
    targets: Vec<i64>,
    weights: Weights,
    /// The address of the attributes of each arc of an undirected graph with weights.
    addresses: Vec<usize>,
}

impl<'py> ReadLists<'_, 'py> {
    /// Appends arcs. Returns `false` if their attributes or weights are not of the plain types.
    fn push(&mut self, arcs: &[ReadArc<'py>]) -> PyResult<bool> {
        for arc in arcs {
            self.lengths[arc.source] += 1;
            self.targets.push(arc.target as i64);
        }
        let Some(attribute) = self.attribute else { return Ok(true) };
        let mut wanted = Vec::with_capacity(arcs.len());
        for arc in arcs {
            let Some(Ok(values)) = arc.attributes.as_ref().map(|values| values.cast_exact::<PyDict>()) else {
                return Ok(false);
            };
            if !self.directed {
                self.addresses.push(values.as_ptr().addr());
            }
            let mirrored = !self.directed && arc.target < arc.source;
            wanted.push((!mirrored).then_some(values));
        }
        let known: Vec<&Bound<'py, PyDict>> = wanted.iter().copied().flatten().collect();
        // The first entry is the attribute itself in most graphs.
        let mut firsts = first_entries(&known).into_iter();
        for values in wanted {
            let Some(values) = values else {
                self.weights.push_unknown();
                continue;
            };
            let first = firsts.next().flatten();
            let weight = match first {
                Some((name, value)) if name.is(attribute) => Some(value),
                _ => values.get_item(attribute)?.or_else(|| self.default.cloned()),
            };
            if !weight.is_some_and(|weight| self.weights.push(&weight)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Gives each arc to a smaller row the weight of the arc in the opposite direction. NetworkX keeps one
    /// dictionary of attributes for both. Returns `false` if an arc has a dictionary of its own.
    fn mirror(&mut self) -> bool {
        if self.addresses.is_empty() {
            return true;
        }
        if u32::try_from(self.targets.len()).is_err() {
            return false;
        }
        // The arcs to larger rows, with their sources, ordered by target.
        let mut ends = vec![0_usize; self.lengths.len() + 1];
        let arcs = || {
            self.lengths
                .iter()
                .enumerate()
                .flat_map(|(row, &len)| (0..len).map(move |_| row))
                .zip(&self.targets)
        };
        for (_, &target) in arcs().filter(|&(source, &target)| source < target as usize) {
            ends[target as usize + 1] += 1;
        }
        for row in 1..ends.len() {
            ends[row] += ends[row - 1];
        }
        let mut incoming = vec![(0_u32, 0_u32); ends[self.lengths.len()]];
        for (at, (source, &target)) in
            arcs().enumerate().filter(|(_, (source, target))| *source < **target as usize)
        {
            incoming[ends[target as usize]] = (source as u32, at as u32);
            ends[target as usize] += 1;
        }
        let mut arc_from = vec![0_u32; self.lengths.len()];
        let (mut at, mut begin) = (0, 0);
        for (row, &len) in self.lengths.iter().enumerate() {
            for &(source, arc) in &incoming[begin..ends[row]] {
                arc_from[source as usize] = arc;
            }
            begin = ends[row];
            for arc in at..at + len as usize {
                let target = self.targets[arc] as usize;
                if target < row {
                    let back = arc_from[target] as usize;
                    if self.addresses[back] != self.addresses[arc] {
                        return false;
                    }
                    self.weights.copy(back, arc);
                }
            }
            at += len as usize;
        }
        true
    }
}

/// The length of the list of each row, the targets of all, their weights and which are integers.
type ListArrays = (Array, Array, Option<Array>, Option<Array>);

/// The lists of the neighbours of each row. `rows` holds the dictionary of each, `row_of` the rows of the
/// nodes. With an attribute, its values are the weights. `None` if dictionaries or weights are not of the
/// plain types, or an edge of an undirected graph has two.
#[pyfunction]
#[pyo3(signature = (rows, row_of, directed, attribute=None, default=None))]
pub(crate) fn read_adjacency<'py>(
    rows: &Bound<'py, PyList>,
    row_of: &Bound<'py, PyDict>,
    directed: bool,
    attribute: Option<Bound<'py, PyAny>>,
    default: Option<Bound<'py, PyAny>>,
) -> PyResult<Option<ListArrays>> {
    let mut checks = InterruptChecks::new();
    let row_of = RowOf::new(row_of, &mut checks)?;
    let mut lists = ReadLists {
        attribute: attribute.as_ref(),
        default: default.as_ref(),
        directed,
        lengths: vec![0; rows.len()],
        targets: Vec::new(),
        weights: Weights { all_one: true, ..Weights::default() },
        addresses: Vec::new(),
    };
    let plain = walk(rows, &row_of, &mut checks, attribute.is_some(), |arcs| lists.push(arcs))?;
    if !plain || !lists.mirror() {
        return Ok(None);
    }
    let (weights, whole) = lists.weights.finish();
    Ok(Some((Array::of(lists.lengths), Array::of(lists.targets), weights, whole)))
}

/// The name and the value of an attribute.
type Attribute<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The attributes of edges, in columns.
#[derive(Default)]
struct Attributes<'py> {
    names: Vec<Bound<'py, PyString>>,
    values: Vec<Usual>,
    edges: usize,
}

impl<'py> Attributes<'py> {
    /// Appends the attributes of an edge, whose first is known. Returns `false` if their names are not those
    /// of the edges before, or a column needs a closer look.
    fn push(&mut self, attributes: &Bound<'py, PyDict>, first: Option<Attribute<'py>>) -> PyResult<bool> {
        self.edges += 1;
        let len = attributes.len();
        if self.edges > 1 && len != self.names.len() {
            return Ok(false);
        }
        let mut entries = Entries::of(attributes);
        for at in 0..len {
            let entry = match &first {
                Some((name, value)) if len == 1 => Some((name.clone(), Some(value.clone()))),
                _ => entries.next(true)?,
            };
            let Some((name, value)) = entry else { return Ok(false) };
            let Ok(name) = name.cast_into_exact::<PyString>() else { return Ok(false) };
            if self.edges == 1 {
                self.names.push(name);
                self.values.push(Usual::Empty);
            } else if !name.is(&self.names[at]) && !name.as_any().eq(&self.names[at])? {
                return Ok(false);
            }
            if !value.is_some_and(|value| self.values[at].push(&value)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn finish(self) -> PyOutcome<Vec<(String, InputColumn)>> {
        let column = |(name, values): (Bound<'py, PyString>, Usual)| {
            let name = name.to_str()?.to_owned();
            Ok((name.clone(), InputColumn::of(name, vec![values.finish()])?))
        };
        self.names.into_iter().zip(self.values).map(column).collect()
    }
}

/// The edges as rows of sources and targets, and their attributes as names and columns; an undirected edge
/// from the end with the smaller row. `None` unless dictionaries are plain, all edges have the same
/// attributes in the same order, and each column is of one usual type.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "what Python takes apart")]
pub(crate) fn read_edges<'py>(
    rows: &Bound<'py, PyList>,
    row_of: &Bound<'py, PyDict>,
    directed: bool,
) -> PyOutcome<Option<(Array, Array, Vec<(String, InputColumn)>)>> {
    let mut checks = InterruptChecks::new();
    let row_of = RowOf::new(row_of, &mut checks)?;
    let (mut sources, mut targets, mut attributes) = (Vec::new(), Vec::new(), Attributes::default());
    let plain = walk(rows, &row_of, &mut checks, true, |arcs| {
        let mut wanted = Vec::with_capacity(arcs.len());
        for arc in arcs.iter().filter(|arc| directed || arc.target >= arc.source) {
            sources.push(arc.source as i64);
            targets.push(arc.target as i64);
            match arc.attributes.as_ref().map(|values| values.cast_exact::<PyDict>()) {
                Some(Ok(values)) => wanted.push(values),
                _ => return Ok(false),
            }
        }
        for (values, first) in wanted.iter().zip(first_entries(&wanted)) {
            if !attributes.push(values, first)? {
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    if !plain {
        return Ok(None);
    }
    Ok(Some((Array::of(sources), Array::of(targets), attributes.finish()?)))
}

/// Adds edges to the dictionaries of a graph of NetworkX that has its nodes, but no edges.
///
/// Args: the dictionaries of neighbours, those of predecessors for a directed graph; the node of each row;
/// the rows of sources and targets; the name and the values of each property; a list for the attributes of
/// each edge, `None` for a graph that keeps parallel edges.
#[pyfunction]
#[pyo3(signature = (adjacency, predecessors, nodes, source, target, properties, made))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn write_adjacency<'py>(
    py: Python<'py>,
    adjacency: &Bound<'py, PyDict>,
    predecessors: Option<Bound<'py, PyDict>>,
    nodes: &Bound<'py, PyList>,
    source: &InputColumn,
    target: &InputColumn,
    properties: Vec<(Bound<'py, PyString>, Bound<'py, PyList>)>,
    made: Option<Bound<'py, PyList>>,
) -> PyOutcome<()> {
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
    let (sources, targets) = (source.ids(0..source.len(), false)?, target.ids(0..target.len(), false)?);
    let ends =
        integer_ids(&sources).unwrap_or_default().iter().zip(integer_ids(&targets).unwrap_or_default());
    let ends: Vec<(usize, usize)> = ends.map(|(&u, &v)| (u as usize, v as usize)).collect();
    if let Some(row) = ends.iter().map(|&(u, v)| u.max(v)).find(|&row| row >= nodes.len()) {
        return Err(PyIndexError::new_err(format!("there is no row {row}")).into());
    }
    let mut edges = WrittenEdges { py, nodes, properties, checks: InterruptChecks::new() };
    let Some(made) = made else {
        return Ok(edges.add_parallel(&ends, &after, before.as_ref().unwrap_or(&after))?);
    };
    for _ in 0..ends.len() {
        made.append(py.None())?;
    }
    let outgoing = ends.iter().enumerate().map(|(edge, &(u, v))| (u, v, edge));
    let incoming = ends.iter().enumerate().map(|(edge, &(u, v))| (v, u, edge));
    if let Some(before) = before {
        edges.fill(&after, outgoing, &made)?;
        edges.fill(&before, incoming, &made)?;
    } else {
        let both = outgoing.zip(incoming).flat_map(|(there, back)| [there, back]);
        edges.fill(&after, both, &made)?;
    }
    Ok(())
}

/// Edges that become entries of dictionaries.
struct WrittenEdges<'py> {
    py: Python<'py>,
    nodes: Vec<Bound<'py, PyAny>>,
    properties: Vec<(Bound<'py, PyString>, Bound<'py, PyList>)>,
    checks: InterruptChecks,
}

impl<'py> WrittenEdges<'py> {
    fn attributes(&self, edge: usize) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(self.py);
        for (name, column) in &self.properties {
            let value = column.get_item(edge)?;
            // An edge without a value has no such attribute.
            if !value.is_none() {
                values.set_item(name, value)?;
            }
        }
        Ok(values)
    }

    /// Adds arcs, given as row, other row and edge, to the dictionaries of rows. One dictionary after another
    /// is filled, which keeps it in the cache; the order within each is that of the arcs. `made` gets the
    /// attributes of each edge once an end has them.
    fn fill(
        &mut self,
        rows: &[Bound<'py, PyDict>],
        arcs: impl Iterator<Item = (usize, usize, usize)> + Clone,
        made: &Bound<'py, PyList>,
    ) -> PyResult<()> {
        let mut ends = vec![0_usize; rows.len() + 1];
        for (row, ..) in arcs.clone() {
            ends[row + 1] += 1;
        }
        for row in 1..ends.len() {
            ends[row] += ends[row - 1];
        }
        let mut by_row = vec![(0_usize, 0_usize); ends[rows.len()]];
        for (row, other, edge) in arcs {
            by_row[ends[row]] = (other, edge);
            ends[row] += 1;
        }
        let mut begin = 0;
        for (row, &end) in rows.iter().zip(&ends) {
            for &(other, edge) in &by_row[begin..end] {
                let mut attributes = made.get_item(edge)?;
                if attributes.is_none() {
                    attributes = self.attributes(edge)?.into_any();
                    made.set_item(edge, &attributes)?;
                }
                row.set_item(&self.nodes[other], attributes)?;
                self.checks.step(self.py)?;
            }
            begin = end;
        }
        Ok(())
    }

    /// Adds the edges of a multigraph, which keeps a dictionary of parallel edges for each pair of nodes.
    fn add_parallel(
        &mut self,
        ends: &[(usize, usize)],
        after: &[Bound<'py, PyDict>],
        before: &[Bound<'py, PyDict>],
    ) -> PyResult<()> {
        for (edge, &(u, v)) in ends.iter().enumerate() {
            self.checks.step(self.py)?;
            let values = self.attributes(edge)?;
            if let Some(parallel) = after[u].get_item(&self.nodes[v])? {
                let parallel = parallel.cast_into::<PyDict>()?;
                parallel.set_item(parallel.len(), values)?;
                continue;
            }
            let parallel = PyDict::new(self.py);
            parallel.set_item(0, values)?;
            after[u].set_item(&self.nodes[v], &parallel)?;
            before[v].set_item(&self.nodes[u], &parallel)?;
        }
        Ok(())
    }
}
