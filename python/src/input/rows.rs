//! Edges and properties given as one Python object each: tuples and dictionaries.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::failure::PyOutcome;
use crate::input::column::InputColumn;
use crate::input::entries::Entries;
use crate::input::objects::{Usual, as_list};
use crate::interrupts::InterruptChecks;

/// The columns of tuples, while they are read.
#[derive(Default)]
struct TupleColumns {
    columns: Vec<Usual>,
    len: usize,
}

impl TupleColumns {
    /// Appends a tuple. Returns `false` unless it has as many elements as the others, two or three, and each
    /// is of the type of its column.
    fn push(&mut self, row: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(row) = row.cast_exact::<PyTuple>() else { return Ok(false) };
        if self.len == 0 && matches!(row.len(), 2 | 3) {
            self.columns = (0..row.len()).map(|_| Usual::Empty).collect();
        }
        if row.len() != self.columns.len() {
            return Ok(false);
        }
        for (index, column) in self.columns.iter_mut().enumerate() {
            if !column.push(&row.get_item(index)?) {
                return Ok(false);
            }
        }
        self.len += 1;
        Ok(true)
    }

    /// The tuples again.
    fn rows<'py>(self, py: Python<'py>, checks: &mut InterruptChecks) -> PyResult<Bound<'py, PyList>> {
        let (rows, len) = (PyList::empty(py), self.len);
        let columns: PyResult<Vec<_>> =
            self.columns.into_iter().map(|column| column.into_objects(py, len)).collect();
        let columns = columns?;
        for at in 0..len {
            rows.append(PyTuple::new(py, columns.iter().map(|column| &column[at]))?)?;
            checks.step(py)?;
        }
        Ok(rows)
    }

    fn finish(self) -> PyOutcome<Option<Vec<InputColumn>>> {
        let named = ["source", "target", "weight"].into_iter().zip(self.columns);
        let column = |(what, usual): (&str, Usual)| InputColumn::of(what.to_owned(), vec![usual.finish()]);
        named
            .map(column)
            .collect::<PyOutcome<Vec<InputColumn>>>()
            .map(|all| Some(all).filter(|all| !all.is_empty()))
    }
}

/// The columns of tuples: sources, targets, and weights if there are three; `None` unless all tuples have the
/// same length, and each column holds only integers, only floats or only strings.
#[pyfunction]
pub(crate) fn columns_of_tuples(tuples: &Bound<'_, PyList>) -> PyOutcome<Option<Vec<InputColumn>>> {
    let (mut columns, mut checks) = (TupleColumns::default(), InterruptChecks::new());
    for at in 0..tuples.len() {
        checks.step(tuples.py())?;
        if !columns.push(&tuples.get_item(at)?)? {
            return Ok(None);
        }
    }
    columns.finish()
}

/// The columns of the tuples of an iterable, as [`columns_of_tuples`], and the rows if there are no columns.
/// Of an iterator no list is made: it can be endless, and freeing its tuples would delay Ctrl-C.
#[pyfunction]
pub(crate) fn read_tuples<'py>(
    iterable: &Bound<'py, PyAny>,
) -> PyOutcome<(Option<Vec<InputColumn>>, Bound<'py, PyList>)> {
    if let Some(rows) = as_list(iterable) {
        return Ok((columns_of_tuples(&rows)?, rows));
    }
    let py = iterable.py();
    let (mut columns, mut checks, mut items) =
        (TupleColumns::default(), InterruptChecks::new(), iterable.try_iter()?);
    while let Some(item) = items.next() {
        let item = item?;
        checks.step(py)?;
        if !columns.push(&item)? {
            let rows = columns.rows(py, &mut checks)?;
            rows.append(item)?;
            for item in items {
                rows.append(item?)?;
                checks.step(py)?;
            }
            return Ok((None, rows));
        }
    }
    Ok((columns.finish()?, PyList::empty(py)))
}

/// The keys of dictionaries in the order in which they first occur, as the keys of one dictionary; `None` if
/// an element is no dictionary.
#[pyfunction]
pub(crate) fn keys_of_dictionaries<'py>(rows: &Bound<'py, PyList>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let (py, mut checks) = (rows.py(), InterruptChecks::new());
    let keys = PyDict::new(py);
    for at in 0..rows.len() {
        checks.step(py)?;
        let row = rows.get_item(at)?;
        let Ok(row) = row.cast_exact::<PyDict>() else { return Ok(None) };
        let mut entries = Entries::of(row);
        while let Some((key, _)) = entries.next(false)? {
            if !keys.contains(&key)? {
                keys.set_item(key, py.None())?;
            }
        }
    }
    Ok(Some(keys))
}
