//! Edges and properties given as one Python object each: tuples and dictionaries.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::column::Column;
use crate::entries::Entries;
use crate::failure::Outcome;
use crate::objects::Usual;
use crate::turns::Turns;

/// The columns of tuples: sources, targets, and weights if there are three; `None` unless all tuples have the same length, and each column
/// holds only integers, only floats or only strings.
#[pyfunction]
pub(crate) fn columns_of_tuples(tuples: &Bound<'_, PyList>) -> Outcome<Option<Vec<Column>>> {
    let (py, mut turns) = (tuples.py(), Turns::new());
    let mut columns: Vec<Usual> = Vec::new();
    for at in 0..tuples.len() {
        turns.step(py)?;
        let row = tuples.get_item(at)?;
        let Ok(row) = row.cast_exact::<PyTuple>() else { return Ok(None) };
        if at == 0 && matches!(row.len(), 2 | 3) {
            columns.extend((0..row.len()).map(|_| Usual::Empty));
        }
        if row.len() != columns.len() {
            return Ok(None);
        }
        for (index, column) in columns.iter_mut().enumerate() {
            if !column.push(&row.get_item(index)?) {
                return Ok(None);
            }
        }
    }
    let named = ["source", "target", "weight"].into_iter().zip(columns);
    let column = |(what, usual): (&str, Usual)| Column::of(what.to_owned(), vec![usual.finish()]);
    named.map(column).collect::<Outcome<Vec<Column>>>().map(|all| Some(all).filter(|all| !all.is_empty()))
}

/// The keys of dictionaries in the order in which they first occur, as the keys of one dictionary; `None` if an element is no dictionary.
#[pyfunction]
pub(crate) fn keys_of_dictionaries<'py>(rows: &Bound<'py, PyList>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let (py, mut turns) = (rows.py(), Turns::new());
    let keys = PyDict::new(py);
    for at in 0..rows.len() {
        turns.step(py)?;
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
