//! The row of each node of a graph of NetworkX.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString};

use crate::input::entries::Entries;
use crate::interrupts::InterruptChecks;

/// Marks a place of a table without a row.
const NO_ROW: u32 = u32::MAX;

/// The row of each node. A table answers for the usual nodes with fewer cache misses than the dictionary.
pub(crate) struct RowOf<'a, 'py> {
    nodes: &'a Bound<'py, PyDict>,
    table: NodeTable<'py>,
}

enum NodeTable<'py> {
    None,
    /// If all nodes are integers without wide gaps: the least of them, and the row of each from it on.
    Integers(i64, Vec<u32>),
    Texts(TextTable<'py>),
}

/// A hash table of texts, at most half full. A slot holds the upper half of the hash and the row.
struct TextTable<'py> {
    slots: Vec<(u32, u32)>,
    texts: Vec<Bound<'py, PyString>>,
}

impl<'a, 'py> RowOf<'a, 'py> {
    /// Nodes and their rows, which are 0, 1 and so on.
    pub(crate) fn new(nodes: &'a Bound<'py, PyDict>, checks: &mut InterruptChecks) -> PyResult<Self> {
        if u32::try_from(nodes.len()).is_err() {
            return Ok(Self { nodes, table: NodeTable::None });
        }
        let first = Entries::of(nodes).next(false)?;
        let table = match first {
            Some((node, _)) if node.is_exact_instance_of::<PyInt>() => integers(nodes, checks)?,
            Some((node, _)) if node.is_exact_instance_of::<PyString>() => texts(nodes, checks)?,
            _ => NodeTable::None,
        };
        Ok(Self { nodes, table })
    }

    /// Appends the row of the node of each element of a batch.
    ///
    /// # Errors
    /// `KeyError` if one is no node; what its comparison raises.
    pub(crate) fn get_all<T>(
        &self,
        batch: &[T],
        node: impl Fn(&T) -> &Bound<'py, PyAny>,
        found: &mut Vec<usize>,
    ) -> PyResult<()> {
        let NodeTable::Integers(least, rows) = &self.table else {
            return batch.iter().try_for_each(|one| {
                found.push(self.get(node(one))?);
                Ok(())
            });
        };
        // Apart from each other, so that the waits for the table overlap.
        let indices: Vec<Option<usize>> = batch.iter().map(|one| index_from(*least, node(one))).collect();
        for (one, index) in batch.iter().zip(indices) {
            match index.and_then(|index| rows.get(index)).filter(|row| **row != NO_ROW) {
                Some(row) => found.push(*row as usize),
                None => found.push(self.get(node(one))?),
            }
        }
        Ok(())
    }

    /// The row of a node.
    ///
    /// # Errors
    /// `KeyError` if it is no node; what its comparison raises.
    fn get(&self, node: &Bound<'py, PyAny>) -> PyResult<usize> {
        let found = match &self.table {
            NodeTable::None => None,
            NodeTable::Integers(least, rows) => {
                let row = index_from(*least, node).and_then(|index| rows.get(index));
                row.copied().filter(|row| *row != NO_ROW)
            }
            NodeTable::Texts(table) => table.get(node)?,
        };
        match found {
            Some(row) => Ok(row as usize),
            None => match self.nodes.get_item(node)? {
                Some(row) => row.extract(),
                None => Err(PyKeyError::new_err((node.clone().unbind(),))),
            },
        }
    }
}

/// By how much a node that is an integer exceeds another.
fn index_from(least: i64, node: &Bound<'_, PyAny>) -> Option<usize> {
    integer(node)?.checked_sub(least).and_then(|index| usize::try_from(index).ok())
}

pub(crate) fn integer(object: &Bound<'_, PyAny>) -> Option<i64> {
    if object.is_exact_instance_of::<PyInt>() { object.extract().ok() } else { None }
}

/// The table of nodes that are integers; none if others are among them, or gaps are wide.
fn integers<'py>(nodes: &Bound<'py, PyDict>, checks: &mut InterruptChecks) -> PyResult<NodeTable<'py>> {
    let mut integers = Vec::with_capacity(nodes.len());
    let mut entries = Entries::of(nodes);
    while let Some((node, _)) = entries.next(false)? {
        let Some(value) = integer(&node) else { return Ok(NodeTable::None) };
        integers.push(value);
        checks.step(nodes.py())?;
    }
    let least = integers.iter().copied().min().unwrap_or(0);
    let span = integers.iter().map(|value| value.abs_diff(least)).max().unwrap_or(0);
    if span > 8 * integers.len() as u64 {
        return Ok(NodeTable::None);
    }
    let mut rows = vec![NO_ROW; span as usize + 1];
    for (row, value) in (0..).zip(&integers) {
        rows[value.abs_diff(least) as usize] = row;
    }
    Ok(NodeTable::Integers(least, rows))
}

/// The table of nodes that are texts; none if others are among them.
fn texts<'py>(nodes: &Bound<'py, PyDict>, checks: &mut InterruptChecks) -> PyResult<NodeTable<'py>> {
    let len = (2 * nodes.len()).next_power_of_two();
    let mut table = TextTable { slots: vec![(0, NO_ROW); len], texts: Vec::with_capacity(nodes.len()) };
    let mut entries = Entries::of(nodes);
    while let Some((node, _)) = entries.next(false)? {
        let Ok(text) = node.cast_into_exact::<PyString>() else { return Ok(NodeTable::None) };
        let hash = text.hash()? as u64;
        let mut at = hash as usize & (len - 1);
        while table.slots[at].1 != NO_ROW {
            at = (at + 1) & (len - 1);
        }
        table.slots[at] = ((hash >> 32) as u32, table.texts.len() as u32);
        table.texts.push(text);
        checks.step(nodes.py())?;
    }
    Ok(NodeTable::Texts(table))
}

impl TextTable<'_> {
    fn get(&self, node: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
        if !node.is_exact_instance_of::<PyString>() {
            return Ok(None);
        }
        let hash = node.hash()? as u64;
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let (tag, row) = self.slots[at];
            if row == NO_ROW {
                return Ok(None);
            }
            if tag == (hash >> 32) as u32 {
                let text = &self.texts[row as usize];
                if node.is(text) || node.eq(text)? {
                    return Ok(Some(row));
                }
            }
            at = (at + 1) & mask;
        }
    }
}
